"""Running other programs, and the one way in which a verb gives up."""
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


class Stop(Exception):
    """A verb cannot go on; the text says why and what to do."""


def brief(command):
    words = [str(word) for word in command]
    return " ".join(words[:12] + ["..."] * (len(words) > 12))


def head_commit(root=ROOT, except_for=()):
    """The short name of HEAD, with a plus if the tree differs from it in any file but the given ones; "" without a commit."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=root, capture_output=True, text=True).stdout.strip()
    name = git("rev-parse", "--short", "--verify", "HEAD")
    differs = name and git("status", "--porcelain", "--", ".", *(f":!{path}" for path in except_for))
    return name + ("+" if differs else "")


def run(*command, env=None):
    """Runs a command in the checkout with its output on the terminal; returns its exit code."""
    return subprocess.run(command, cwd=ROOT, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL).returncode


def must(*command, env=None):
    """As run, but any exit code other than 0 ends the verb."""
    code = run(*command, env=env)
    if code != 0:
        raise Stop(f"`{brief(command)}` failed with exit code {code}")


def must_quietly(*command, log, env=None):
    """As must, but the output goes to a file under build/ and only a failure shows its end."""
    path = BUILD / log
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as out:
        code = subprocess.run(command, cwd=ROOT, env={**os.environ, **(env or {})}, stdin=subprocess.DEVNULL,
                              stdout=out, stderr=subprocess.STDOUT).returncode
    if code != 0:
        tail = "\n".join(path.read_text(errors="replace").splitlines()[-40:])
        raise Stop(f"{tail}\n`{brief(command)}` failed with exit code {code}; all of it: {path}")
