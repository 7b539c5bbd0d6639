"""Runs an unknown compiler or program: it may be missing, crash, or never end."""
import collections
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

# problem: empty if the exit status was 0, else the failure in words
Attempt = collections.namedtuple("Attempt", "problem output seconds")

MAX_MESSAGE = 160   # characters
CRASHES = ("internal compiler error", "PLEASE submit a bug report", "Segmentation fault")


def first_error(text):
    """A compiler's first error message without folders of this machine, or else the last line."""
    lines = [re.sub(r"(?<![\w.])/\S*/", "", line.strip()) for line in text.splitlines() if line.strip()]
    return next((line for line in lines if re.search(r"\berror: ", line)), lines[-1] if lines else "no message")[:MAX_MESSAGE]


def ended_badly(status, text):
    if status < 0:
        return f"crashed ({signal.Signals(-status).name})"
    if any(words in text for words in CRASHES):
        return "crashed (internal error)"
    return f"failed: {first_error(text)}"


def attempt(command, limit, cwd=None, env=None):
    """Runs a command for at most `limit` seconds. Ends the whole session, because a compiler starts further processes."""
    command = [str(word) for word in command]
    if not shutil.which(command[0]):
        return Attempt(f"no {os.path.basename(command[0])}", "", 0.0)
    begin = time.monotonic()
    with tempfile.TemporaryFile("w+", encoding="utf-8", errors="replace") as output:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, cwd=cwd,
                                   env={**os.environ, **(env or {})}, start_new_session=True)
        try:
            process.wait(timeout=limit)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return Attempt(f"took longer than {limit} s", "", time.monotonic() - begin)
        seconds = time.monotonic() - begin
        output.seek(0)
        text = output.read()
    return Attempt(ended_badly(process.returncode, text) if process.returncode else "", text, seconds)
