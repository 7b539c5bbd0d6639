"""The page `net`: servers in programs of their own, their loads, and the measures of a server from outside.

server.py   starts a server, and ends it
clients.py  the lab's own load, harness/net/load.cpp
counters.py system calls and instructions of a server (perf, or strace)
wrk.py      the load of document 000, and the counts of perf for the server meanwhile
measures.py a run of a job: its programs and measures
"""
from .measures import LOAD, call, remarks  # noqa: F401 (the interface)
from .server import Failed  # noqa: F401
