"""The servers that programs of the page `clients` ask. They are started for a run, beside the programs' core, and end
after it (tests/servers)."""
import contextlib
import os
import pathlib
import signal
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.append(str(ROOT / "tests/servers"))
import with_servers  # noqa: E402 (the path comes first)

# What brings it.
PACKAGES = {"postgres": "postgresql-15", "redis": "redis-server", "mariadb": "mariadb-server-core", "https": "openssl"}


def end_with_run():
    """A run that is told to end is interrupted, as by Ctrl-C: `measure` keeps what there is, and the servers end."""
    with_servers.when_told_to_end(signal.default_int_handler)


@contextlib.contextmanager
def beside(jobs, cores):
    """Known to the programs by variables. Gives {server: reason} of those that are not there. The programs have the first
    of the cores, and the servers the others."""
    wanted = sorted({job.group["server"] for job in jobs if "server" in job.group})
    missing = {}
    with contextlib.ExitStack() as stack:
        if wanted:
            print(f"starting servers: {', '.join(wanted)}", file=sys.stderr, flush=True)
        with on_cores(cores[1:] or cores):
            for name in wanted:
                known, reason = start(stack, name)
                os.environ.update(known)
                if reason:
                    missing[name] = reason
        yield missing


def start(stack, name):
    """(its variables, why there are none)"""
    try:
        known = stack.enter_context(with_servers.running([name]))
    except SystemExit as problem:
        return {}, f"the server {name} has not started: {str(problem).splitlines()[0]}"
    return known, None if known else f"the server {name} is not installed: `apt-get install {PACKAGES[name]}`"


@contextlib.contextmanager
def on_cores(cores):
    """Processes that are made in the block have these."""
    own = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, own)
