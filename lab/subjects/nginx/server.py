#!/usr/bin/env python3
"""nginx on the page `net`, called as `server.py <system> http 1`: `return 200` in a location.

This program chooses a port and becomes nginx. Its child prints the port as soon as nginx listens. The lab reads the
processor time of one process, so nginx has no master process, and serves by one thread.
"""
import os
import pathlib
import shutil
import socket
import sys
import tempfile
import time

CONNECTIONS = 16384   # more than the page opens; a connection object each, from the start

CONFIGURATION = """
daemon off;
master_process off;
pid nginx.pid;
error_log stderr crit;
events {{ worker_connections {connections}; }}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  keepalive_requests 1000000000;
  keepalive_timeout 1h;
  default_type "text/plain; charset=utf-8";
  server {{
    listen 127.0.0.1:{port} backlog=4096;
    location = / {{ return 200 "hello\\n"; }}
  }}
}}
"""


def skip(why):
    print("skip", why, flush=True)
    sys.exit()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return listener.getsockname()[1]


def print_when_ready(port, seconds=10):
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            print(port, flush=True)
            return
        except ConnectionRefusedError:
            time.sleep(0.01)


def main():
    _, _, mode, workers = sys.argv
    program = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
    if not program:
        skip("nginx is not installed: `apt-get install nginx`")
    if mode != "http" or workers != "1":
        skip("nginx is one process here, for http alone")
    port = free_port()
    folder = pathlib.Path(os.environ.get("HOCKET_LAB_BUILD", tempfile.gettempdir())) / "nginx"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "nginx.conf").write_text(CONFIGURATION.format(port=port, connections=CONNECTIONS), encoding="ascii")
    if os.fork() == 0:
        print_when_ready(port)
        os._exit(0)
    os.execv(program, ["nginx", "-p", str(folder), "-e", "stderr", "-c", str(folder / "nginx.conf")])


main()
