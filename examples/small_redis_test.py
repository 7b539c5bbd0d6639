#!/usr/bin/env python3
"""Drives example_small_redis as a client of Redis does."""
import pathlib
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "servers"))
from ports import free_port  # noqa: E402 (the path comes first)


def connect(port):
    for _ in range(1000):
        try:
            return socket.create_connection(("127.0.0.1", port), timeout=20)
        except ConnectionRefusedError:
            time.sleep(0.01)
    sys.exit("the server does not listen")


def command(*words):
    return b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words)


def ask(client, asked, answer):
    client.sendall(asked)
    heard = b""
    while len(heard) < len(answer):
        heard += client.recv(65536) or sys.exit(f"the connection ended after {heard}")
    assert heard == answer, (asked, heard)


def main(program):
    port = free_port()
    server = subprocess.Popen([program, f"127.0.0.1:{port}"])
    try:
        client, other = connect(port), connect(port)
        ask(client, command(b"GET", b"name"), b"$-1\r\n")
        ask(client, command(b"SET", b"name", b"two\r\nlines"), b"+OK\r\n")
        ask(other, command(b"GET", b"name"), b"$10\r\ntwo\r\nlines\r\n")
        ask(other, command(b"EXPIRE", b"name", b"0"), b":1\r\n")
        ask(client, command(b"GET", b"name") + command(b"EXPIRE", b"name", b"9"), b"$-1\r\n:0\r\n")
        ask(client, command(b"FLY"), b"-ERR unknown command\r\n")
        ask(client, command(b"SET", b"much", b"m" * 50000) * 20, b"+OK\r\n" * 20)
        for byte in command(b"GET", b"name"):
            client.sendall(bytes([byte]))
        ask(client, b"", b"$-1\r\n")
        server.send_signal(signal.SIGTERM)
        assert client.recv(1) == b"" and other.recv(1) == b""
        assert server.wait(timeout=20) == 0
    finally:
        server.kill()
        server.wait()


main(sys.argv[1])
