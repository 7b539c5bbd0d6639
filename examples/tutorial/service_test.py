#!/usr/bin/env python3
"""service_test.py <program>: two clients of the tutorial's service get what service.txt shows; SIGTERM ends the service."""
import pathlib
import signal
import socket
import subprocess
import sys

SHOWN = pathlib.Path(__file__).resolve().with_name("service.txt").read_text()


def ask(address, words):
    """The answers to words, until the service has closed the connection."""
    host, port = address.rsplit(":", 1)
    with socket.create_connection((host, int(port)), timeout=30) as client:
        client.sendall("".join(f"{word}\n" for word in words).encode())
        client.shutdown(socket.SHUT_WR)
        return client.makefile().read()


def main(program):
    words = [line.split(":")[0] for line in SHOWN.splitlines()]
    service = subprocess.Popen([program, "127.0.0.1:0"], stdout=subprocess.PIPE, text=True)
    try:
        address = service.stdout.readline().split()[-1]
        for _ in range(2):
            answers = ask(address, words)
            assert answers == SHOWN, answers
        service.send_signal(signal.SIGTERM)
        report = service.stdout.read()
        assert service.wait(30) == 0 and report.startswith("ended by signal 15\nservice: "), report
    finally:
        if service.poll() is None:
            service.kill()


main(sys.argv[1])
