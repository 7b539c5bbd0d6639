#!/usr/bin/env python3
"""slowhttptest: heads, bodies and readers that are slow, and heads with thousands of ranges. Meanwhile the server answers each request
of a probe, and it ends all slow connections by its limits, before their clients give up.

HOCKET_HTTP_CLIENTS: how many slow clients at a time.
"""
import os
import subprocess

from harness import expect, main, require, serving

CLIENTS = int(os.environ.get("HOCKET_HTTP_CLIENTS", "200"))
LIMIT = 2      # seconds that the server waits for a slow peer
PATIENCE = 90  # seconds that the clients stay

MODES = {
    "slow heads": ["-H", "-i", "10", "-t", "GET", "-u", "/plain"],
    "slow bodies": ["-B", "-i", "10", "-s", "8192", "-x", "10", "-u", "/upload"],
    "slow readers": ["-X", "-w", "10", "-y", "20", "-n", "5", "-z", "32", "-k", "1", "-u", "/pattern?bytes=100000000"],
}
RANGES = ["-R", "-a", "10", "-b", "3000", "-t", "HEAD", "-u", "/files/large.bin"]


def start(server, options):
    path = options[-1]
    command = [require("slowhttptest"), *options[:-1], server.url + path, "-c", str(CLIENTS), "-r", str(CLIENTS), "-l", str(PATIENCE), "-p", "10"]
    with open(server.folder / "log", "wb") as log:
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)


def gave_up(attack, server):
    """Whether the clients ended while they had connections."""
    return attack.poll() is not None and "No open connections left" not in (server.folder / "log").read_text(errors="replace")


def check(server, name, options):
    """Probes until the server has accepted all slow clients, and ended them. A request of this test is a connection, too."""
    accepted = server.metric("hocket_server_accepted_total")
    own = answered = 0
    attack = start(server, options)
    try:
        while True:
            expect(server.get("/task")[1], b"task\n", f"{name}: probe")
            arrived = server.metric("hocket_server_accepted_total") - accepted - own
            present = server.metric("hocket_server_connections")
            own += 3
            answered += 1
            if arrived >= CLIENTS and present == 1:
                break
            if gave_up(attack, server):
                raise AssertionError(f"{name}: the clients gave up, and the server has {present} connections")
    finally:
        attack.kill()
        attack.wait()
    print(f"{name}: {CLIENTS} clients ended, {answered} probes answered")


def test(program):
    require("slowhttptest")
    with serving(program, "--seconds", LIMIT) as server:
        for name, options in MODES.items():
            check(server, name, options)
        attack = start(server, RANGES)
        while attack.poll() is None:
            expect(server.get("/files/large.bin", Range="bytes=0-9")[0], 206, "ranges: probe")
        print(server.end())


main(test)
