#!/usr/bin/env python3
"""ab and hey: no request fails, none times out, and ab's connections are kept. HOCKET_HTTP_REQUESTS: how many requests ab sends."""
import os
import re

from harness import expect, main, pattern, require, run, serving

REQUESTS = int(os.environ.get("HOCKET_HTTP_REQUESTS", "20000"))
CLIENTS = 200


def figure(name, text):
    found = re.search(rf"^{name}:\s+(\d+)", text, re.M)
    return int(found.group(1)) if found else None


def check_ab(server, path, requests, *options):
    text = run("ab", "-q", "-c", CLIENTS, "-n", requests, *options, server.url + path, seconds=300).decode()
    expect(figure("Complete requests", text), requests, text)
    expect(figure("Failed requests", text), 0, text)
    expect(figure("Non-2xx responses", text), None, text)
    if "-k" in options:
        expect(figure("Keep-Alive requests", text), requests, text)


def check_hey(hey, server, path, requests, *options):
    text = run(hey, "-c", CLIENTS, "-n", requests, *options, server.url + path, seconds=300).decode()
    statuses = dict(re.findall(r"^\s+\[(\d+)\]\s+(\d+) responses", text, re.M))
    expect(statuses, {"200": str(requests)}, text)
    expect("Error distribution" in text, False, text)


def test(program):
    require("ab")
    hey = require("hey")
    with serving(program) as server:
        check_ab(server, "/plain", REQUESTS, "-k")
        for path in ("/task", "/fiber"):
            check_ab(server, path, 4000, "-k")
        for path in ("/plain", "/lines?count=5"):   # a connection for each request
            check_ab(server, path, 4000)
        body = server.folder / "body"
        body.write_bytes(pattern(100_000))
        check_ab(server, "/upload", 2000, "-k", "-p", body, "-T", "application/octet-stream")
        check_hey(hey, server, "/task", 10_000)
        check_hey(hey, server, "/upload", 2000, "-m", "POST", "-D", body)
        check_hey(hey, server, "/plain", 2000, "-disable-keepalive")
        expect(server.metric("hocket_server_failed_total"), 0, "failed connections")
        print(server.end())


main(test)
