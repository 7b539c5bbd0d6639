#!/usr/bin/env python3
"""The page `net`: parsing the output of other programs, the end of servers, and ratios of pairs."""
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import catalogue, compare, documents, measure, net, terminal  # noqa: E402 (the path is set first)
from labkit.net import clients, counters, measures, server, wrk  # noqa: E402

WRK = """Running 30s test @ http://127.0.0.1:8888/
  4 threads and 200 connections
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     1.32ms  804.45us  40.11ms   96.58%
    Req/Sec    19.93k   563.89    21.03k    85.08%
  2384730 requests in 30.08s, 141.00MB read
Requests/sec:  79266.48
Transfer/sec:      4.69MB
"""
PERF = """167006.65;msec;task-clock:u;167006650000;100.00;3.252;CPUs utilized
0;;context-switches:u;167006650000;100.00;0.000;K/sec
<not supported>;;cycles;0;100.00;;
"""
STRACE = """% time     seconds  usecs/call     calls    errors syscall
------ ----------- ----------- --------- --------- ----------------
 51.00    0.012000           3      4000           sendto
 49.00    0.011000           3      4123        17 recvfrom
------ ----------- ----------- --------- --------- ----------------
100.00    0.023000           2      8123        17 total
"""


class Output(unittest.TestCase):
    def test_what_wrk_prints_is_read_in_microseconds_and_millions_of_bytes(self):
        self.assertEqual(wrk.parse(WRK), {"mean": 1320, "deviation": 804.45, "max": 40110, "rate": 79266.48,
                                          "bytes": 4.69 * 2**20 / 1e6})

    def test_a_load_that_got_other_answers_is_no_measurement(self):
        with self.assertRaises(net.Failed):
            wrk.parse(WRK + "  Non-2xx or 3xx responses: 7\n")
        with self.assertRaises(net.Failed):
            wrk.parse("unable to connect to 127.0.0.1:8888 Connection refused\n")

    def test_what_perf_does_not_count_is_none(self):
        found = {event: counters.count_of(event, PERF) for event in ("task-clock", "context-switches", "cycles", "faults")}
        self.assertEqual(found, {"task-clock": 167006.65, "context-switches": 0, "cycles": None, "faults": None})

    def test_cpus_are_the_clock_through_the_time_and_ipc_needs_both_counts(self):
        counts = wrk.of_server({"task-clock": 3000.0, "cycles": 4e6, "instructions": 2e6}, 2.0)
        self.assertEqual((counts["cpus"], counts["cycles"], counts["ipc"], counts["faults"]), (1.5, 4.0, 0.5, None))
        self.assertEqual(set(wrk.of_server({}, 0).values()), {None})

    def test_the_calls_of_strace_are_those_of_its_last_line(self):
        self.assertEqual(counters.total_of(STRACE), 8123)
        self.assertIsNone(counters.total_of("strace: attach: ptrace: Operation not permitted\n"))

    def test_a_load_prints_a_measure_and_its_value_in_each_line(self):
        self.assertEqual(clients.parse("rate 101337.5\nlost 0\n"), {"rate": 101337.5, "lost": 0})
        with self.assertRaises(net.Failed):
            clients.parse("rate\n")


class Programs(unittest.TestCase):
    """With shell scripts for servers."""

    def server(self, script):
        with tempfile.NamedTemporaryFile("w", suffix=".sh", delete=False) as file:
            file.write("#!/bin/sh\n" + script)
        self.addCleanup(os.unlink, file.name)
        os.chmod(file.name, 0o755)
        started = server.Server([file.name, "x"], "http", 3, os.sched_getaffinity(0))
        self.addCleanup(started.end)
        return started

    def test_a_server_gets_mode_and_workers_and_prints_its_port(self):
        started = self.server('test "$1 $2 $3" = "x http 3" && echo 4711 && exec cat\n')
        started.wait_until_ready()
        self.assertEqual(started.port, 4711)

    def test_a_server_has_a_session_of_its_own(self):
        started = self.server("echo 1; exec cat\n")
        started.wait_until_ready()
        self.assertEqual(os.getsid(started.pid), started.pid)

    def test_a_server_that_ends_says_why(self):
        with self.assertRaisesRegex(net.Failed, "exit status 3: no room"):
            self.server("echo no room >&2; exit 3\n").wait_until_ready()

    def test_a_server_that_prints_something_else_is_refused(self):
        with self.assertRaisesRegex(net.Failed, "not a port: hello"):
            self.server("echo hello; exec cat\n").wait_until_ready()

    def test_a_server_that_the_machine_does_not_allow_says_so_and_is_skipped(self):
        with self.assertRaisesRegex(server.Skipped, "^the kernel refuses$"):
            self.server("echo skip the kernel refuses\n").wait_until_ready()

    def test_servers_of_others_skip_by_name_what_they_cannot_do(self):
        for name in ("nginx", "node"):
            command = [sys.executable, str(catalogue.LAB / "subjects" / name / "server.py"), name, "http", "2"]
            output = subprocess.run(command, capture_output=True, text=True, env={"PATH": "/nowhere"}, check=True).stdout
            self.assertRegex(output, f"^skip (?i:{name}) is ")

    def test_a_server_that_does_not_heed_a_signal_is_killed(self):
        started = self.server("trap '' TERM; echo 1; while :; do read line || :; done\n")
        started.wait_until_ready()
        with unittest.mock.patch.object(server, "SECONDS_TO_END", 0.05):
            started.end()
        self.assertEqual(started.process.returncode, -9)


class Jobs(unittest.TestCase):
    def test_the_load_has_another_core_if_there_is_one(self):
        self.assertEqual(measures.cores_of_load([3, 2, 1], 1), [2])
        self.assertEqual(measures.cores_of_load([3, 2, 1], 2), [1])
        self.assertEqual(measures.cores_of_load([1, 0], 2), [0])

    def test_values_have_the_names_of_the_metrics(self):
        group = {"workload": "net_x", "load": {}, "metrics": [{"id": "net_x_cpu"}, {"id": "net_x_p50"}]}
        job = measure.Job(None, group, {"n": 1})
        with unittest.mock.patch.object(measures, "Run") as run:
            run.return_value.measures.return_value = {"cpu": 1.0, "p50": None, "other": 2.0}
            self.assertEqual(net.call(job, "load", [0], 1), ({"net_x_cpu": 1.0, "net_x_p50": None}, None))
            run.return_value.measures.return_value = {"cpu": 1.0}
            with self.assertRaisesRegex(net.Failed, "no p50"):
                net.call(job, "load", [0], 1)

    def test_without_wrk_its_workload_is_skipped(self):
        job = measure.Job(None, {"load": {"by": "wrk"}}, {"n": 1})
        with unittest.mock.patch.object(wrk, "is_here", return_value=False):
            self.assertEqual(net.call(job, "load", [0], 1), ({}, "wrk is not installed"))

    def test_more_connections_than_descriptors_give_a_remark(self):
        group = {"workload": "net_x", "load": {}}
        with unittest.mock.patch.object(clients, "possible_connections", side_effect=lambda requested: min(requested, 960)):
            self.assertEqual(net.remarks(group, 960), [])
            self.assertRegex(net.remarks(group, 9900)[0], "n = 9,900: 960 connections")
            self.assertEqual(net.remarks({"workload": "other"}, 1000000), [])

    def test_a_page_takes_as_many_workers_as_there_are_cores(self):
        system = catalogue.systems(["raw-epoll"])[0]
        system.command = ["raw-epoll"]
        without_second = {("raw-epoll", "net_workers", 2): "needs 2 cores"}
        for cores, workers, skipped in (([0], [1], without_second), ([2, 1, 0], [1, 2], {}), (range(32), [1, 2, 4, 8, 16, 32], {})):
            with unittest.mock.patch.object(os, "sched_getaffinity", return_value=set(cores)):
                measurement = measure.Measurement(catalogue.pages(["net"]), [system], "default")
            self.assertEqual([job.size["n"] for job in measurement.jobs if job.group["workload"] == "net_workers"], workers)
            self.assertEqual(measurement.skipped, skipped)


class Repetitions(unittest.TestCase):
    def test_the_systems_of_a_size_stay_together_and_each_is_first_in_its_turn(self):
        groups = [{"workload": name} for name in "ab"]
        jobs = [measure.Job(system, group, {"n": n}) for group in groups for n in (1, 2) for system in "xyz"]
        firsts = set()
        for run in range(3):
            order = measure.in_turn(jobs, run, 3)
            self.assertEqual(len(order), len(jobs))
            for i in range(0, len(order), 3):
                self.assertEqual({job.system for job in order[i:i + 3]}, set("xyz"))
                self.assertEqual(len({(job.group["workload"], job.size["n"]) for job in order[i:i + 3]}), 1)
            firsts.add((order[0].group["workload"], order[0].size["n"], order[0].system))
        self.assertEqual(len({system for _, _, system in firsts}), 3)
        self.assertEqual(len({size[:2] for size in firsts}), 3)

    def test_pairs_of_a_full_run_have_nine(self):
        runs = [measure.runs_of(group, mode, requested) for group, mode, requested in (
            ({"paired": True}, "full", None), ({}, "full", None), ({"paired": True}, "default", None),
            ({"paired": True, "runs": 1}, "full", None), ({"runs": 3}, "default", 9), ({}, "default", 9))]
        self.assertEqual(runs, [9, 3, 9, 1, 3, 9])

    def test_a_count_that_the_machine_lacks_is_no_value(self):
        measurement = measure.Measurement([], [], "smoke")
        system = type("System", (), {"id": "s", "command": ["s"]})
        measurement.call = lambda job: ({"ipc": None, "rate": 2.0}, None)
        measurement._run_job(measure.Job(system, {"workload": "w"}, {"n": 1}), run=4)
        self.assertEqual((measurement.absent, measurement.values), ({("ipc", "s", 1)}, {("rate", "s", 1): {4: 2.0}}))


def row(system, by_run, workload="w"):
    values = sorted(by_run.values())
    return {"workload": workload, "system": system, "n": 1, "median": values[len(values) // 2], "min": values[0],
            "max": values[-1], "runs": len(values), "by_run": {str(run): value for run, value in by_run.items()}}


class Pairs(unittest.TestCase):
    # The machine becomes half as fast after the first round: medians of different rounds mean nothing.
    base = row("base", {0: 10, 1: 20, 2: 20})
    mine = row("hocket-a", {0: 11, 1: 22})

    def test_a_ratio_is_of_each_round_and_of_those_the_median(self):
        self.assertAlmostEqual(compare.Results([self.base, self.mine]).ratio("w", "hocket-a", "base", 1), 1.1)

    def test_without_a_common_round_there_is_no_ratio(self):
        self.assertIsNone(compare.paired(row("a", {0: 1}), row("b", {1: 1})))

    def test_a_bar_of_pairs_takes_the_system_that_hocket_is_farthest_behind(self):
        bar = {"workload": "w", "n": 1, "system": "hocket-a", "against": ["base", "other"], "statistic": "paired",
               "at_most": 1.2}
        results = compare.Results([self.base, self.mine, row("other", {0: 10, 1: 11})])
        judged = compare.judge(bar, results)
        self.assertEqual((judged["verdict"], judged["of"]), ("over", "hocket-a / other paired"))
        self.assertAlmostEqual(judged["outcome"], 1.55)
        self.assertEqual(compare.judge({**bar, "against": ["base"]}, results)["verdict"], "ok")
        self.assertEqual(compare.judge({**bar, "against": ["absent"]}, results)["verdict"], "not measured")


class Tables(unittest.TestCase):
    group = {"workload": "net_wrk", "columns": "what", "n_is": "connections", "baseline": "base", "paired": True,
             "metrics": [{"id": "net_wrk_rate", "column": "requests/s"}, {"id": "net_wrk_ipc", "column": "IPC"}]}

    def test_a_row_for_each_system_and_for_what_was_published(self):
        rows = [{**row(name, {0: value}, "net_wrk_rate"), "n": 200} for name, value in (("base", 50000), ("mine", 60000))]
        results = compare.Results(rows, {("net_wrk_ipc", name, 200) for name in ("base", "mine")})
        lines = terminal.table_of_columns(self.group, results, ["base", "mine"], documents.Published())
        self.assertIn("200 connections", lines[0])
        self.assertEqual([line.split() for line in lines[1:4]], [
            ["requests/s", "x", "IPC"], ["base", "50,000", "x1.000", "not", "to", "be", "had"],
            ["mine", "60,000", "x1.200", "not", "to", "be", "had"]])
        self.assertEqual(lines[4].split(), ["libcoro,", "e2k", "(000)", "79,266", "0.36"])
        self.assertEqual(lines[5].split(), ["libcoro,", "x86", "(000)", "625,592", "-"])

    def test_without_pairs_there_is_no_ratio(self):
        rows = [{**row("base", {0: 5}, "net_wrk_rate"), "n": 1}]
        lines = terminal.table_of_columns({**self.group, "paired": False}, compare.Results(rows), ["base"],
                                          documents.Published())
        self.assertEqual(lines[1].split(), ["requests/s", "IPC"])

    def test_the_first_line_of_the_page_says_on_how_many_workers(self):
        page, = catalogue.pages(["net"])
        metric = next(group for group in page.groups if group.get("n_is") == "workers")["metrics"][0]["id"]

        def heading(*workers):
            rows = [{**row("base", {0: 5}, metric), "n": n} for n in workers]
            report = type("Report", (), {"results": compare.Results(rows), "run_of_page": staticmethod(lambda page: {"cores": 2})})
            return terminal.heading(page, report)
        self.assertTrue(heading(1, 2).endswith("; measured on 1 and 2 workers, on 2 cores"))
        self.assertTrue(heading(1).endswith("; measured on 1 worker, on 2 cores"))
        other, = catalogue.pages(["switch"])
        self.assertNotIn("workers", terminal.heading(other, None))


if __name__ == "__main__":
    unittest.main()
