"""What the figures were measured on and with."""
import os
import pathlib
import platform
import re
import subprocess

from . import builders


def first_line(command, pattern=None):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return None
    text = (done.stdout + done.stderr).strip()
    if pattern:
        found = re.search(pattern, text)
        return found.group(1) if found else None
    return text.splitlines()[0] if text else None


def read_line(path, default=""):
    try:
        return pathlib.Path(path).read_text(encoding="utf-8").strip()
    except OSError:
        return default


def cpu():
    for line in read_line("/proc/cpuinfo").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.machine()


def memory():
    found = re.search(r"MemTotal:\s+(\d+)", read_line("/proc/meminfo"))
    return f"{int(found.group(1)) / 2**20:.0f} GiB" if found else "unknown"


def compiler(build):
    cache = read_line(build / "CMakeCache.txt")
    path = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", cache, re.MULTILINE)
    flags = re.search(r"^CMAKE_CXX_FLAGS_RELEASE:\w+=(.*)$", cache, re.MULTILINE)
    version = first_line([path.group(1), "--version"]) if path else None
    return f"{version or 'unknown'}, libraries {flags.group(1) if flags else ''}, subjects -O2"


def thp():
    found = re.search(r"\[(\w+)\]", read_line("/sys/kernel/mm/transparent_hugepage/enabled"))
    return found.group(1) if found else "unknown"


AUTOGROUPS = {"0": "off", "1": "on"}   # the page `net`: a server and its load have one each


def describe(build, core):
    facts = {
        "processor": f"{cpu()}, {os.cpu_count()} cores online; every subject on core {core}, and more where a table says so",
        "memory": f"{memory()}, transparent huge pages: {thp()}",
        "kernel": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "C library": " ".join(platform.libc_ver()),
        "C++": compiler(build),
        **builders.versions(build),
        "Rust": first_line(["rustc", "--version"]),
        "wrk": first_line(["wrk", "-v"], r"wrk (\S+)"),
        "autogroups": AUTOGROUPS.get(read_line("/proc/sys/kernel/sched_autogroup_enabled")),
        "load at the start": "%.1f %.1f %.1f" % os.getloadavg(),
    }
    return {name: fact for name, fact in facts.items() if fact}
