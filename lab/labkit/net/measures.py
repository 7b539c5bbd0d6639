"""A run of a job of the page `net`: a server, a load, and the measures.

The server has a core for each worker, and the load has one further core. If there is none, the load shares the last core of
the server. With wrk and ab both have all cores, as in document 000.
"""
import subprocess
import threading

from .. import memory
from . import ab, clients, counters, wrk
from .server import Failed, Server, Skipped

LOAD = "net-load"
FOREIGN = {"wrk": wrk, "ab": ab}   # loads of other projects, which share all cores with the server


def cores_of_load(cores, workers):
    return cores[workers:workers + 1] or cores[-1:]


class Run:
    """Ends all programs that it has started, also after a time-out."""

    def __init__(self, job, program, cores, timeout, full):
        self._load, self._size = job.group["load"], job.size
        self._seconds = job.size.get("full_seconds" if full else "seconds")
        self._command, self._program = job.system.command, program
        self._cores = cores
        self._workers = len(cores) if self._by() in FOREIGN else job.size.get("cores", 1)
        self._connections = clients.possible_connections(self._load.get("connections", job.size["n"]))
        self._programs = []
        self._timer = threading.Timer(timeout, self._kill)

    def measures(self):
        """{measure: value}; None where the machine has no such count."""
        self._timer.start()
        try:
            if foreign := FOREIGN.get(self._by()):
                return foreign.measured(self._server(), self._connections, self._seconds, self._cores)
            return getattr(self, f"_by_{self._by()}")(self._server())
        finally:
            self._timer.cancel()
            self._timer.join()   # no thread runs while the next process is forked
            for program in reversed(self._programs):
                program.end()

    def _by(self):
        return self._load.get("by", "clients")

    def _kill(self):
        for program in self._programs:
            program.process.kill()

    def _server(self):
        cores = self._cores if self._by() in FOREIGN else self._cores[:self._workers]
        server = Server(self._command, self._load["mode"], self._workers, cores)
        self._programs.append(server)
        server.wait_until_ready()
        return server

    def _connected(self, server):
        load = clients.Load(self._program, self._load, self._connections, self._size.get("ms", 0), server,
                            cores_of_load(self._cores, self._workers))
        self._programs.append(load)
        load.wait_for("connected")
        return load

    def _by_clients(self, server):
        load = self._connected(server)
        load.send_line()
        load.wait_for("measured")
        load.send_line()
        return load.measures()

    def _by_calls(self, server):
        load = self._connected(server)
        counter = counters.of_calls(server.pid)
        counter.start()
        load.send_line()
        load.wait_for("measured")
        counts = counter.stop()   # before the connections are closed
        load.send_line()
        measures = load.measures()
        return {"calls": wrk.through(counts.get(counters.CALLS), measures["requests"]),
                "instructions": wrk.through(counts.get(counters.INSTRUCTIONS), measures["requests"])}

    def _by_idle(self, server):
        before = memory.live(server.pid)
        load = self._connected(server)
        connected = memory.live(server.pid)
        load.send_line()
        load.wait_for("answered")
        answered = memory.live(server.pid)
        load.send_line()
        load.rest()
        return {"connected": self._each(connected - before), "answered": self._each(answered - before)}

    def _each(self, mib):
        return max(0.0, mib) * memory.MIB / self._connections


def remarks(group, n):
    """A remark on a size that needs more descriptors than the limit."""
    requested = group.get("load", {}).get("connections", n)
    possible = clients.possible_connections(requested)
    if "load" not in group or possible == requested:
        return []
    return [f"{group['workload']}, n = {n:,}: {possible:,} connections, as many as the limit of descriptors allows"]


def call(job, program, cores, timeout, full=False):
    """The values of this job, {metric: value}, and the reason why it is skipped, or None. Raises Failed."""
    by = job.group["load"].get("by")
    if by in FOREIGN and not FOREIGN[by].is_here():
        return {}, f"{by} is not installed"
    try:
        measures = Run(job, program, cores, timeout, full).measures()
    except Skipped as reason:
        return {}, str(reason)
    except subprocess.TimeoutExpired as late:
        raise Failed(f"no end within {late.timeout:.0f} s")
    values = {}
    for metric in job.group["metrics"]:
        measure = metric["id"].removeprefix(job.group["workload"] + "_")
        if measure not in measures:
            raise Failed(f"no {measure}")
        values[metric["id"]] = measures[measure]
    return values, None
