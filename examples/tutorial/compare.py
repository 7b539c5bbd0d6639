#!/usr/bin/env python3
"""compare.py <expected> [launcher...] <program>: a program of the tutorial ends without an error, and prints what its chapter shows.

Beside hello.txt, a file hello.dump has lines that standard error holds. Addresses, folders and the number of spaces may differ.
"""
import difflib
import pathlib
import re
import subprocess
import sys


def simplified(text):
    """The lines of a dump without what differs from run to run."""
    text = re.sub(r"0x[0-9a-f]+", "0x", text)
    return [" ".join(re.sub(r"\S*/", "", line).split()) for line in text.splitlines()]


def absent_lines(dump, output):
    present = simplified(output)
    return [line for line in simplified(dump.read_text()) if line not in present] if dump.exists() else []


def main(expected, *command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    expected = pathlib.Path(expected)
    difference = [*difflib.unified_diff(expected.read_text().splitlines(), done.stdout.splitlines(), lineterm=""),
                  *absent_lines(expected.with_suffix(".dump"), done.stderr)]
    if done.returncode != 0 or difference:
        sys.exit("\n".join([f"exit code {done.returncode}", *difference, done.stderr]))


main(*sys.argv[1:])
