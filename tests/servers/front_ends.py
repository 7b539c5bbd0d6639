"""nginx and haproxy for tests: each listens on loopback and keeps its files in a temporary folder.

  with nginx(folder, 8080, "server { listen 127.0.0.1:8080; return 200; }"): ...

find_nginx() and find_haproxy() return None if the program is not installed.
"""
import contextlib
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from with_servers import connects, find, server  # noqa: E402 (the path comes first)

NGINX = """
daemon off;
master_process off;
pid nginx.pid;
error_log stderr {log_level};
events {{ worker_connections 4096; }}
http {{
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  {blocks}
}}
"""


def find_nginx():
    return find("nginx", "/usr/sbin")


def find_haproxy():
    return find("haproxy", "/usr/sbin")


@contextlib.contextmanager
def nginx(folder, port, blocks, log_level="crit"):
    """nginx with these blocks of its configuration's http block. One of them listens at 127.0.0.1:port."""
    configuration = pathlib.Path(folder, "nginx.conf")
    configuration.write_text(NGINX.format(blocks=blocks, log_level=log_level))
    command = [find_nginx(), "-p", f"{folder}/", "-c", str(configuration), "-e", "stderr"]
    with server(command, pathlib.Path(folder, "nginx.log"), connects(port)) as pid:
        yield pid


@contextlib.contextmanager
def haproxy(folder, port, configuration):
    """haproxy with this configuration. A front end of it listens at 127.0.0.1:port."""
    path = pathlib.Path(folder, "haproxy.cfg")
    path.write_text(configuration)
    with server([find_haproxy(), "-db", "-f", str(path)], pathlib.Path(folder, "haproxy.log"), connects(port)) as pid:
        yield pid
