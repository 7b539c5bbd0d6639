#!/usr/bin/env python3
"""The page `clients`: servers that are not there, modules of Go and of Python that are not there."""
import contextlib
import io
import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import builders, catalogue, measure, servers  # noqa: E402 (the path comes first)


class Servers(unittest.TestCase):
    """With servers that only say where they are."""
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
        made = measure.Measurement([], [], "smoke")
        made.jobs = self.jobs
        made.leave_out({"postgres": "not there"})
        self.assertEqual(made.skipped, {("go-pgx", "pg_wait", 4): "not there"})


class GoModules(unittest.TestCase):
    """With a go that has no modules: it fails where it is told to fetch none."""

    def build(self, has_modules, no_install):
        with tempfile.TemporaryDirectory() as folder:
            go = pathlib.Path(folder, "go")
            go.write_text(f'#!/bin/sh\ncase "$GOPROXY" in off) exit {0 if has_modules else 1};; esac\n')
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
        skipped, said = self.build(has_modules=False, no_install="0")
        self.assertEqual(skipped, {})
        self.assertRegex(said, "fetching what is missing of these Go modules: pgx v5[^,]*, go-redis v9")

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
