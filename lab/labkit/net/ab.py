"""ApacheBench with kept connections, `ab -k -c 200`: the command that document 000 could not finish on e2k."""
import re
import shutil

from .server import Failed, run_load


def is_here():
    return shutil.which("ab") is not None


def parse(text):
    """{measure: value}: requests a second, the mean and two percentiles of a request in us, how many failed."""
    rate = re.search(r"^Requests per second:\s+([\d.]+)", text, re.MULTILINE)
    failed = re.search(r"^Failed requests:\s+(\d+)", text, re.MULTILINE)
    mean = re.search(r"^Time per request:\s+([\d.]+) \[ms\] \(mean\)$", text, re.MULTILINE)
    shares = dict(re.findall(r"^\s+(50|99)%\s+(\d+)", text, re.MULTILINE))
    if not (rate and failed and mean) or "50" not in shares or "99" not in shares:
        raise Failed(f"ab did not print what was expected: {text.strip()[-200:]}")
    return {"rate": float(rate.group(1)), "mean": float(mean.group(1)) * 1e3, "p50": float(shares["50"]) * 1e3,
            "p99": float(shares["99"]) * 1e3, "failed": float(failed.group(1))}


def measured(server, connections, seconds, cores):
    return parse(run_load(["ab", "-k", "-q", "-c", str(connections), "-t", str(seconds), "-n", "100000000",
                           f"http://127.0.0.1:{server.port}/"], seconds, cores))
