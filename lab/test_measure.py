"""How the lab measures: its subjects' processes, what they print, and the plan of a run."""
import mmap
import os
import pathlib
import subprocess
import sys
import time
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import catalogue, measure, process  # noqa: E402 (the path is set first)

CORES = [max(os.sched_getaffinity(0))]
GROUP = {"metrics": [{"id": "live", "unit": "MiB"}, {"id": "peak", "unit": "MiB"}]}


def child(body):
    return process.call([sys.executable, "-c", "import mmap, threading\n" + body], CORES, timeout=60)


def reading(body):
    called = child(body + "\nprint('live', flush=True)\ninput()\nprint('peak', flush=True)\ninput()")
    assert called.status == 0, called.errors
    return called.readings


class Memory(unittest.TestCase):
    nothing = reading("pass")

    def grown(self, body):
        after = reading(body)
        return {name: after[name] - value for name, value in self.nothing.items()}

    def test_what_was_touched_is_counted(self):
        grown = self.grown("b = bytearray(b'x') * (64 << 20)")
        self.assertAlmostEqual(grown["live"], 64, delta=3)

    def test_what_was_only_reserved_is_not(self):
        grown = self.grown(f"m = mmap.mmap(-1, 64 << 20, flags={mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS})")
        self.assertLess(grown["live"], 3)

    def test_page_tables_are_counted(self):
        body = f"""m = mmap.mmap(-1, 1 << 30, flags={mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS})
m.madvise(mmap.MADV_NOHUGEPAGE)
for at in range(0, 1 << 30, 2 << 20): m[at] = 1"""
        self.assertAlmostEqual(self.grown(body)["live"], 512 * (4 + 4) / 1024, delta=2)   # a page and a table of pages

    def test_what_is_gone_is_in_the_peak_alone(self):
        body = f"""m = mmap.mmap(-1, 64 << 20, flags={mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS})
m.write(b'x' * (64 << 20))
m.close()"""
        grown = self.grown(body)
        self.assertLess(grown["live"], 8)
        self.assertGreater(grown["peak"], 60)


class Calls(unittest.TestCase):
    def test_a_subject_that_dies_is_known(self):
        called = child("print('live', flush=True)\nraise SystemExit('no more')")
        self.assertEqual(called.status, 1)
        self.assertIn("no more", called.errors)

    def test_a_subject_that_hangs_ends(self):
        called = process.call([sys.executable, "-c", "input()"], CORES, timeout=0.5)
        self.assertTrue(called.timed_out)

    def test_an_unexpected_reading_is_refused(self):
        text = '{"system": "x", "n": 1, "workload": "live", "unit": "MiB", "value": 1}\n'
        self.assertEqual(measure.parse("", {"live": 1.0, "peak": 2.0}, "x", GROUP, 1), ({"live": 1.0, "peak": 2.0}, None))
        for readings, printed in (({"live": 1.0}, ""), ({"live": 1.0, "peak": 2.0, "other": 3.0}, ""),
                                  ({"live": 1.0, "peak": 2.0}, text)):
            with self.assertRaises(measure.Malformed):
                measure.parse(printed, readings, "x", GROUP, 1)


class Lines(unittest.TestCase):
    group = {"metrics": [{"id": "a", "unit": "ns"}, {"id": "b", "unit": "ns", "from_n": 100}]}

    def parsed(self, n, *workloads):
        lines = (f'{{"system": "x", "n": {n}, "workload": "{w}", "unit": "ns", "value": 1}}\n' for w in workloads)
        return measure.parse("".join(lines), {}, "x", self.group, n)[0]

    def test_a_metric_may_begin_at_a_size(self):
        self.assertEqual(self.parsed(1, "a"), {"a": 1.0})
        self.assertEqual(self.parsed(100, "a", "b"), {"a": 1.0, "b": 1.0})
        with self.assertRaises(measure.Malformed):
            self.parsed(100, "a")


class Plan(unittest.TestCase):
    def command_and_cores(self, size, group):
        measurement = measure.Measurement([], [], "smoke")
        measurement.cores = [3, 2, 1]
        seen, real = [], measure.call
        measure.call = lambda command, cores, timeout: seen.append((command, cores)) or process.Called(1, "", "", {}, False)
        try:
            system = type("System", (), {"id": "x", "command": ["subject"]})
            measurement._run_job(measure.Job(system, {"workload": "w", **group}, size))
        finally:
            measure.call = real
        return seen[0]

    def test_a_count_is_the_last_argument(self):
        command, _ = self.command_and_cores({"n": 2, "stack": 4096, "count": 35}, {})
        self.assertEqual(command, ["subject", "w", "2", "4096", "1", "35"])
        self.assertEqual(len(self.command_and_cores({"n": 2, "stack": 4096}, {})[0]), 5)

    def test_a_size_may_have_more_cores_than_its_group(self):
        for size, group, cores in (({}, {}, [3]), ({"cores": 2}, {}, [3, 2]), ({}, {"cores": 2}, [3, 2]),
                                   ({"cores": 1}, {"cores": 2}, [3])):
            self.assertEqual(self.command_and_cores({"n": 1, "stack": 1, **size}, group)[1], cores)


def system_of(*workloads):
    system = catalogue.System({"id": "x", "kind": "floor", "what": "", "workloads": workloads}, catalogue.LAB)
    system.command = ["subject"]
    return system


class Scaling(unittest.TestCase):
    """A page takes as many workers as the machine has cores for."""
    group = {"workload": "w", "scales": True, "sizes": [{"n": 1, "count": 5, "cores": 1}, {"n": 2, "count": 5, "cores": 2}], "smoke": []}

    def sizes(self, cores, group):
        with unittest.mock.patch("os.sched_getaffinity", lambda _: set(range(cores))):
            page = catalogue.Page("p", {"title": "", "about": "", "groups": [group]})
            return [(size["n"], size["cores"], size["count"]) for size in page.sizes(group, "default")]

    def test_it_has_a_size_for_each_number_of_workers_that_has_cores(self):
        small = [(1, 1, 5), (2, 2, 5)]
        self.assertEqual(self.sizes(2, self.group), small)
        self.assertEqual(self.sizes(16, self.group), [*small, (4, 4, 5), (8, 8, 5), (16, 16, 5)])
        self.assertEqual(self.sizes(48, self.group)[-1], (32, 32, 5))
        self.assertEqual(self.sizes(48, {**self.group, "scales": False}), small)

    def test_on_one_core_what_needs_more_is_skipped_by_name(self):
        with unittest.mock.patch("os.sched_getaffinity", lambda _: {0}):
            system = system_of("w")
            page = catalogue.Page("p", {"title": "", "about": "", "groups": [{**self.group, "metrics": [{"id": "w", "unit": "ns"}]}]})
            plan = measure.Measurement([page], [system], "default")
        self.assertEqual([job.size["n"] for job in plan.jobs], [1])
        self.assertEqual(plan.skipped, {("x", "w", 2): "needs 2 cores"})


def command_of(pid):
    try:
        return pathlib.Path("/proc", pid, "cmdline").read_text(errors="replace")
    except OSError:
        return ""


class Interrupted(unittest.TestCase):
    def test_what_was_measured_before_is_kept(self):
        page = catalogue.Page("p", {"title": "", "about": "", "groups": [
            {"workload": "w", "sizes": [{"n": 1, "stack": 1}, {"n": 2, "stack": 1}], "metrics": [{"id": "w", "unit": "ns"}]}]})
        plan = measure.Measurement([page], [system_of("w")], "default", runs=3)
        results = iter([({"w": 5.0}, None)])

        def call(job, all_metrics=True):
            try:
                return next(results)
            except StopIteration:
                raise KeyboardInterrupt from None
        plan.call = call
        plan.run()
        self.assertEqual([(row["n"], row["median"], row["runs"]) for row in plan.results()], [(1, 5.0, 1)])
        self.assertEqual(plan.cut_short, measure.INTERRUPTED)

    def test_its_subject_ends_with_it(self):
        marker = f"no_end_{os.getpid()}"
        lab = ("import os, signal, sys, threading\nfrom labkit import process\n"
               "signal.signal(signal.SIGALRM, signal.default_int_handler)\nsignal.setitimer(signal.ITIMER_REAL, 1.0)\n"
               f"process.call([sys.executable, '-c', 'input() # {marker}'], {CORES}, 600)")
        done = subprocess.run([sys.executable, "-c", lab], cwd=catalogue.LAB, capture_output=True, text=True, timeout=60)
        self.assertIn("KeyboardInterrupt", done.stderr)
        end = time.monotonic() + 20   # it has been killed, or reads the end of its input
        while running := [pid for pid in os.listdir("/proc") if pid.isdigit() and marker in command_of(pid)]:
            self.assertLess(time.monotonic(), end, running)


if __name__ == "__main__":
    unittest.main()
