"""Runs the subjects in turn and gathers their results.

A repetition runs every (system, size) once. The systems of one size run one after another. The next repetition begins
with another size, and each size with another system. So a temporary disturbance of the machine affects all systems alike,
and ratios hold although absolute figures move. All subjects run on one core (a group or a size may need more), and the
lab does not use that core.

In a "paired" group each repetition has a ratio, and the median of these ratios counts. The page `net` needs this: it
measures the kernel, which all other programs of the machine use, too.
"""
import collections
import itertools
import json
import math
import os
import statistics
import sys
import time

from . import net
from .process import call

Job = collections.namedtuple("Job", "system group size")

Settings = collections.namedtuple("Settings", "runs budget_ms deadline timeout")
SETTINGS = {
    "smoke": Settings(runs=1, budget_ms=1, deadline=None, timeout=30),
    "default": Settings(runs=9, budget_ms=50, deadline=200, timeout=60),
    "slice": Settings(runs=1, budget_ms=25, deadline=None, timeout=60),   # of every page
    "full": Settings(runs=3, budget_ms=60, deadline=None, timeout=600),
}

TIME_UP = "the time was up before the last repetition"   # a reason for a run that was cut short
INTERRUPTED = "it was interrupted"

FULL_PAIRS = 9           # repetitions of a paired group in a full run
BYTES_EACH = 12 * 1024   # free memory for each coroutine of a large size: three pages


def memory_available():
    with open("/proc/meminfo", encoding="ascii") as f:
        for line in f:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0


def memory_shortage(n):
    need = n * BYTES_EACH
    if n < 100000 or need < memory_available():
        return None
    return f"needs up to {need / 2**30:.0f} GiB of memory"


def cores(group, size):
    return size.get("cores", group.get("cores", 1))


def runs_of(group, mode, requested=None):
    """The number of repetitions of a group. Pairs of a full run need more; some groups need fewer."""
    runs = requested or (FULL_PAIRS if mode == "full" and group.get("paired") else SETTINGS[mode].runs)
    return min(runs, group.get("runs", runs))


def in_turn(jobs, run, runs):
    """The order of a repetition: jobs of one table and size are adjacent, and begin with another job each time."""
    blocks = [list(block) for _, block in itertools.groupby(jobs, lambda job: (id(job.group), job.size["n"]))]
    shift = run * max(1, len(blocks) // max(1, runs))
    blocks = blocks[shift % max(1, len(blocks)):] + blocks[:shift % max(1, len(blocks))]
    return [job for block in blocks for job in (*block[run % len(block):], *block[:run % len(block)])]


class Malformed(Exception):
    pass


def parse(text, readings, system, group, n, all_metrics=True):
    """({workload: value}, None): the values that a subject printed, and its readings; or ({}, reason), if it skips this size.
    Without `all_metrics` it may print other metrics, as a subject of another commit does."""
    units = {metric["id"]: metric["unit"] for metric in group["metrics"]}
    values = {name: value for name, value in readings.items() if name in units}
    if len(values) != len(readings):
        raise Malformed(f"unexpected reading: {', '.join(readings.keys() - units.keys())}")
    for line in text.splitlines():
        try:
            result = json.loads(line)
        except ValueError:
            raise Malformed(f"not JSON: {line[:80]}")
        if not isinstance(result, dict) or result.get("system") != system or result.get("n") != n:
            raise Malformed(f"not about {system}, n = {n}: {line[:120]}")
        if "skip" in result:
            return {}, str(result["skip"])
        workload, value = result.get("workload"), result.get("value")
        number = isinstance(value, (int, float)) and not isinstance(value, bool)
        if workload not in units and not all_metrics:
            continue
        if workload not in units or workload in values or result.get("unit") != units[workload]:
            raise Malformed(f"unexpected workload or unit: {line[:120]}")
        if not number or not math.isfinite(value) or value < 0:
            raise Malformed(f"not a duration or size: {line[:120]}")
        values[workload] = float(value)
    lacking = [metric["id"] for metric in group["metrics"] if metric["id"] not in values and n >= metric.get("from_n", 0)]
    if lacking and all_metrics:
        raise Malformed(f"no result for {', '.join(lacking)}")
    return values, None


class Measurement:
    """All runs of some pages."""

    def __init__(self, pages, systems, mode, runs=None):
        self.pages = pages
        self.mode = mode
        self.settings = SETTINGS[mode]
        self.requested_runs = runs
        self.runs = max((runs_of(group, mode, runs) for page in pages for group in page.groups), default=1)
        self.deadline = None if runs or not self.settings.deadline else max(
            self.settings.deadline, *(page.seconds for page in pages), 0)
        self.cores = sorted(os.sched_getaffinity(0), reverse=True)
        self.net_load = None                          # the program that loads the servers of the page `net`
        self.values = collections.defaultdict(dict)   # (metric, system, n) -> {run: value}
        self.absent = set()                           # (metric, system, n) that this machine cannot count
        self.skipped = {}                             # (system, workload, n) -> reason
        self.failed = {}                              # (system, workload, n) -> reason
        self.remarks = []                             # measurements with fewer connections than requested
        self.jobs = self._plan(systems, mode)
        self.cut_short = None                         # the reason for missing repetitions

    def _plan(self, systems, mode):
        jobs = []
        for page in self.pages:
            for group in page.groups:
                for size in page.sizes(group, mode):
                    self.remarks += net.remarks(group, size["n"])
                    for system in systems:
                        if group["workload"] not in system.workloads or not system.command:
                            continue
                        reason = (system.refuses(size["n"], mode == "full") or memory_shortage(size["n"])
                                  or self._core_shortage(cores(group, size)))
                        if reason:
                            self.skipped[system.id, group["workload"], size["n"]] = reason
                        else:
                            jobs.append(Job(system, group, size))
        return jobs

    def _core_shortage(self, count):
        return None if count <= len(self.cores) else f"needs {count} cores"

    def leave_out(self, missing):
        """Skips the programs that need these servers, {server: reason}."""
        for job in self.jobs:
            if reason := missing.get(job.group.get("server")):
                self.skipped[job.system.id, job.group["workload"], job.size["n"]] = reason

    def run(self):
        """Returns the duration in seconds. An interrupted run keeps its results."""
        begin = time.monotonic()
        progress = Progress(len(self.jobs), self.runs)
        try:
            self._repeat(begin, progress)
        except KeyboardInterrupt:
            self.cut_short = INTERRUPTED
        progress.end()
        return time.monotonic() - begin

    def _repeat(self, begin, progress):
        last = 0.0
        for run in range(self.runs):
            started = time.monotonic()
            if self.deadline and run and started - begin + last > self.deadline:
                self.cut_short = TIME_UP
                return
            for i, job in enumerate(in_turn(self.jobs, run, self.runs)):
                if run >= runs_of(job.group, self.mode, self.requested_runs):
                    continue
                if self.deadline and run and time.monotonic() - begin > self.deadline:
                    self.cut_short = TIME_UP
                    return
                progress.show(run, i, job, time.monotonic() - begin)
                self._run_job(job, run)
            last = time.monotonic() - started

    def _run_job(self, job, run=0):
        key = (job.system.id, job.group["workload"], job.size["n"])
        if key in self.failed or key in self.skipped:
            return
        try:
            values, reason = self.call(job)
        except (Malformed, net.Failed, OSError) as problem:
            self.failed[key] = str(problem)
            return
        if reason:
            self.skipped[key] = reason
        for metric, value in values.items():
            cell = (metric, job.system.id, job.size["n"])
            if value is None:
                self.absent.add(cell)
            else:
                self.values[cell][run] = value

    def call(self, job, all_metrics=True):
        """Runs a program. Returns its values, and the reason why it skips this size, or None. A value that this machine
        cannot count is None."""
        if "load" in job.group:
            return net.call(job, self.net_load, self.cores, self.settings.timeout, self.mode == "full")
        command = [*job.system.command, job.group["workload"], str(job.size["n"]), str(job.size["stack"]),
                   str(self.settings.budget_ms), *([str(job.size["count"])] if "count" in job.size else [])]
        done = call(command, self.cores[:cores(job.group, job.size)], self.settings.timeout)
        if done.timed_out:
            raise Malformed(f"no end within {self.settings.timeout} s")
        if done.status != 0:
            message = (done.errors.strip().splitlines() or ["no message"])[-1]
            raise Malformed(f"exit status {done.status}: {message[:160]}")
        return parse(done.output, done.readings, job.system.id, job.group, job.size["n"], all_metrics)

    def results(self):
        """The rows of report.json, in the order of the pages, their metrics and the systems."""
        return [self._row(page, group, metric, system, n, values)
                for page in self.pages for group, metric in page.metrics()
                for (measured, system, n), values in self.values.items() if measured == metric["id"]]

    @staticmethod
    def _row(page, group, metric, system, n, by_run):
        values = by_run.values()
        row = {"page": page.name, "workload": metric["id"], "system": system, "n": n, "unit": metric["unit"],
               "median": round(statistics.median(values), 3), "min": round(min(values), 3),
               "max": round(max(values), 3), "runs": len(values)}
        if group.get("paired"):
            row["by_run"] = {str(run): round(value, 4) for run, value in by_run.items()}
        return row


class Progress:
    """A line that is overwritten; if the output is no terminal, a line for each repetition."""

    def __init__(self, jobs, runs):
        self.jobs, self.runs = jobs, runs
        self.live = sys.stderr.isatty()

    def show(self, run, i, job, seconds):
        if self.live:
            text = f"run {run + 1}/{self.runs}  {i + 1:>3}/{self.jobs}  {seconds:4.0f} s  {job.system.id} n={job.size['n']}"
            print(f"\r{text:<78}", end="", file=sys.stderr, flush=True)
        elif i == 0:
            print(f"run {run + 1}/{self.runs}, {self.jobs} programs, {seconds:.0f} s so far", file=sys.stderr, flush=True)

    def end(self):
        if self.live:
            print("\r" + " " * 78 + "\r", end="", file=sys.stderr, flush=True)
