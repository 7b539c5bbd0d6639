"""Ports for the servers of tests."""
import contextlib
import random
import socket


def free_port():
    """A port below those that the system gives to clients: no connection of another test takes it before the server does."""
    for _ in range(100):
        port = random.randrange(10_000, 30_000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise RuntimeError("100 ports from 10000 to 29999 are in use")
