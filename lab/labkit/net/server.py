"""Starts a server, or a load, on its cores, and ends it.

Each program has a session of its own. So the kernel's autogroups share a busy core between the program and all others, not
between the program and each thread of a build. If the system allows it, the group gets a higher priority. Each program
ends if the lab ends.
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
    """A program has failed, or printed unexpected output. The message has the details."""


def alone(cores):
    """Runs in the child, between fork and exec."""
    os.sched_setaffinity(0, cores)
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    try:
        with open("/proc/self/autogroup", "w", encoding="ascii") as group:
            group.write(PRIORITY)
    except OSError:
        pass   # no autogroups here, or no right to raise the priority


class Skipped(Exception):
    """A server cannot run on this machine. The message is the reason that it printed."""


class Program:
    """A process with output that is read while it runs."""

    def __init__(self, command, cores):
        self.name = os.path.basename(command[0])
        self._errors = tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors,
                                        text=True, start_new_session=True, preexec_fn=lambda: alone(cores))
        self.pid = self.process.pid

    def line(self):
        line = self.process.stdout.readline()
        if not line:
            raise Failed(self.failure())
        return line.strip()

    def send_line(self):
        """Lets the program continue, which waits for a line."""
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
        except OSError:
            raise Failed(self.failure())

    def rest(self):
        """The rest of the output of a program that ends by itself."""
        output = self.process.stdout.read()
        if self.process.wait() != 0:
            raise Failed(self.failure())
        return output

    def failure(self):
        """The status and the last message of an ended program."""
        status = self.process.wait(SECONDS_TO_END) if self.process.poll() is None else self.process.returncode
        self._errors.seek(0)
        message = (self._errors.read().strip().splitlines() or ["no message"])[-1]
        return f"{self.name}: exit status {status}: {message[:160]}"

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
    """The output of a load of another project, which ends by itself after these seconds."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds + 30, start_new_session=True,
                          preexec_fn=lambda: alone(cores))
    if done.returncode != 0:
        raise Failed(f"{command[0]}: exit status {done.returncode}: {done.stderr.strip()[:160]}")
    return done.stdout


class Server(Program):
    def __init__(self, command, mode, workers, cores):
        super().__init__([*command, mode, str(workers)], cores)
        self.port = None   # set when the server is ready

    def wait_until_ready(self):
        line = self.line()
        if line.startswith("skip "):
            raise Skipped(line.removeprefix("skip "))
        if not line.isdecimal():
            raise Failed(f"{self.name}: not a port: {line[:80]}")
        self.port = int(line)
