#!/usr/bin/env python3
"""Compares a running server (tests/http) with the verdicts of its parser: each request of the tables, and mutations of them, are sent
between two valid requests on a connection of its own, in one piece and in two.

  live.py <program verdicts> <program http_peers> [--mutations N]

A request that the parser refuses gets this status behind the answer to the request before it, then the connection ends, and the request
behind it is not answered. A request that the parser accepts gets another answer. Each request is answered once.
"""
import argparse
import pathlib
import random
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "http"))

from compare import judge, mutate  # noqa: E402 (the path comes first)
from harness import exchange, final_statuses, serving  # noqa: E402

BEFORE = b"GET /task HTTP/1.1\r\nHost: a\r\n\r\n"
BEHIND = b"GET /plain HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
BY_PARSER = {400, 414, 417, 431, 505}   # 501 is also an answer of the router
# Bodies, whole and streamed, to be changed.
HEAD = b"POST %s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
BODIES = [b"0\r\n\r\n", b"5\r\n12345\r\n0\r\n\r\n", b"1\r\na\r\n1\r\nb\r\n0\r\n\r\n", b"A\r\n0123456789\r\n000\r\n\r\n", b"3;a=b\r\nabc\r\n0\r\n\r\n",
          b'3 ; a="b;c" ;d\r\nabc\r\n0;e\r\n\r\n', b"3\r\nabc\r\n0\r\nX: y\r\n\r\n", b"0\r\nX: y\r\nZ:\r\n\r\n", b"2\r\n\r\n\r\n0\r\n\r\n"]
CHUNKED = [HEAD % path + body for path in (b"/echo", b"/upload") for body in BODIES]


def agrees(verdict, statuses):
    if statuses[:1] != [200]:
        return False
    if verdict.status >= 400:
        # A body that is not read is refused behind the answer, by the end of the connection.
        return statuses[1:] == [verdict.status] or (b"chunked" in verdict.request.lower() and statuses[1:] in ([404], [405], [501]))
    if verdict.request.lstrip(b"\r\n").startswith(b"CONNECT "):   # its answer closes the connection
        return len(statuses) == 2 and statuses[1] not in BY_PARSER
    goes_on = b"HTTP/1.0\r\n" not in verdict.request and not re.search(rb"(?i)connection|expect", verdict.request)
    return len(statuses) > 1 and statuses[1] not in BY_PARSER and statuses[2:] in ([[200]] if goes_on else [[], [200]])


def disagreements(port, verdicts):
    generator = random.Random(1)
    for verdict in verdicts:
        if verdict.status == 0:   # incomplete: what follows would be a part of it
            continue
        request = verdict.request[:verdict.size] if verdict.status == 200 else verdict.request
        whole = BEFORE + request + BEHIND
        at = generator.randrange(len(whole))
        for pieces in ([whole], [whole[:at], whole[at:]]):
            statuses = final_statuses(exchange(port, pieces))
            if not agrees(verdict, statuses):
                yield verdict, statuses


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("verdicts")
    arguments.add_argument("server")
    arguments.add_argument("--mutations", type=int, default=2000)
    options = arguments.parse_args()
    table = list(judge(options.verdicts))
    changed = [*mutate([row.request for row in table], options.mutations), *CHUNKED, *mutate(CHUNKED, options.mutations)]
    verdicts = table + list(judge(options.verdicts, changed))
    with serving(options.server) as server:
        found = list(disagreements(server.port, verdicts))
        server.end()
    for verdict, statuses in found[:40]:
        print(f"the server answers {statuses}, the parser {verdict.status} {verdict.section}: {verdict.request!r}")
    print(f"{len(verdicts)} requests, {len(found)} disagreements")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
