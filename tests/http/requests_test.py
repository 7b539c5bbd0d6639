#!/usr/bin/env python3
"""Python's requests: a session, uploads by a generator, streamed downloads, 20 threads, early answers."""
import concurrent.futures
import sys

from harness import MEGABYTE, crc, expect, main, pattern, serving, skip

if "/usr/lib/python3/dist-packages" not in sys.path:
    sys.path.append("/usr/lib/python3/dist-packages")
try:
    import requests
except ImportError:
    requests = None


def pieces(body, size):
    for begin in range(0, len(body), size):
        yield body[begin:begin + size]


def check_session(session, server):
    for path in ("/plain", "/task", "/fiber"):
        for _ in range(50):
            answer = session.get(server.url + path)
            expect((answer.status_code, answer.text), (200, path[1:] + "\n"), path)
    expect(session.get(server.url + "/megabyte").content, MEGABYTE, "megabyte")
    expect(session.get(server.url + "/items/1").json(), {"id": 1, "text": "first"})
    expect(session.head(server.url + "/megabyte").headers["Content-Length"], "1048576")
    expect(session.options(server.url + "/plain").headers["Allow"], "GET, HEAD, OPTIONS")
    expect(session.delete(server.url + "/plain").status_code, 405)


def check_uploads(session, server):
    body = pattern(3_000_000)
    expected = {"bytes": len(body), "crc": crc(body)}
    for size in (100, 5_000, 65536, 1_000_000):
        answer = session.post(server.url + "/upload", data=pieces(body if size > 100 else body[:50_000], size))
        expect(answer.json()["bytes"], len(body) if size > 100 else 50_000, f"chunks of {size}")
    expect(session.post(server.url + "/upload", data=body).json(), expected)
    expect(session.post(server.url + "/echo", data=MEGABYTE).content, MEGABYTE, "echo of the largest body")
    expect(session.post(server.url + "/upload", data=pieces(b"", 1)).json(), {"bytes": 0, "crc": 0})


def check_early_answers(session, server):
    """The body is not read: up to 256 KB the connection goes on, beyond that it closes behind the answer."""
    for size in (1000, 200_000):
        expect(session.post(server.url + "/unread", data=pattern(size)).status_code, 403)
    expect(session.get(server.url + "/plain").text, "plain\n", "behind an early answer")


def check_streams(session, server):
    with session.get(server.url + "/pattern?bytes=20000000", stream=True) as answer:
        received = b"".join(answer.iter_content(10_000))
    expect(crc(received), crc(pattern(20_000_000)), "stream")
    with session.get(server.url + "/events?count=20", stream=True) as answer:
        data = [line[6:] for line in answer.iter_lines(1) if line.startswith(b"data: ")]
    expect(data, [str(i).encode() for i in range(20)] + [b"no more events"], "events")
    for _ in range(20):   # the client leaves
        with session.get(server.url + "/pattern?bytes=20000000", stream=True) as answer:
            next(answer.iter_content(1000))


def many(server, number):
    with requests.Session() as session:
        for i in range(20):
            body = pattern(1000 * number + i)
            expect(session.post(server.url + "/upload", data=pieces(body, 700)).json(), {"bytes": len(body), "crc": crc(body)})
            expect(session.get(server.url + "/task").text, "task\n")


def test(program):
    if requests is None:
        skip("python3-requests is not installed")
    with serving(program) as server:
        with requests.Session() as session:
            session.trust_env = False
            for check in (check_session, check_uploads, check_early_answers, check_streams):
                check(session, server)
        with concurrent.futures.ThreadPoolExecutor(20) as pool:
            list(pool.map(lambda number: many(server, number), range(20)))
        print(server.end())


main(test)
