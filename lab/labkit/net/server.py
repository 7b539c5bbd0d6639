"""Starts a server, or a load, on its cores, and ends it.

Each has a session of its own, so the kernel's autogroups share a busy core between it and everything else on the
machine, not between it and each thread of a build. Where that is allowed, the group comes before others, too. Each ends
if the lab does.
"""
import ctypes
import os
import resource
import signal
import subprocess
import tempfile

PRIORITY = "-10"        # of the autogroup
PR_SET_PDEATHSIG = 1
SECONDS_TO_END = 5


class Failed(Exception):
    """A program did not do what it was to do; the message says what it did instead."""


def alone(cores):
    """For the child, between fork and exec."""
    os.sched_setaffinity(0, cores)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as group:
            group.write(PRIORITY)
    except OSError:
        pass   # no autogroups here, or no right to come first


class Skipped(Exception):
    """A server that this machine does not allow; the message is the reason that it gave."""


class Program:
    """A process whose output is read while it runs."""

    def __init__(self, command, cores):
        self.name = os.path.basename(command[0])
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                                        text=True, start_new_session=True, preexec_fn=lambda: alone(cores))
        self.pid = self.process.pid

    def line(self):
        said = self.process.stdout.readline()
        if not said:
            raise Failed(self.why())
        return said.strip()

    def go_on(self):
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except OSError:
            raise Failed(self.why())

    def rest(self):
        """All that it still prints; it ends by itself."""
        said = self.process.stdout.read()
        if self.process.wait() != 0:
            raise Failed(self.why())
        return said

    def why(self):
        """Why it is over."""
        status = self.process.wait(SECONDS_TO_END) if self.process.poll() is None else self.process.returncode
        self._errors.seek(0)
        said = (self._errors.read().strip().splitlines() or ["no message"])[-1]
        return f"{self.name}: exit status {status}: {said[:160]}"

    def end(self):
        self.process.terminate()
        try:
            self.process.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self._errors.close()


def run_load(command, seconds, cores):
    """What a load of others prints, which ends by itself after these seconds."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 30, start_new_session=True,
                          preexec_fn=lambda: alone(cores))
    if done.returncode != 0:
        raise Failed(f"{command[0]}: exit status {done.returncode}: {done.stderr.strip()[:160]}")
    return done.stdout


class Server(Program):
    def __init__(self, command, mode, workers, cores):
        super().__init__([*command, mode, str(workers)], cores)
        self.port = None   # once it is ready

    def wait_until_ready(self):
        said = self.line()
        if said.startswith("skip "):
            raise Skipped(said.removeprefix("skip "))
        if not said.isdecimal():
            raise Failed(f"{self.name}: not a port: {said[:80]}")
        self.port = int(said)
