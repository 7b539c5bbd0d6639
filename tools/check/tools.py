"""Programs that rules run: where they are, and running many at a time."""
import concurrent.futures
import os
import pathlib
import shutil
import subprocess

VENV = pathlib.Path(__file__).resolve().parents[2] / ".venv/bin"


class Unavailable(Exception):
    """A rule cannot be checked here; the text names what is missing."""


def find(name):
    """A tool at its pinned version, from .venv."""
    program = VENV / name
    if not program.exists():
        raise Unavailable(f"{name} is not installed (./dev setup)")
    return str(program)


def compilers():
    found = [name for name in ("g++", "clang++-19") if shutil.which(name)]
    if not found:
        raise Unavailable("no C++ compiler is installed (./dev setup)")
    return found


def output(command, stdin=""):
    """(exit code, all output)"""
    done = subprocess.run(command, input=stdin, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def in_parallel(function, items):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(function, items))
