"""The servers of the page `clients` (tests/servers). They start before a run, on other cores than the programs, and end
after it."""
import contextlib
import os
import pathlib
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests/servers"))
import with_servers  # noqa: E402 (the path is set first)

# The package of each server.
PACKAGES = {"postgres": "postgresql-15", "redis": "redis-server", "mariadb": "mariadb-server-core", "https": "openssl"}


def end_with_run():
    """SIGTERM and SIGHUP interrupt a run like Ctrl-C: `measure` keeps its results, and the servers end."""
    with_servers.when_told_to_end(signal.default_int_handler)


@contextlib.contextmanager
def beside(jobs, cores):
    """Runs the servers, and passes their addresses to the programs by variables. Yields {server: reason} for missing ones.
    The programs run on the first core, the servers on the others."""
    names = sorted({job.group["server"] for job in jobs if "server" in job.group})
    missing = {}
    with contextlib.ExitStack() as stack:
        if names:
            print(f"starting servers: {', '.join(names)}", file=sys.stderr, flush=True)
        with on_cores(cores[1:] or cores):
            for name in names:
                known, reason = start(stack, name)
                os.environ.update(known)
                if reason:
                    missing[name] = reason
        yield missing


def start(stack, name):
    """(the server's variables, the reason why there are none)"""
    try:
        known = stack.enter_context(with_servers.running([name]))
    except SystemExit as problem:
        return {}, f"the server {name} has not started: {str(problem).splitlines()[0]}"
    return known, None if known else f"the server {name} is not installed: `apt-get install {PACKAGES[name]}`"


@contextlib.contextmanager
def on_cores(cores):
    """Processes started in the block run on these cores."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)
