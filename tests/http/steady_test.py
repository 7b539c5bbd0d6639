#!/usr/bin/env python3
"""Slow but steady clients: each moves 10 to 200 times the least rate (limits::min_rate), downwards or upwards, for twelve times the
server's patience. The server ends none of them, whatever the system's buffers hide from it."""
import asyncio
import time

from harness import expect, main, serving
from wire import Connection

PATIENCE = 4    # seconds of the server
SECONDS = 48    # of each client
DOWNLOADS = {
    "a stream": b"GET /pattern?bytes=100000000 HTTP/1.1\r\nHost: a\r\n\r\n",
    "texts": b"GET /megabyte HTTP/1.1\r\nHost: a\r\n\r\n" * 20,
    "files": b"GET /files/large.bin HTTP/1.1\r\nHost: a\r\n\r\n" * 20,
}
RATES = [10_000, 50_000, 200_000]   # bytes a second


async def hold_rate(begin, moved, rate):
    await asyncio.sleep(max(0.0, begin + moved / rate - time.monotonic()))


async def download(port, name, request, rate):
    connection = await Connection.open(port, 32 * 1024)
    await connection.send(request)
    await read_steadily(connection, name, rate)


async def read_steadily(connection, name, rate):
    begin, moved = time.monotonic(), 0
    while moved < SECONDS * rate:
        data = await connection.reader.read(rate // 20)
        expect(bool(data), True, f"{name} at {rate} B/s: the end after {moved} bytes")
        moved += len(data)
        await hold_rate(begin, moved, rate)
    connection.reset()


async def answered_but_unread(server, count):
    """Connections whose first answer is in the system's buffers, and unread. No other request is under way."""
    first = server.metric("hocket_http_answers_total")
    connections = [await Connection.open(server.port, 32 * 1024) for _ in range(count)]
    for connection in connections:
        await connection.send(b"GET /megabyte HTTP/1.1\r\nHost: a\r\n\r\n")
    looks = 1   # each is an answer, too
    while server.metric("hocket_http_answers_total") - first - looks < count:
        looks += 1
    return connections


async def download_behind(connection, rate):
    await connection.send(b"GET /pattern?bytes=100000000 HTTP/1.1\r\nHost: a\r\n\r\n")
    await read_steadily(connection, "an answer behind another", rate)


async def upload(port, rate):
    connection = await Connection.open(port)
    size = SECONDS * rate
    await connection.send(f"POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: {size}\r\n\r\n".encode())
    begin = time.monotonic()
    for moved in range(0, size, rate // 20):
        await connection.send(bytes(rate // 20))
        await hold_rate(begin, moved, rate)
    expect((await connection.read_answer()).status, 200, f"an upload at {rate} B/s")
    connection.close()


async def run_all(server):
    port = server.port
    answered = await answered_but_unread(server, len(RATES))
    downloads = [download(port, name, request, rate) for name, request in DOWNLOADS.items() for rate in RATES]
    downloads += [download_behind(connection, rate) for connection, rate in zip(answered, RATES)]
    await asyncio.gather(*downloads, *(upload(port, rate) for rate in RATES))


def test(program):
    with serving(program, "--seconds", PATIENCE) as server:
        asyncio.run(run_all(server))
        print(server.end())


main(test)
