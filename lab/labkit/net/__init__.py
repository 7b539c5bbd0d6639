"""The page `net`: servers in programs of their own, loads beside them, and what is read of a server from outside.

server.py   starts a server, and ends it
clients.py  the lab's own load, harness/net/load.cpp
counters.py system calls and instructions of a server (perf, or strace)
wrk.py      the load of document 000, and what perf tells of the server meanwhile
measures.py one run of a job: which of these it takes, and what they give
"""
from .measures import LOAD, call, remarks  # noqa: F401 (the door)
from .server import Failed  # noqa: F401
