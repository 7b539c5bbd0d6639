#!/usr/bin/env python3
"""Drives example_keep_alive with clients that keep their connections: Python's, and curl's if it is there."""
import http.client
import pathlib
import shutil
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


def ask_by_python(port):
    clients = [http.client.HTTPConnection("127.0.0.1", port, timeout=20) for _ in range(20)]
    for _ in range(10):
        for client in clients:
            client.request("GET", "/")
        for client in clients:
            answer = client.getresponse()
            assert (answer.status, answer.read()) == (200, b"")
    return clients


def ask_by_curl(port):
    url = f"http://127.0.0.1:{port}/"
    done = subprocess.run(["curl", "-sS", "-w", "%{http_code} %{num_connects}\n", url, url], capture_output=True, text=True)
    assert done.stdout.split("\n")[:2] == ["200 1", "200 0"], done


def main(program):
    port = free_port()
    server = subprocess.Popen([program, f"127.0.0.1:{port}"])
    try:
        connected(port)
        clients = ask_by_python(port)
        if shutil.which("curl"):
            ask_by_curl(port)
        clients[0].close()
        server.send_signal(signal.SIGTERM)
        assert server.wait(timeout=20) == 0
        assert all(client.sock.recv(1) == b"" for client in clients[1:])
    finally:
        if server.poll() is None:
            server.kill()


main(sys.argv[1])
