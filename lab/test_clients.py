#!/usr/bin/env python3
"""The page `clients`: missing servers, missing modules of Go and of Python."""
import contextlib
import io
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import builders, catalogue, measure, servers  # noqa: E402 (the path is set first)


class Servers(unittest.TestCase):
    """With fake servers that have only an address."""
    jobs = [measure.Job(catalogue.systems([name])[0], {"workload": workload, "server": server}, {"n": 4})
            for name, workload, server in (("go-redis", "redis_wait", "redis"), ("go-pgx", "pg_wait", "postgres"))]

    def missing(self, running):
        with unittest.mock.patch.object(servers.with_servers, "running", contextlib.contextmanager(running)), \
                unittest.mock.patch.dict(os.environ), contextlib.redirect_stderr(io.StringIO()), \
                servers.beside(self.jobs, sorted(os.sched_getaffinity(0))) as missing:
            return missing, os.environ.get("HOCKET_REDIS")

    def test_programs_are_told_where_they_are_and_what_is_not_installed_is_named(self):
        missing, place = self.missing(lambda names: iter([{"HOCKET_REDIS": "6379"} if names == ["redis"] else {}]))
        self.assertEqual((missing, place), ({"postgres": "the server postgres is not installed: `apt-get install postgresql-15`"}, "6379"))

    def test_one_that_does_not_start_leaves_the_others(self):
        def running(names):
            if names == ["postgres"]:
                sys.exit("postgres does not answer:\nall of its log")
            yield {"HOCKET_REDIS": "6379"}
        self.assertEqual(self.missing(running)[0], {"postgres": "the server postgres has not started: postgres does not answer:"})

    def test_they_have_the_cores_that_the_programs_leave(self):
        cores, had = sorted(os.sched_getaffinity(0)), []

        def running(names):
            had.append(os.sched_getaffinity(0))
            yield {"X": "1"}
        self.missing(running)
        self.assertEqual(had, [set(cores[1:] or cores)] * 2)
        self.assertEqual(sorted(os.sched_getaffinity(0)), cores)

    def test_what_asks_a_server_that_is_not_there_is_skipped(self):
        measurement = measure.Measurement([], [], "smoke")
        measurement.jobs = self.jobs
        measurement.leave_out({"postgres": "not there"})
        self.assertEqual(measurement.skipped, {("go-pgx", "pg_wait", 4): "not there"})


HOLDS_SERVERS = """
import os, signal, sys
import run
from labkit import against, catalogue, measure, servers
def hold(*_):
    jobs = [measure.Job(catalogue.systems(["go-redis"])[0], {"workload": "redis_wait", "server": "redis"}, {"n": 4})]
    with servers.beside(jobs, sorted(os.sched_getaffinity(0))):
        print(os.environ["HOCKET_REDIS"], flush=True)
        sys.stdin.read()
signal.signal(signal.SIGTERM, signal.SIG_DFL)
signal.signal(signal.SIGHUP, signal.SIG_DFL)   # whatever runs the tests has ignored
against.run = hold
sys.argv[1:] = ["--against", "HEAD"]
sys.exit(run.main())
"""


def pid_of_redis(port):
    with socket.create_connection(("127.0.0.1", port), 20) as connection, connection.makefile("rb") as answer:
        connection.sendall(b"INFO server\r\n")
        return next(int(line.split(b":")[1]) for line in answer if line.startswith(b"process_id:"))


def kill_if_left(pid):
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class EndOfServers(unittest.TestCase):
    """With installed servers."""
    with_servers = servers.with_servers

    def redis_after(self, number):
        if not (self.with_servers.find("redis-server") or self.with_servers.find("valkey-server")):
            self.skipTest("redis is not installed")
        with subprocess.Popen([sys.executable, "-c", HOLDS_SERVERS], cwd=catalogue.LAB, stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as run:
            pid = pid_of_redis(int(run.stdout.readline()))
            self.addCleanup(kill_if_left, pid)
            run.send_signal(number)
            _, errors = run.communicate(timeout=60)   # communicate() ends the input: the signal need not meet a wait
        self.assertIn("KeyboardInterrupt", errors)
        self.assertRaises(ProcessLookupError, os.kill, pid, 0)

    def test_they_end_with_a_run_that_is_terminated(self):
        self.redis_after(signal.SIGTERM)

    def test_they_end_with_a_run_whose_terminal_goes(self):
        self.redis_after(signal.SIGHUP)

    def test_what_is_ignored_stays_so(self):
        had = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
        for number, handler in had.items():
            self.addCleanup(signal.signal, number, handler)
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        signal.signal(signal.SIGHUP, signal.SIG_IGN)
        servers.end_with_run()
        self.assertEqual([signal.getsignal(number) for number in had], [signal.default_int_handler, signal.SIG_IGN])

    def test_one_that_does_not_end_is_killed_by_who_interrupts_the_wait(self):
        wait, children = subprocess.Popen.wait, []

        def interrupted(child, timeout=None):
            if timeout:
                children.append(child)
                self.addCleanup(child.kill)
                raise KeyboardInterrupt
            return wait(child)
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(subprocess.Popen, "wait", interrupted):
            with self.assertRaises(KeyboardInterrupt), self.with_servers.server(
                    ["sleep", "600"], pathlib.Path(folder, "log"), lambda: True,
                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)):
                pass
        self.assertEqual([child.returncode for child in children], [-signal.SIGKILL])


class GoModules(unittest.TestCase):
    """With a `go` that has no modules: it fails if it must fetch none."""

    def build(self, has_modules, no_install, version="go1.26.1"):
        with tempfile.TemporaryDirectory() as folder:
            go = pathlib.Path(folder, "go")
            go.write_text(f'#!/bin/sh\n[ "$1" = env ] && echo {version} && exit\ncase "$GOPROXY" in off) exit {0 if has_modules else 1};; esac\n')
            go.chmod(0o755)
            errors = io.StringIO()
            builders.go_program.cache_clear()
            with unittest.mock.patch.dict(os.environ, {"PATH": f"{folder}:{os.environ['PATH']}", "HOCKET_NO_INSTALL": no_install}), \
                    contextlib.redirect_stderr(errors):
                skipped = builders.prepare(catalogue.systems(["go-pgx", "go-redis"]), pathlib.Path(folder))
        builders.go_program.cache_clear()
        return skipped, errors.getvalue()

    def test_what_is_here_is_not_fetched(self):
        self.assertEqual(self.build(has_modules=True, no_install="1"), ({}, ""))

    def test_what_is_missing_is_named_and_fetched(self):
        skipped, printed = self.build(has_modules=False, no_install="0")
        self.assertEqual(skipped, {})
        self.assertRegex(printed, "fetching what is missing of these Go modules: pgx v5[^,]*, go-redis v9")

    def test_a_go_that_is_too_old_is_named(self):
        for version, reason in (("go1.19.8", "needs Go 1.26 in the PATH; Go 1.19 is there"), ("devel", None)):
            skipped, _ = self.build(has_modules=True, no_install="1", version=version)
            self.assertEqual(skipped.get("go-pgx"), reason)

    def test_nothing_is_fetched_where_nothing_may_be(self):
        skipped, _ = self.build(has_modules=False, no_install="1")
        self.assertEqual(set(skipped), {"go-pgx", "go-redis"})
        self.assertRegex(skipped["go-pgx"], "its modules are not here: .*`go mod download`")


class PythonModules(unittest.TestCase):
    def test_one_that_is_not_there_is_named(self):
        with unittest.mock.patch.object(builders, "module_version", return_value=None):
            skipped = builders.prepare(catalogue.systems(["gevent-redis"]), catalogue.LAB)
        self.assertEqual(skipped, {"gevent-redis": "gevent is not installed: `./dev setup`"})

    def test_a_program_that_is_linked_with_another_python_cannot_have_them(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.object(builders, "module_version", return_value="2.9"):
            file = pathlib.Path(folder, "subjects/versions/libpython")
            file.parent.mkdir(parents=True)
            file.write_text("2.7\n")
            with self.assertRaisesRegex(builders.Missing, "psycopg2-binary is not there for the Python 2.7"):
                builders.with_modules(pathlib.Path(folder), ["psycopg2-binary"])


if __name__ == "__main__":
    unittest.main()
