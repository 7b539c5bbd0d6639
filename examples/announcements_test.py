#!/usr/bin/env python3
"""Drives example_announcements from its start to SIGTERM: requests, a reload, a mistake in the file, children, the drain."""
import os
import signal
import socket
import subprocess
import sys
import tempfile


class Client:
    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host, int(port)), timeout=30)
        self.lines = self.socket.makefile("r")

    def ask(self, request):
        self.socket.sendall(request.encode() + b"\n")
        return self.lines.readline()


def write(path, text):
    with open(path + ".new", "w") as file:
        file.write(f"listen 127.0.0.1:0\ntext {text}\nconnections 100\n")
    os.rename(path + ".new", path)


def reload(server, path, text):
    write(path, text)
    server.send_signal(signal.SIGHUP)


def drive(program, path):
    server, address = start(program, path)
    idle, follower, asker = Client(address), Client(address), Client(address)
    assert asker.ask("GET") == "closed on Monday\n"
    assert follower.ask("FOLLOW") == "closed on Monday\n"
    assert "UTC" in asker.ask("DATE")
    assert asker.ask("STATS").endswith("requests in the last second\n")
    assert asker.ask("?") == "GET, FOLLOW, DATE or STATS\n"

    reload(server, path, "closed on Tuesday")
    assert follower.lines.readline() == "closed on Tuesday\n"
    assert asker.ask("GET") == "closed on Tuesday\n"
    assert server.stderr.readline() == "settings are reloaded\n"

    with open(path, "w") as file:
        file.write("txet nothing\n")
    server.send_signal(signal.SIGHUP)
    assert "nvalid argument" in server.stderr.readline()
    assert asker.ask("GET") == "closed on Tuesday\n"

    server.send_signal(signal.SIGTERM)
    assert follower.lines.readline() == "the service is restarting\n"
    for client in (follower, idle, asker):
        assert client.lines.readline() == ""
    report = server.stderr.read()
    assert server.wait(30) == 0, report
    assert "server" in report and "runtime" in report, report


def start(program, path):
    write(path, "closed on Monday")
    server = subprocess.Popen([program, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return server, server.stdout.readline().split()[-1]


def signal_during_start(program, path):
    """A signal that arrives as soon as the service listens ends it, or reloads, as later."""
    for ending in (signal.SIGTERM, signal.SIGINT):
        server, _ = start(program, path)
        server.send_signal(ending)
        assert server.wait(30) == 0, (ending, server.stderr.read())
    server, address = start(program, path)
    server.send_signal(signal.SIGHUP)
    assert Client(address).ask("GET") == "closed on Monday\n"
    assert server.stderr.readline() == "settings are reloaded\n"
    server.send_signal(signal.SIGTERM)
    assert server.wait(30) == 0, server.stderr.read()


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        drive(program, os.path.join(folder, "settings.txt"))
        signal_during_start(program, os.path.join(folder, "settings.txt"))
        wrong = subprocess.run([program, os.path.join(folder, "nothing.txt")], capture_output=True, text=True, timeout=30)
        assert wrong.returncode == 2 and "No such file" in wrong.stderr, wrong


if __name__ == "__main__":
    main()
