"""The lab's driver, behind lab/run.py. Only the Python standard library."""
