"""Calls a subject. If the subject prints the name of a reading (memory.py), the lab takes that reading of it, and the subject
waits for a line. So the subject chooses the moment of a reading, and the lab reads."""
import collections
import os
import subprocess
import tempfile
import threading

from .memory import READINGS

Called = collections.namedtuple("Called", "status output errors readings timed_out")


def call(command, cores, timeout):
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as errors:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True,
                                   preexec_fn=lambda: os.sched_setaffinity(0, cores))
        late = threading.Event()
        timer = threading.Timer(timeout, lambda: (late.set(), process.kill()))
        timer.start()
        try:
            output, readings = listen(process)
        except BaseException:
            process.kill()
            raise
        finally:
            timer.cancel()
            timer.join()   # no thread runs while the next process is forked
        errors.seek(0)
        return Called(process.returncode, output, errors.read(), readings, late.is_set())


def listen(process):
    lines, readings = [], {}
    with process:
        for line in process.stdout:
            reading = READINGS.get(line.strip())
            if not reading:
                lines.append(line)
                continue
            try:
                readings[line.strip()] = reading(process.pid)
                process.stdin.write("\n")
                process.stdin.flush()
            except OSError:
                process.kill()   # its exit status then shows that it was killed
    return "".join(lines), readings
