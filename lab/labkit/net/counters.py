"""Counts of a process over a time, by perf stat; system calls by strace if perf is not available.

A count that the machine or its kernel does not have is None. perf costs the process almost nothing. strace slows it so much
that its batches become larger, so the calls of a request become slightly fewer.
"""
import os
import re
import shutil
import signal
import subprocess
import time

SECONDS = 10   # the time limit of an answer of perf or strace


class Perf:
    """Counts these events of a process between start() and stop(): {event: count or None}."""

    def __init__(self, events, pid):
        self._events = events
        self._orders, orders = os.pipe()
        answers, self._answers = os.pipe()
        self._process = subprocess.Popen(
            ["perf", "stat", "-x", ";", "-D", "-1", "--control", f"fd:{self._orders},{self._answers}", "-p", str(pid),
             "-e", ",".join(events)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
            pass_fds=(self._orders, self._answers), env={**os.environ, "LC_ALL": "C"})
        os.close(self._orders)
        os.close(self._answers)
        self._to, self._from = open(orders, "w", encoding="ascii"), open(answers, "r", encoding="ascii")

    def _order(self, word):
        try:
            self._to.write(word + "\n")
            self._to.flush()
            self._from.readline()   # "ack", or nothing if it has ended
        except OSError:
            pass

    def start(self):
        self._order("enable")
        self._began = time.monotonic()

    def stop(self):
        self.seconds = time.monotonic() - self._began
        self._order("disable")
        self._process.send_signal(signal.SIGINT)
        output = self._process.communicate(timeout=SECONDS)[1]
        self._to.close()
        self._from.close()
        return {event: count_of(event, output) for event in self._events}


def count_of(event, output):
    """From lines such as `29;;raw_syscalls:sys_enter;1326694;100.00;;`, or `<not supported>;;cycles;0;100.00;;`."""
    for line in output.splitlines():
        fields = line.split(";")
        if len(fields) > 2 and re.sub(r":[ukhH]+$", "", fields[2]) == event:
            return float(fields[0]) if re.fullmatch(r"[\d.]+", fields[0]) else None
    return None


class Strace:
    """Counts the system calls of a process between start() and stop()."""

    def __init__(self, pid):
        self._process = subprocess.Popen(["strace", "-c", "-f", "-q", "-p", str(pid)], stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, text=True)
        self._pid = pid

    def start(self):
        """Waits until it traces the process."""
        until = time.monotonic() + SECONDS
        while "TracerPid:\t0\n" in status(self._pid) and time.monotonic() < until:
            time.sleep(0.01)

    def stop(self):
        self._process.send_signal(signal.SIGINT)
        return {CALLS: total_of(self._process.communicate(timeout=SECONDS)[1])}


def status(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as lines:
        return lines.read()


def total_of(output):
    """The number of calls in the last line of strace -c: `100.00  0.012  3  4123  17 total`."""
    found = re.search(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?total$", output, re.MULTILINE)
    return float(found.group(1)) if found else None


CALLS = "raw_syscalls:sys_enter"
INSTRUCTIONS = "instructions"


def can_perf_count(event):
    if not shutil.which("perf"):
        return False
    done = subprocess.run(["perf", "stat", "-x", ";", "-e", event, "true"], capture_output=True, text=True,
                          env={**os.environ, "LC_ALL": "C"})
    return done.returncode == 0 and count_of(event, done.stderr) is not None


class Nothing:
    def start(self):
        pass

    def stop(self):
        return {}


def of_calls(pid):
    """The instrument that counts the calls and instructions of this process here."""
    if can_perf_count(CALLS):
        return Perf([CALLS, INSTRUCTIONS], pid)
    return Strace(pid) if shutil.which("strace") else Nothing()
