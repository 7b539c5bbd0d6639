#!/usr/bin/env python3
"""Many kinds of clients at a time, with random pauses, cancels and half closes. After each round, when all clients have left, the server
has its memory, descriptors and coroutines of the beginning; each body that was sent or received is compared by CRC-32. At the end the
server ends by SIGTERM while all clients are at work.

HOCKET_SOAK_SECONDS: how long (default 6). A round is a minute, or a third of the time. HOCKET_SOAK_SEED repeats the choices of a run.
"""
import asyncio
import collections
import os
import random
import time

from harness import expect, main, send_sigterm, serving
from soak_clients import Client, KINDS_OF_CLIENTS

SECONDS = float(os.environ.get("HOCKET_SOAK_SECONDS", "6"))
SEED = int(os.environ.get("HOCKET_SOAK_SEED") or random.SystemRandom().randrange(2**32))
CLIENTS = 40           # at a time
GROWTH = int(os.environ.get("HOCKET_SOAK_GROWTH", 12 * 2**20))   # bytes of memory beyond the first round


async def run_clients(port, number, deadline, counts, may_end=False):
    """One client after the other. `may_end`: the server may end the connections, and refuses new ones then."""
    choices = random.Random(f"{SEED} {number}")
    while time.monotonic() < deadline:
        kind = choices.choice(KINDS_OF_CLIENTS)
        client = Client(port, choices)
        try:
            await asyncio.wait_for(client.run(kind), 60)
        except Exception as fault:
            if may_end and isinstance(fault, ConnectionError | EOFError):
                return
            raise AssertionError(f"{kind}: {fault!r}") from fault
        counts[kind] += 1
        counts["bytes"] += client.moved


async def run_round(port, first, seconds, counts, end=None):
    """`end` ends the server, after the clients have begun."""
    deadline = time.monotonic() + seconds
    callers = [asyncio.create_task(run_clients(port, first + number, deadline, counts, end is not None)) for number in range(CLIENTS)]
    try:
        if end:
            begun = 5 * CLIENTS
            while counts.total() - counts["bytes"] < begun and not any(caller.done() for caller in callers):
                await asyncio.sleep(0)
            end()
        await asyncio.gather(*callers)
    finally:
        for caller in callers:
            caller.cancel()
        await asyncio.gather(*callers, return_exceptions=True)


def figures(server):
    return {"connections": server.metric("hocket_server_connections"), "coroutines": server.metric("hocket_runtime_coroutines"),
            "descriptors": server.descriptors()}


def least_figures(server):
    """The least of 50 readings: a reading may include connections that have just ended."""
    least = min((figures(server) for _ in range(50)), key=lambda look: (look["coroutines"], look["descriptors"]))
    return {**least, "connections": 1}


def expect_figures(server, expected, context):
    """Asks again for a minute: the server notices the end of a connection a little later, and a lingering one ends by its limits. The
    connection of a question is counted."""
    end = time.monotonic() + 60
    while (present := figures(server)) != expected and time.monotonic() < end:
        pass
    expect(present, expected, context)


def test(program):
    print(f"seed {SEED}", flush=True)
    rounds = max(3, round(SECONDS / 60))
    counts = collections.Counter()
    with serving(program) as server:
        for path in ("/plain", "/task", "/fiber", "/files/large.bin"):
            server.get(path)
        begin = least_figures(server)
        for number in range(rounds):
            asyncio.run(run_round(server.port, number * CLIENTS, SECONDS / rounds, counts))
            expect_figures(server, begin, f"after round {number}")
            memory = server.memory()
            if number == 0:
                warm = memory
            print(f"round {number}: {sum(counts.values()) - counts['bytes']} clients, {counts['bytes']} bytes compared, {memory >> 10} KB", flush=True)
            expect(memory <= warm + GROWTH, True, f"memory: {memory} bytes, after the first round {warm}")
        expect(server.metric("hocket_server_failed_total"), 0, "failed connections")
        print({kind: counts[kind] for kind in KINDS_OF_CLIENTS})
        asyncio.run(run_round(server.port, rounds * CLIENTS, 60, collections.Counter(), lambda: send_sigterm(server.pid)))
        print(server.report())


main(test)
