#!/usr/bin/env python3
"""Starts database servers of its own, runs a program beside them, and ends them.

  with_servers.py <server>... -- <program> [arguments]

  servers: postgres redis mariadb https

Each server listens on 127.0.0.1 at a free port, keeps its files in a temporary folder, and is passed to the program by a
variable: HOCKET_POSTGRES (a connection string of libpq), HOCKET_REDIS and HOCKET_MARIADB (a port), HOCKET_HTTPS (a port)
and HOCKET_HTTPS_CA (a file). A server that is not installed has no variable: the program names each test that it skips.
HOCKET_POSTGRES_PID, HOCKET_REDIS_PID and HOCKET_MARIADB_PID are the server's process, which a test may stop and continue.
"""
import contextlib
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

from ports import free_port

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE = 60   # seconds for a server to answer: initialising a cluster takes a few
NOBODY = "nobody"


def as_nobody(folder):
    """PostgreSQL and MariaDB refuse to run as root: the user for them."""
    if os.geteuid() != 0:
        return {}
    shutil.chown(folder, NOBODY)
    return {"user": NOBODY}


def find(name, *folders):
    """A program, newest version first."""
    for folder in folders:
        for found in sorted(pathlib.Path("/").glob(folder.lstrip("/")), reverse=True):
            if os.access(found / name, os.X_OK):
                return str(found / name)
    return shutil.which(name)


def run(command, **how):
    done = subprocess.run(command, capture_output=True, text=True, **how)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit status {done.returncode}\n{done.stdout[-2000:]}{done.stderr[-2000:]}")


@contextlib.contextmanager
def server(command, log, answers, **how):
    """The server runs until the end of the block. `answers`: whether it is up."""
    with open(log, "wb") as out:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True, **how)
        try:
            end = time.monotonic() + PATIENCE
            while not answers():
                if child.poll() is not None or time.monotonic() > end:
                    sys.exit(f"{command[0]} does not answer:\n{pathlib.Path(log).read_text(errors='replace')[-3000:]}")
                time.sleep(0.05)
            yield child.pid
        finally:
            stop(child)


def children_of(pid):
    """The child processes of a process."""
    found = []
    for status in pathlib.Path("/proc").glob("[0-9]*/status"):
        with contextlib.suppress(OSError):   # it has ended
            if f"\nPPid:\t{pid}\n" in status.read_text():
                found.append(int(status.parent.name))
    return found


def resume(child):
    """Continues the server and its children: a program that was aborted may have stopped some of them (SIGSTOP)."""
    for pid in [child.pid, *children_of(child.pid)]:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGCONT)


def stop(child):
    try:
        if child.poll() is None:
            resume(child)
        child.send_signal(signal.SIGINT)
        child.wait(10)
    except subprocess.TimeoutExpired:
        pass
    finally:   # also if the wait is interrupted
        child.kill()
        child.wait()


def connects(port):
    def answers():
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            return False
    return answers


@contextlib.contextmanager
def postgres(folder):
    initdb, program, ready = (find(name, "/usr/lib/postgresql/*/bin") for name in ("initdb", "postgres", "pg_isready"))
    if not initdb or not program or not ready:
        yield {}
        return
    port, who = free_port(), as_nobody(folder)
    run([initdb, "--auth=trust", "--username=postgres", "--no-sync", "--encoding=UTF8", "--locale=C", "-D", folder / "data"],
        cwd=folder, **who)
    options = {"listen_addresses": "127.0.0.1", "unix_socket_directories": folder, "port": port, "max_connections": 600,
               "fsync": "off", "shared_buffers": "32MB", "superuser_reserved_connections": 3}
    command = [program, "-D", folder / "data"] + [f"--{name}={value}" for name, value in options.items()]
    is_ready = [ready, "-q", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres"]
    with server(list(map(str, command)), folder / "log", lambda: subprocess.run(is_ready).returncode == 0, cwd=folder, **who) as pid:
        yield {"HOCKET_POSTGRES": f"host=127.0.0.1 port={port} user=postgres dbname=postgres sslmode=disable",
               "HOCKET_POSTGRES_PID": str(pid)}


@contextlib.contextmanager
def redis(folder):
    program = find("redis-server") or find("valkey-server")
    if not program:
        yield {}
        return
    port = free_port()
    command = [program, "--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder,
               "--maxclients", "2000", "--hz", "500"]   # how often per second it checks for waits that are over
    with server(list(map(str, command)), folder / "log", connects(port)) as pid:
        yield {"HOCKET_REDIS": str(port), "HOCKET_REDIS_PID": str(pid)}


@contextlib.contextmanager
def mariadb(folder):
    install, program = find("mariadb-install-db"), find("mariadbd", "/usr/sbin")
    if not install or not program:
        yield {}
        return
    port, who = free_port(), as_nobody(folder)
    run([install, "--no-defaults", f"--datadir={folder}/data", "--auth-root-authentication-method=normal",
         "--skip-test-db"], cwd=folder, **who)
    options = {"datadir": folder / "data", "bind-address": "127.0.0.1", "port": port, "socket": folder / "socket",
               "pid-file": folder / "pid", "max-connections": 600, "skip-name-resolve": "ON",
               "innodb-flush-log-at-trx-commit": 0, "innodb-buffer-pool-size": "16M", "table-open-cache": 64,
               "performance-schema": "OFF"}
    command = [program, "--no-defaults"] + [f"--{name}={value}" for name, value in options.items()]
    with server(command, folder / "log", connects(port), cwd=folder, **who) as pid:
        yield {"HOCKET_MARIADB": str(port), "HOCKET_MARIADB_PID": str(pid)}


@contextlib.contextmanager
def https(folder):
    openssl = find("openssl")
    if not openssl:
        yield {}
        return
    key, certificate = folder / "key.pem", folder / "certificate.pem"
    run([openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1", "-keyout", key, "-out", certificate])
    port = free_port()
    command = [sys.executable, HERE / "https_server.py", str(port), certificate, key]
    with server(list(map(str, command)), folder / "log", connects(port)):
        yield {"HOCKET_HTTPS": str(port), "HOCKET_HTTPS_CA": str(certificate)}


SERVERS = {"postgres": postgres, "redis": redis, "mariadb": mariadb, "https": https}


@contextlib.contextmanager
def running(wanted):
    """{variable: value} of these servers, until the end of the block."""
    with contextlib.ExitStack() as stack:
        top = pathlib.Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="hocket-servers-")))
        top.chmod(0o755)
        known = {}
        for name in wanted:
            folder = top / name
            folder.mkdir()
            known.update(stack.enter_context(SERVERS[name](folder)))
        yield known


def when_told_to_end(handler):
    """SIGTERM and SIGHUP call `handler`. An ignored signal stays ignored: nohup."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, handler)


def main(arguments):
    if "--" not in arguments:
        sys.exit(__doc__)
    at = arguments.index("--")
    wanted, command = arguments[:at], arguments[at + 1:]
    if not command or not set(wanted) <= SERVERS.keys():
        sys.exit(__doc__)
    with running(wanted) as known:
        return subprocess.run(command, env={**os.environ, **known}).returncode


if __name__ == "__main__":
    when_told_to_end(lambda *_: sys.exit(1))   # so that the servers end, too
    sys.exit(main(sys.argv[1:]))
