#!/usr/bin/env python3
"""Drives example_http_clock: its page, two events of a stream, and the goodbye when the server ends."""
import http.client
import pathlib
import signal
import socket
import subprocess
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "servers"))
from ports import free_port  # noqa: E402 (the path comes first)


def connected(port):
    for _ in range(1000):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return
        except ConnectionRefusedError:
            time.sleep(0.01)
    sys.exit("the server does not listen")


def read_event(answer):
    """The fields of the next event."""
    fields = {}
    while line := answer.readline().decode().rstrip("\n"):
        name, _, value = line.partition(": ")
        fields[name] = value
    return fields


def main(program):
    port = free_port()
    server = subprocess.Popen([program, f"127.0.0.1:{port}"])
    try:
        connected(port)
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        client.request("GET", "/")
        answer = client.getresponse()
        assert answer.status == 200 and b"EventSource" in answer.read()
        client.request("GET", "/ticks")
        answer = client.getresponse()
        assert answer.getheader("Content-Type") == "text/event-stream"
        first, second = read_event(answer), read_event(answer)
        assert (first["event"], first["id"], first["retry"]) == ("tick", "1", "1000"), first
        assert second["id"] == "2" and len(second["data"]) == 8, second
        server.send_signal(signal.SIGTERM)
        event = read_event(answer)
        while event["event"] == "tick":
            event = read_event(answer)
        assert event == {"event": "goodbye", "data": "the server ends"}, event
        assert answer.read() == b""
        assert server.wait(timeout=20) == 0
    finally:
        if server.poll() is None:
            server.kill()


main(sys.argv[1])
