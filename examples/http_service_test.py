#!/usr/bin/env python3
"""Drives example_http_service with Python's client."""
import http.client
import json
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


def ask(client, method, path, body=None, **headers):
    client.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = client.getresponse()
    return answer, answer.read()


def check(client):
    answer, body = ask(client, "GET", "/notes/1")
    assert answer.status == 200 and json.loads(body) == {"id": 1, "text": 'Tune the "lute"'}, body
    assert ask(client, "GET", "/notes/x")[0].status == 400
    assert ask(client, "GET", "/notes/7")[0].status == 404
    assert ask(client, "PUT", "/notes/1")[0].getheader("Allow")
    assert ask(client, "POST", "/notes", "milk")[0].status == 401
    assert ask(client, "POST", "/notes", "", X_Key="open")[0].status == 422
    assert ask(client, "POST", "/notes", "x" * 5000, X_Key="open")[0].status == 413
    client.close()
    answer, body = ask(client, "POST", "/notes", "milk\n", X_Key="open")
    assert (answer.status, answer.getheader("Location")) == (201, "/notes/2"), answer
    assert json.loads(ask(client, "GET", "/notes")[1])[1] == {"id": 2, "text": "milk\n"}
    assert len(json.loads(ask(client, "GET", "/notes?limit=1")[1])) == 1
    assert ask(client, "DELETE", "/notes/2", X_Key="open")[0].status == 204
    assert ask(client, "DELETE", "/notes/2", X_Key="open")[0].status == 404
    metrics = ask(client, "GET", "/metrics")[1].decode()
    assert 'hocket_server_connections{server="notes"' in metrics, metrics
    assert 'hocket_http_answers_total{server="notes",class="2xx"} ' in metrics, metrics


def main(program):
    port = free_port()
    server = subprocess.Popen([program, f"127.0.0.1:{port}"], stdout=subprocess.PIPE, text=True)
    try:
        connected(port)
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        check(client)
        server.send_signal(signal.SIGTERM)
        lines = server.communicate(timeout=20)[0]
        assert server.returncode == 0
        assert '"GET /notes/1 HTTP/1.1" 200' in lines, lines
    finally:
        if server.poll() is None:
            server.kill()


main(sys.argv[1])
