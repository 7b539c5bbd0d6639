#!/usr/bin/env python3
"""Heads of a gigabyte, of lines, of one line, and behind valid requests; a chunk extension and a trailer section without an end. The
server answers with an error, closes, and its memory does not grow by more than 1 MB."""
import contextlib
import pathlib
import re
import socket

from harness import expect, main, serving

BOUND = 2**20
GIGABYTE = 2**30
BLOCK = 2**20

POST = b"POST /upload HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
CASES = {
    "field lines": (b"GET /plain HTTP/1.1\r\nHost: a\r\n", b"X-Field: " + b"a" * 1013 + b"\r\n", [431]),
    "a field line": (b"GET /plain HTTP/1.1\r\nHost: a\r\nX: ", b"a", [431]),
    "a field name": (b"GET /plain HTTP/1.1\r\nHost: a\r\n", b"a", [431]),
    "a target": (b"GET /", b"a", [414]),
    "a method": (b"", b"A", [501]),
    "behind requests": (b"GET /plain HTTP/1.1\r\nHost: a\r\n\r\n" * 50 + b"GET /task HTTP/1.1\r\nHost: a\r\nX: ", b"a", [200] * 50 + [431]),
    "an extension of a chunk": (POST + b"5;", b"a", [400]),
    "a trailer": (POST + b"0\r\nX: ", b"a", [431]),
    "trailer lines": (POST + b"0\r\n", b"X-Field: " + b"a" * 1013 + b"\r\n", [431]),
    "empty lines": (b"\r\n", b"\r\n", [400]),
}


def send(port, begin, piece):
    """Sends up to a gigabyte, until the server refuses it. Returns the statuses of the answers, and how much was sent."""
    block = piece * (BLOCK // len(piece))
    sent = 0
    with socket.create_connection(("127.0.0.1", port), 30) as peer:
        with contextlib.suppress(ConnectionError):
            peer.sendall(begin)
            while sent < GIGABYTE:
                sent += peer.send(block)
        answer = b""
        with contextlib.suppress(ConnectionError):
            while data := peer.recv(65536):
                answer += data
    return [int(status) for status in re.findall(rb"^HTTP/1\.1 (\d+)", answer, re.M)], sent


def peak(server):
    return server.memory("VmHWM")


def reset_peak(server):
    """The peak becomes the present size."""
    pathlib.Path(f"/proc/{server.pid}/clear_refs").write_text("5")


def test(program):
    with serving(program) as server:
        for path in ("/plain", "/task", "/metrics"):
            server.get(path)
        for name, (begin, piece, statuses) in CASES.items():
            for _ in range(2):   # what is allocated once is there in the second round
                reset_peak(server)
                before = peak(server)
                received, sent = send(server.port, begin, piece)
                grown = peak(server) - before
                print(f"{name}: {received[-1:]} after {sent} bytes, {grown} bytes of memory")
                if received:   # a reset may take the answer from the client
                    expect(received, statuses, name)
            expect(sent < GIGABYTE, True, f"{name}: the server took a gigabyte")
            expect(grown <= BOUND, True, f"{name}: {grown} bytes")
        expect(server.get("/plain")[1], b"plain\n")
        print(server.end())


main(test)
