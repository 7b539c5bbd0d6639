#!/usr/bin/env python3
"""nginx as a reverse proxy in front of the server: kept connections, forwarded addresses, uploads with and without buffering, ranges,
events, an upgrade, and a load."""
from front_end_checks import CLIENT, check_all, check_uploads, client_of
from harness import expect, free_port, main, require, run, serving, skip
from front_ends import find_nginx, nginx

BLOCKS = """
  upstream hocket {{ server {server}; keepalive 16; }}
  map $http_upgrade $for_upstream {{ default upgrade; "" ""; }}
  server {{
    listen 127.0.0.1:{port};
    client_max_body_size 0;
    keepalive_requests 1000000;
    proxy_http_version 1.1;
    proxy_set_header Host $http_host;
    proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    proxy_set_header X-Forwarded-Proto https;
    proxy_set_header Upgrade $http_upgrade;
    proxy_set_header Connection $for_upstream;
    location / {{ proxy_pass http://hocket; }}
    location /direct/ {{ proxy_request_buffering off; proxy_pass http://hocket/; }}
  }}
"""


def check_client(port):
    expect(client_of(port), (CLIENT, "https"), "client")
    expect(client_of(port, X_Forwarded_For="192.0.2.1"), (CLIENT, "https"), "client with a forged address")
    expect(client_of(port, Forwarded="for=192.0.2.1"), (CLIENT, "https"), "client with a forged Forwarded")


def test(program):
    if not find_nginx():
        skip("nginx is not installed")
    ab = require("ab")
    port = free_port()
    with serving(program, "--trust", "127.0.0.1") as server:
        with nginx(server.folder, port, BLOCKS.format(server=server.address, port=port)):
            before = server.metric("hocket_server_accepted_total")
            check_all(port)
            check_uploads(port, "/direct/upload")
            check_client(port)
            load = run(ab, "-q", "-k", "-c", "16", "-n", "5000", f"http://127.0.0.1:{port}/task").decode()
            expect("Failed requests:        0\n" in load and "Non-2xx" not in load, True, load)
            opened = server.metric("hocket_server_accepted_total") - before
            expect(opened < 100, True, f"{opened} connections for all requests through nginx")
        print(server.end())


main(test)
