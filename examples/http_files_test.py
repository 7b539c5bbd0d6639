#!/usr/bin/env python3
"""Drives example_http_files with Python's client: names, ranges, conditions, precompressed files."""
import http.client
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
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


def ask(client, path, method="GET", **headers):
    client.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    answer = client.getresponse()
    return answer.status, answer.read(), answer.headers


def make_folder(folder):
    (folder / "public/sub").mkdir(parents=True)
    (folder / "secret").write_text("secret")
    (folder / "public/index.html").write_text("<p>hello")
    (folder / "public/large.bin").write_bytes(os.urandom(1 << 20))
    (folder / "public/app.js").write_text("plain")
    (folder / "public/app.js.gz").write_text("compressed")
    (folder / "public/.hidden").write_text("hidden")
    (folder / "public/inside").symlink_to("index.html")
    (folder / "public/outside").symlink_to("../secret")
    os.mkfifo(folder / "public/fifo")


def check(client, public):
    large = (public / "large.bin").read_bytes()
    status, body, headers = ask(client, "/")
    assert (status, body) == (200, b"<p>hello") and headers["Content-Type"].startswith("text/html")
    assert ask(client, "/", If_None_Match=headers["ETag"])[:2] == (304, b"")
    assert ask(client, "/", If_Modified_Since=headers["Last-Modified"])[0] == 304
    assert ask(client, "/large.bin")[1] == large
    status, body, headers = ask(client, "/large.bin", Range="bytes=1000-1999")
    assert (status, body, headers["Content-Range"]) == (206, large[1000:2000], "bytes 1000-1999/1048576")
    status, body, headers = ask(client, "/large.bin", Range="bytes=0-9,500000-700000")
    assert status == 206 and headers["Content-Type"].startswith("multipart/byteranges") and large[500000:700001] in body
    assert ask(client, "/large.bin", Range="bytes=1048576-")[0] == 416
    assert ask(client, "/large.bin", Range="bytes=" + ",".join(["0-"] * 1000))[:2] == (200, large)
    assert ask(client, "/large.bin", "HEAD")[1:2] == (b"",)
    assert ask(client, "/app.js", Accept_Encoding="gzip")[1] == b"compressed"
    assert ask(client, "/app.js")[1] == b"plain"
    assert ask(client, "/inside")[1] == b"<p>hello"
    for path in ("/missing", "/.hidden", "/outside", "/fifo", "/sub/", "/sub%2f..%2findex.html", "/%2fetc%2fpasswd"):
        assert ask(client, path)[0] == 404, path
    assert ask(client, "/sub")[0] == 301


def main(program):
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        make_folder(pathlib.Path(folder))
        public = pathlib.Path(folder) / "public"
        server = subprocess.Popen([program, str(public), f"127.0.0.1:{port}"])
        try:
            connected(port)
            check(http.client.HTTPConnection("127.0.0.1", port, timeout=20), public)
            server.send_signal(signal.SIGTERM)
            assert server.wait(timeout=20) == 0
        finally:
            if server.poll() is None:
                server.kill()


main(sys.argv[1])
