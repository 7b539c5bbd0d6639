"""The load of document 000, `wrk -t4 -c200 -d30s`, and the counts of perf stat for the server meanwhile."""
import re
import shutil

from . import counters
from .server import Failed, run_load

THREADS = 4
EVENTS = ["task-clock", "context-switches", "cpu-migrations", "page-faults", "cycles", "instructions"]
MICROSECONDS = {"us": 1, "ms": 1e3, "s": 1e6, "m": 60e6}
BYTES = {"B": 1, "KB": 2**10, "MB": 2**20, "GB": 2**30}


def is_here():
    return shutil.which("wrk") is not None


def run(port, connections, seconds, cores):
    """The output of wrk."""
    return run_load(["wrk", f"-t{min(THREADS, connections)}", f"-c{connections}", f"-d{seconds}s", f"http://127.0.0.1:{port}/"],
                    seconds, cores)


def parse(output):
    """{measure: value}: mean, deviation and maximum of the latency in us; requests a second; MB a second."""
    latency = re.search(r"Latency\s+([\d.]+)(\w+)\s+([\d.]+)(\w+)\s+([\d.]+)(\w+)", output)
    rate = re.search(r"Requests/sec:\s+([\d.]+)", output)
    transfer = re.search(r"Transfer/sec:\s+([\d.]+)([KMG]?B)", output)
    if not (latency and rate and transfer) or "Non-2xx" in output:
        raise Failed(f"unexpected output of wrk: {output.strip()[-200:]}")
    latencies = [float(latency.group(i)) * MICROSECONDS[latency.group(i + 1)] for i in (1, 3, 5)]
    return {"mean": latencies[0], "deviation": latencies[1], "max": latencies[2], "rate": float(rate.group(1)),
            "bytes": float(transfer.group(1)) * BYTES[transfer.group(2)] / 1e6}


def through(count, other):
    return count / other if count is not None and other else None


def of_server(counts, seconds):
    """The measures of perf stat; None for counts that the machine does not have."""
    clock, cycles, instructions = (counts.get(event) for event in ("task-clock", "cycles", "instructions"))
    return {"task_clock": clock, "cpus": through(clock, seconds * 1e3), "switches": counts.get("context-switches"),
            "migrations": counts.get("cpu-migrations"), "faults": counts.get("page-faults"),
            "cycles": through(cycles, 1e6), "instructions": through(instructions, 1e6), "ipc": through(instructions, cycles)}


def measured(server, connections, seconds, cores):
    if not shutil.which("perf"):
        return {**parse(run(server.port, connections, seconds, cores)), **of_server({}, 0)}
    perf = counters.Perf(EVENTS, server.pid)
    perf.start()
    output = run(server.port, connections, seconds, cores)
    counts = perf.stop()
    return {**parse(output), **of_server(counts, perf.seconds)}
