"""The clients of the soak: each function is one client from its connection to its end, with random sizes, pauses and ways to
leave. What a client has sent and received is compared by CRC-32."""
import asyncio
import json
import zlib

from harness import crc, expect, pattern
from wire import Connection

KINDS = ["plain", "task", "fiber"]
MALFORMED = [b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", b"GET / HTTP/1.1\r\nHost: a\r\nX: \x00\r\n\r\n", b"\x16\x03\x01\x02\x00",
             b"POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", b"GET / HTTP/3.0\r\nHost: a\r\n\r\n",
             b"POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: a\r\n\r\n"]


class Client:
    """One client of a kind. `moved` counts the bytes of bodies that were compared."""

    def __init__(self, port, random):
        self.port, self.random, self.moved = port, random, 0
        self.connection = None

    async def run(self, kind):
        small = self.random.random() < 0.3   # at times the client's system takes little at once
        self.connection = await Connection.open(self.port, 4096 if small else 0)
        try:
            await getattr(self, kind)()
        finally:
            self.leave()

    def leave(self):
        if self.random.random() < 0.3:
            self.connection.reset()
        else:
            self.connection.close()

    async def pause(self):
        if self.random.random() < 0.05:
            await asyncio.sleep(self.random.random() * 0.02)

    def size(self):
        return int(10 ** self.random.uniform(0, 6))

    def expect_upload(self, answer, body):
        expect((answer.status, json.loads(answer.body)), (200, {"bytes": len(body), "crc": crc(body)}), "upload")
        self.moved += len(body)

    async def asks_often(self):
        for _ in range(self.random.randint(1, 30)):
            kind = self.random.choice(KINDS)
            answer = await self.connection.ask("/" + kind)
            expect((answer.status, answer.body), (200, f"{kind}\n".encode()), kind)
            await self.pause()

    async def pipelines(self):
        kinds = [self.random.choice(KINDS) for _ in range(self.random.randint(2, 60))]
        await self.connection.send(b"".join(f"GET /{kind} HTTP/1.1\r\nHost: a\r\n\r\n".encode() for kind in kinds))
        ends = self.random.random() < 0.3
        if ends:
            self.connection.end_output()
        for kind in kinds:
            expect((await self.connection.read_answer()).body, f"{kind}\n".encode(), "pipelined answer")
        if ends:
            expect(await self.connection.ends(), True, "end behind the last answer")

    async def pipelines_large_answers(self):
        paths = [self.random.choice(["/megabyte", "/files/large.bin", "/pattern?bytes=300000", "/plain"]) for _ in range(self.random.randint(2, 8))]
        await self.connection.send(b"".join(f"GET {path} HTTP/1.1\r\nHost: a\r\n\r\n".encode() for path in paths))
        for path in paths:
            body = b"plain\n" if path == "/plain" else pattern(300_000 if "bytes" in path else 2**20)
            answer = await self.connection.read_answer(self.pause)
            expect((answer.size, answer.crc), (len(body), crc(body)), path)
            self.moved += answer.size

    async def asks_in_pieces(self):
        for _ in range(self.random.randint(1, 5)):
            body = pattern(self.random.randint(0, 50))
            chunks = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
            bytes_left = b"POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" + chunks
            while bytes_left:
                size = self.random.randint(1, 20)
                await self.connection.send(bytes_left[:size])
                await asyncio.sleep(0)
                bytes_left = bytes_left[size:]
            self.expect_upload(await self.connection.read_answer(), body)

    async def asks_and_is_refused(self):
        """Answers before the end of the body: the rest of up to 256 KB is dropped, and the connection goes on."""
        for path, status in (("/unread", 403), ("/missing", 404), ("/plain", 405)):
            answer = await self.connection.ask(path, "POST", pattern(min(self.size(), 200_000)))
            expect(answer.status, status, path)
            expect((await self.connection.ask("/plain")).body, b"plain\n", "the request behind it")

    async def uploads(self):
        for _ in range(self.random.randint(1, 3)):
            body = pattern(self.size())
            expects = self.random.choice(["", "Expect: 100-continue\r\n"])
            await self.connection.send(f"POST /upload HTTP/1.1\r\nHost: a\r\n{expects}Content-Length: {len(body)}\r\n\r\n".encode())
            await self.send_in_pieces(body, chunked=False)
            self.expect_upload(await self.connection.read_answer(), body)

    async def uploads_in_chunks(self):
        for _ in range(self.random.randint(1, 3)):
            body = pattern(self.size())
            await self.connection.send(b"POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
            await self.send_in_pieces(body, chunked=True)
            await self.connection.send(b"0\r\n\r\n" if self.random.random() < 0.5 else b"0\r\nX-Sum: 1\r\n\r\n")
            self.expect_upload(await self.connection.read_answer(), body)

    async def send_in_pieces(self, body, chunked):
        begin = 0
        while begin < len(body):
            piece = body[begin:begin + max(self.size(), 200)]
            begin += len(piece)
            await self.connection.send(b"%x\r\n%s\r\n" % (len(piece), piece) if chunked else piece)
            await self.pause()

    async def echoes(self):
        body = pattern(self.size())
        answer = await self.connection.ask("/echo", "POST", body)
        expect((answer.status, answer.size, answer.crc), (200, len(body), crc(body)), "echo")
        self.moved += 2 * len(body)

    async def downloads(self):
        for _ in range(self.random.randint(1, 3)):
            size = self.size()
            answer = await self.connection.ask(f"/pattern?bytes={size}", pause=self.pause)
            expect((answer.size, answer.crc), (size, crc(pattern(size))), "download")
            self.moved += size

    async def reads_ranges(self):
        for _ in range(self.random.randint(1, 5)):
            begin = self.random.randint(0, 2**20 - 1)
            end = self.random.randint(begin, 2**20 - 1)
            answer = await self.connection.ask("/files/large.bin", fields=f"Range: bytes={begin}-{end}\r\n")
            expect((answer.status, answer.crc), (206, zlib.crc32(pattern(2**20)[begin:end + 1])), "range")
            self.moved += end + 1 - begin

    async def leaves_a_download(self):
        await self.connection.send(b"GET /pattern?bytes=50000000 HTTP/1.1\r\nHost: a\r\n\r\n")
        await self.connection.read_head()
        await self.connection.reader.read(self.size())
        await self.pause()

    async def leaves_an_upload(self):
        await self.connection.send(b"POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: 50000000\r\n\r\n" + pattern(self.size()))
        await self.pause()

    async def leaves_a_head(self):
        await self.connection.send(b"GET /plain HTTP/1.1\r\nHost: a\r\nX: y\r\n"[:self.random.randint(0, 36)])
        await self.pause()

    async def leaves_a_handler(self):
        await self.connection.send(f"GET /{self.random.choice(KINDS)} HTTP/1.1\r\nHost: a\r\n\r\n".encode())

    async def closes_half(self):
        body = pattern(self.size())
        await self.connection.send(f"POST /upload HTTP/1.1\r\nHost: a\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
        self.connection.end_output()
        self.expect_upload(await self.connection.read_answer(), body)
        expect(await self.connection.ends(), True, "end behind the last answer")

    async def listens(self):
        await self.connection.send(b"GET /events HTTP/1.1\r\nHost: a\r\n\r\n")
        await self.connection.read_head()
        for _ in range(self.random.randint(1, 30)):
            await self.connection.reader.readline()

    async def sends_nonsense(self):
        for _ in range(self.random.randint(0, 3)):
            await self.connection.ask("/plain")
        await self.connection.send(self.random.choice(MALFORMED))
        if self.random.random() < 0.2:
            self.connection.end_output()
        while True:
            status, fields = await self.connection.read_head()
            expect(status >= 400, True, f"status {status} of a malformed request")
            await self.connection.read_body(fields)
            if fields.get("connection") == "close":
                break
        expect(await self.connection.ends(), True, "end behind a malformed request")

    async def upgrades(self):
        await self.connection.send(b"GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nfirst")
        expect((await self.connection.read_head())[0], 101, "upgrade")
        expect(await self.connection.reader.readexactly(5), b"first", "bytes behind the head")
        for _ in range(self.random.randint(1, 10)):
            data = pattern(self.random.randint(1, 10_000))
            await self.connection.send(data)
            expect(crc(await self.connection.reader.readexactly(len(data))), crc(data), "echo of an upgraded connection")
            self.moved += 2 * len(data)


HELPERS = {"run", "leave", "pause", "size", "expect_upload", "send_in_pieces"}
KINDS_OF_CLIENTS = [name for name in vars(Client) if not name.startswith("_") and name not in HELPERS]
