"""./dev fresh: runs setup, tests and the lab in a clone of HEAD on a bare Debian, as on a machine that has never seen hocket.

The root is build/fresh/root, the logs of the steps are build/fresh/*.log. Nothing is left outside of build/.
"""
import contextlib
import fcntl
import shlex
import subprocess
import threading
import time

from . import install
from .bare_root import CLONE, BareRoot, requirements_unmet
from .fresh_report import Findings, compare, read, read_list, remove_results
from .shell import BUILD, ROOT, Stop

FOLDER = BUILD / "fresh"
LIST = "tests/fresh/skipped.txt"
SECONDS_PER_LINE = 30
WIDTH = 110
KINDS = {"setup": ("package",), "test": ("test", "build"), "lab": ("lab",)}   # first words of the skips of a step


def add_arguments(parser):
    parser.add_argument("--keep", action="store_true", help="use the root of the last run again, if there is one")
    parser.add_argument("--only", metavar="A,B", help="setup and these test programs alone")


def steps_of(only):
    """{step: command}"""
    test = ["./dev", "test", *(["--only", only] if only else [])]
    steps = {"setup": ["./dev", "setup"], "test": test}
    return steps if only else {**steps, "lab": ["./dev", "lab", "--smoke", "--page", "all"]}


@contextlib.contextmanager
def exclusive():
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise Stop("another ./dev fresh runs in this checkout") from None
        yield


class Progress:
    """Prints the newest line of a step every half minute, with the seconds since its start."""

    def __init__(self, step):
        self.step, self.start, self.line = step, time.monotonic(), ""
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)

    def seconds(self):
        return time.monotonic() - self.start

    def run(self):
        while not self.ended.wait(SECONDS_PER_LINE):
            print(f"  {self.step} {self.seconds():6.0f} s  {self.line[:WIDTH]}", flush=True)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.thread.join()


def run_step(bare, name, command, redact):
    """(seconds, exit code). The output goes to the step's log."""
    print(f"== {name}: {shlex.join(command)}", flush=True)
    with Progress(name) as progress, (FOLDER / f"{name}.log").open("w") as log:
        child = subprocess.Popen(bare.command(*command), env=bare.environment(), cwd=ROOT, stdin=subprocess.DEVNULL,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        try:
            for line in child.stdout:
                line = redact(line)
                log.write(line)
                log.flush()
                progress.line = line.strip() or progress.line
            return progress.seconds(), child.wait()
        finally:
            child.kill()   # and with it every process of its namespace
            child.wait()


def prepare(bare, keep):
    """The root with the machine's settings and a clone of HEAD. Seconds."""
    start = time.monotonic()
    again = keep and bare.ready.exists()
    print(f"== root: {'that of the last run' if again else 'a bare Debian by mmdebstrap'}", flush=True)
    if not again:
        bare.create()
    bare.copy_settings()
    bare.clone()
    remove_results(bare.tree())
    return time.monotonic() - start


def run_steps(bare, steps, redact):
    """Rows (step, seconds, result). Without setup nothing else can run; all else runs also after a failure."""
    rows = []
    for name, command in steps.items():
        seconds, code = run_step(bare, name, command, redact)
        rows.append((name, seconds, "passed" if code == 0 else f"FAILED ({code})"))
        if name == "setup" and code != 0:
            break
    return rows


def print_list(title, lines):
    if lines := list(lines):
        print(f"\n{title}")
        print("\n".join(f"  {line}" for line in lines))


def report(rows, findings, differences, redact):
    missing = [f"{where}: {file}, of the package {package or '(unknown)'}" for where, file, package in findings.missing]
    print_list("skipped:", [redact(f"{name} | {reason}") for name, reason in findings.skips])
    print_list("failed:", findings.failed)
    print_list("missing files:", map(redact, missing))
    print_list(f"differences from {LIST}:", map(redact, differences))
    print(f"\n{'step':10} {'seconds':>8}  result")
    for name, seconds, result in rows:
        print(f"{name:10} {seconds:8.0f}  {result}")
    print(f"logs: {FOLDER.relative_to(ROOT)}/*.log; the clone: {FOLDER.relative_to(ROOT)}/root{CLONE}", flush=True)


def start_root(keep):
    """(the root, what hides names of hosts, seconds)"""
    install.ensure_packages("fresh")
    if reason := requirements_unmet():
        raise Stop(reason)
    bare = BareRoot(FOLDER)
    try:
        seconds = prepare(bare, keep)
    except Stop as reason:
        raise Stop(bare.redactor()(str(reason))) from None
    return bare, bare.redactor(), seconds


def run(only=None, keep=False):
    with exclusive():
        bare, redact, seconds = start_root(keep)
        rows = [("root", seconds, "passed"), *run_steps(bare, steps_of(only), redact)]
        done = [name for name, _, _ in rows[1:]]
        findings = Findings(FOLDER, bare.tree(), done)
        kinds = [kind for name in done for kind in KINDS[name] if not only or name == "setup"]
        differences = compare(findings.skips, read_list(read(ROOT / LIST)), kinds)
        report(rows, findings, differences, redact)
        passed = all(result == "passed" for _, _, result in rows)
        return 0 if passed and not differences else 1


def why_impossible():
    """Why this machine cannot make a bare root; None: it can."""
    if not install.forbidden():
        install.ensure_packages("fresh")
    return requirements_unmet()


def main(options):
    return run(options.only, options.keep)
