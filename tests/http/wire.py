"""A client of HTTP/1.1 on asyncio that may do everything a real client should not: stop, leave, reset, send byte by byte."""
import asyncio
import contextlib
import socket
import struct
import zlib

from harness import pattern

PATTERN = pattern(251 * 1024)


class Answer:
    def __init__(self, status, fields, body, crc):
        self.status, self.fields, self.body, self.crc, self.size = status, fields, body[:65536], crc, len(body)


class Connection:
    """Its operations raise ConnectionError or EOFError if the server has ended it."""

    def __init__(self, reader, writer):
        self.reader, self.writer = reader, writer

    @classmethod
    async def open(cls, port, receive_buffer=0):
        peer = socket.socket()
        try:
            if receive_buffer:
                peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
            peer.setblocking(False)
            await asyncio.get_running_loop().sock_connect(peer, ("127.0.0.1", port))
            return cls(*await asyncio.open_connection(sock=peer, limit=2**16))
        except BaseException:
            peer.close()
            raise

    async def send(self, data):
        self.writer.write(data)
        await self.writer.drain()

    async def read_head(self):
        lines = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        fields = dict(line.lower().split(": ", 1) for line in lines[1:] if line)
        return int(lines[0].split()[1]), fields

    async def read_body(self, fields, pause=None):
        if "transfer-encoding" in fields:
            body = bytearray()
            while size := int(await self.reader.readline(), 16):
                body += await self.reader.readexactly(size)
                await self.reader.readexactly(2)
                if pause:
                    await pause()
            await self.reader.readuntil(b"\r\n")
            return bytes(body)
        return await self.reader.readexactly(int(fields.get("content-length", "0")))

    async def read_answer(self, pause=None):
        status, fields = await self.read_head()
        while status == 100:
            status, fields = await self.read_head()
        body = b"" if status in (204, 304) else await self.read_body(fields, pause)
        return Answer(status, fields, body, zlib.crc32(body))

    async def ask(self, path, method="GET", body=b"", fields="", pause=None):
        length = f"Content-Length: {len(body)}\r\n" if body or method == "POST" else ""
        await self.send(f"{method} {path} HTTP/1.1\r\nHost: a\r\n{length}{fields}\r\n".encode() + body)
        return await self.read_answer(pause)

    async def ends(self):
        """Whether nothing but the end follows."""
        return await self.reader.read(1) == b""

    def end_output(self):
        try:
            self.writer.write_eof()
        except OSError as fault:
            raise ConnectionError(*fault.args) from fault

    def close(self):
        self.writer.close()

    def reset(self):
        """The server gets a reset instead of an end."""
        with contextlib.suppress(OSError):   # the connection is closed already
            self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.writer.transport.abort()
