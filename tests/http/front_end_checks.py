"""What each front end is tested with."""
import http.client
import json
import socket

from harness import MEGABYTE, ask, crc, expect, pattern

CLIENT = "127.0.0.9"   # the front ends call the server from 127.0.0.1


def client_of(port, **fields):
    """The client and the scheme that the server sees behind the front end."""
    status, body, _ = ask(port, "/client", client=CLIENT, **fields)
    expect(status, 200, "status of /client")
    answer = json.loads(body)
    return answer["client"].partition(":")[0], answer["scheme"]


def check_requests(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    for path in ["/plain", "/task", "/fiber"] * 100:
        connection.request("GET", path)
        answer = connection.getresponse()
        expect((answer.status, answer.read()), (200, path[1:].encode() + b"\n"), path)
    connection.close()
    expect(ask(port, "/megabyte")[1], MEGABYTE, "megabyte")
    expect(ask(port, "/lines?count=1000")[1].count(b"\n"), 1000, "lines")
    expect(crc(ask(port, "/pattern?bytes=5000000")[1]), crc(pattern(5_000_000)), "stream")
    expect(ask(port, "/missing")[0], 404)
    expect(ask(port, "/plain", "DELETE")[0], 405)
    status, body, fields = ask(port, "/megabyte", "HEAD")
    expect((status, body, fields["Content-Length"]), (200, b"", "1048576"), "HEAD")


def check_ranges(port):
    status, body, fields = ask(port, "/files/large.bin", Range="bytes=1000-1999")
    expect((status, body, fields["Content-Range"]), (206, MEGABYTE[1000:2000], "bytes 1000-1999/1048576"), "range")
    expect(ask(port, "/files/large.bin", Range="bytes=1048576-")[0], 416)
    etag = ask(port, "/files/index.html")[2]["ETag"]
    expect(ask(port, "/files/index.html", If_None_Match=etag)[0], 304)


def check_uploads(port, path="/upload"):
    body = pattern(3_000_000)
    expected = {"bytes": len(body), "crc": crc(body)}
    expect(json.loads(ask(port, path, "POST", body)[1]), expected, "upload")
    chunks = (body[begin:begin + 7000] for begin in range(0, len(body), 7000))
    expect(json.loads(ask(port, path, "POST", chunks)[1]), expected, "upload in chunks")
    expect(ask(port, "/echo", "POST", MEGABYTE)[1], MEGABYTE, "echo")
    # The server drops up to 256 KB of a body that it has refused. Beyond that it resets the connection, and a front end that still
    # sends may answer 502.
    expect(ask(port, "/short", "POST", pattern(100_000))[0], 413, "beyond the limit of a body")


def check_events(port):
    """Each event arrives when it is sent: the answer has no end."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
    connection.request("GET", "/events")
    answer = connection.getresponse()
    lines = [answer.readline() for _ in range(12)]
    expect([line for line in lines if line.startswith(b"id")], [b"id: 0\n", b"id: 1\n", b"id: 2\n"], "events")
    connection.close()


def check_upgrade(port):
    with socket.create_connection(("127.0.0.1", port), 20) as peer:
        peer.sendall(b"GET /upgrade HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
        stream = peer.makefile("rb")
        expect(stream.readline(), b"HTTP/1.1 101 Switching Protocols\r\n", "upgrade")
        while stream.readline() != b"\r\n":
            pass
        for size in (1, 1000, 100_000):
            peer.sendall(pattern(size))
            expect(stream.read(size), pattern(size), "echo")


def check_broken_bodies(port):
    for path in ("stream", "text", "short"):
        try:
            body = ask(port, f"/broken/{path}")[1]
        except http.client.IncompleteRead:
            continue
        raise AssertionError(f"a body that has failed looks complete: {body!r}")


def check_all(port):
    for check in (check_requests, check_broken_bodies, check_ranges, check_uploads, check_events, check_upgrade):
        check(port)
