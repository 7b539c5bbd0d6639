"""The server http_peers for tests of this folder: starts it, asks it, reads its figures, and ends it.

Every test is called as `<name>_test.py <program http_peers>`. A tool that is not installed is a skip, with a message.
"""
import contextlib
import ctypes
import http.client
import os
import pathlib
import platform
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import zlib

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "servers"))

from exchange import exchange  # noqa: E402,F401 (the path comes first)
from with_servers import connects, free_port  # noqa: E402,F401

SKIPPED = 77   # the exit status that ctest counts as skipped
PERIOD = bytes(range(251))
MEGABYTE = (PERIOD * (2**20 // 251 + 1))[:2**20]


STATUS = re.compile(rb"HTTP/1\.1 (\d{3}) [A-Z]")


def final_statuses(answer):
    return [status for status in map(int, STATUS.findall(answer)) if status >= 200]


def pattern(size):
    """The bytes that the server sends: byte i is i % 251."""
    return (PERIOD * (size // 251 + 1))[:size]


def crc(data):
    return zlib.crc32(data)


def require(program):
    """The path of a program. Without it the test is skipped."""
    path = shutil.which(program)
    if not path:
        skip(f"{program} is not installed")
    return path


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def expect(actual, expected, context=""):
    if actual != expected:
        raise AssertionError(f"{context}: {brief(actual)}, expected {brief(expected)}")


def brief(value):
    text = repr(value)
    return text if len(text) < 2000 else f"{text[:1000]} ... {text[-1000:]}"


def run(*command, seconds=120, **options):
    """Runs a client and returns its output. An exit status other than 0 fails the test."""
    done = subprocess.run([str(word) for word in command], capture_output=True, timeout=seconds, stdin=subprocess.DEVNULL, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]}: exit status {done.returncode}\n{done.stdout[-3000:]!r}\n{done.stderr.decode(errors='replace')[-3000:]}")
    return done.stdout


def ask(port, path, method="GET", body=None, client="127.0.0.1", seconds=20, **fields):
    """(status, body, fields) of a request on a connection of its own, from the client's address."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=seconds, source_address=(client, 0))
    with contextlib.closing(connection):
        connection.request(method, path, body, {name.replace("_", "-"): value for name, value in fields.items()})
        answer = connection.getresponse()
        return answer.status, answer.read(), answer.headers


class Server:
    """A running http_peers."""

    def __init__(self, process, port, folder):
        self.process, self.port, self.folder = process, port, folder
        self.address = f"127.0.0.1:{port}"
        self.url = f"http://{self.address}"

    @property
    def pid(self):
        return self.process.pid

    def get(self, path, **options):
        return ask(self.port, path, **options)

    def metric(self, name):
        """The sum of a metric over its labels."""
        text = self.get("/metrics")[1].decode()
        return sum(float(value) for value in re.findall(rf"^{name}(?:{{[^}}]*}})? (\S+)$", text, re.M))

    def memory(self, field="VmRSS"):
        """Bytes, from the field of /proc/PID/status."""
        text = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        return int(re.search(rf"^{field}:\s+(\d+) kB$", text, re.M).group(1)) * 1024

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def end(self):
        """Ends the server as an operator does. It must drain within its time, and leave nothing."""
        if self.process.poll() is not None:
            raise AssertionError(f"the server has ended: exit status {self.process.returncode}")
        send_sigterm(self.pid)
        return self.report()

    def report(self):
        """Waits for the end of the server, and returns what it prints."""
        report = self.process.communicate(timeout=40)[0].decode().strip()
        expect(self.process.returncode, 0, f"exit status of the server ({report})")
        return report


def send_sigterm(pid):
    """ThreadSanitizer delays a signal while its thread waits by futex(2), as the main thread does. There a worker takes it."""
    if "HOCKET_SIGNAL_WORKER" not in os.environ:
        os.kill(pid, signal.SIGTERM)
        return
    worker = next(int(task.name) for task in pathlib.Path(f"/proc/{pid}/task").iterdir() if (task / "comm").read_text() == "runtime-0\n")
    tgkill = {"x86_64": 234, "aarch64": 131, "riscv64": 131}[platform.machine()]
    ctypes.CDLL(None).syscall(tgkill, pid, worker, int(signal.SIGTERM))


def fill(folder):
    (folder / "public/sub").mkdir(parents=True)
    (folder / "secret").write_text("secret")
    (folder / "public/index.html").write_text("<p>hello")
    (folder / "public/large.bin").write_bytes(MEGABYTE)
    (folder / "public/.hidden").write_text("hidden")
    (folder / "public/outside").symlink_to("../secret")


@contextlib.contextmanager
def serving(program, *options):
    """A Server, which ends with the block. The block may end it itself by end()."""
    with tempfile.TemporaryDirectory(prefix="hocket-http-") as folder:
        folder = pathlib.Path(folder)
        fill(folder)
        command = [program, str(folder / "public"), "127.0.0.1:0", *map(str, options)]
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        try:
            port = int(process.stdout.readline().decode().rpartition(":")[2])
            yield Server(process, port, folder)
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate()


def main(test):
    """Runs test(program) of a test file; AssertionErrors become its failure."""
    if len(sys.argv) != 2:
        sys.exit(f"usage: {sys.argv[0]} <program http_peers>")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))   # so that the server ends, too
    test(sys.argv[1])
