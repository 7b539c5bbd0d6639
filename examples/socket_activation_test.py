#!/usr/bin/env python3
"""Starts example_socket_activation as systemd does: with sockets that are open already, and clients that have come before it."""
import os
import signal
import socket
import sys
import tempfile

FIRST_FD = 3


def start(program, sockets, names, pid=None):
    """A child with the sockets from number 3 on. `pid` is what LISTEN_PID says; None: the child's own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        spare = [os.dup2(passed.fileno(), 100 + place) for place, passed in enumerate(sockets)]
        os.dup2(writer, 1)
        for place, number in enumerate(spare):
            os.dup2(number, FIRST_FD + place)
        os.closerange(FIRST_FD + len(sockets), 200)
        environment = dict(os.environ, LISTEN_PID=str(pid or os.getpid()), LISTEN_FDS=str(len(sockets)),
                           LISTEN_FDNAMES=":".join(names))
        os.execve(program, [program, "127.0.0.1:0"], environment)
    os.close(writer)
    return child, os.fdopen(reader)


def finish(child, output):
    os.kill(child, signal.SIGTERM)
    text = output.read()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    return text


def listening(family, address):
    listener = socket.socket(family, socket.SOCK_STREAM)
    listener.bind(address)
    listener.listen()
    return listener


def ask(client):
    client.sendall(b"ping")
    assert client.recv(16) == b"ping"


def serve_streams(program, folder):
    path = os.path.join(folder, "socket")
    sockets = [listening(socket.AF_INET, ("127.0.0.1", 0)), listening(socket.AF_UNIX, path)]
    early = socket.create_connection(sockets[0].getsockname(), timeout=20)  # before there is a server
    early.sendall(b"early")
    for _ in range(2):  # a second server takes the sockets over
        child, output = start(program, sockets, ["web", "local"])
        if early:
            assert early.recv(16) == b"early"
            early = None
        ask(socket.create_connection(sockets[0].getsockname(), timeout=20))
        local = socket.socket(socket.AF_UNIX)
        local.settimeout(20)
        local.connect(path)
        ask(local)
        local.close()
        text = finish(child, output)
        assert text == f"web: listens at 127.0.0.1:{sockets[0].getsockname()[1]}\nlocal: listens at unix:{path}\n", text


def serve_datagrams(program):
    server = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    server.bind(("127.0.0.1", 0))
    child, output = start(program, [server], ["names"])
    client = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    client.settimeout(20)
    client.connect(server.getsockname())
    ask(client)
    text = finish(child, output)
    assert text == f"names: datagrams at 127.0.0.1:{server.getsockname()[1]}\n", text


def refuse_others(program):
    """Variables that are meant for another process are no concern of this one."""
    server = listening(socket.AF_INET, ("127.0.0.1", 0))
    child, output = start(program, [server], ["web"], pid=1)
    refused = start(program, [socket.socket()], ["closed"])
    assert refused[1].read().startswith("closed: ")
    assert os.waitstatus_to_exitcode(os.waitpid(refused[0], 0)[1]) == 1
    # The child has opened a socket of its own, and has not printed a line of the passed one.
    assert output.readline().startswith("listens at 127.0.0.1:")
    assert finish(child, output) == ""


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        serve_streams(program, folder)
    serve_datagrams(program)
    refuse_others(program)


main(sys.argv[1])
