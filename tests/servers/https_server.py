#!/usr/bin/env python3
"""An HTTPS server for tests: https_server.py <port> <certificate> <key>

GET /wait?N answers after N milliseconds, GET /bytes?N with N bytes, anything else with a line. HTTP/1.1, kept alive.
"""
import asyncio
import ssl
import sys


async def answer(target):
    path, _, number = target.partition("?")
    number = int(number or 0)
    if path == "/wait":
        await asyncio.sleep(number / 1000)
    return b"x" * number if path == "/bytes" else b"hello\n"


async def serve(reader, writer):
    try:
        while request := await reader.readuntil(b"\r\n\r\n"):
            body = await answer(request.split(b" ", 2)[1].decode())
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            await writer.drain()
    except (asyncio.IncompleteReadError, ConnectionError, ssl.SSLError):
        pass
    finally:
        writer.close()


async def main(port, certificate, key):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    server = await asyncio.start_server(serve, "127.0.0.1", port, ssl=context, backlog=1024)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    try:
        asyncio.run(main(int(sys.argv[1]), *sys.argv[2:]))
    except KeyboardInterrupt:
        pass
