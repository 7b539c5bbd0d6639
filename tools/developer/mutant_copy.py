"""The copy of the checkout in which mutants are planted, with a build folder of its own.

It is in build/mutants. It keeps its build folder, so that only what a mutant touches is compiled again. What a run leaves
behind (interrupted, or with a mutant planted), the next run repairs.
"""
import contextlib
import os
import pathlib
import shutil
import subprocess

from check.tree import tracked_or_new

from .shell import Stop

PRESET = "dev"
CASE_SECONDS = 40  # after which a test case ends its program and says its name (tests/support/deadline.cpp)
PROGRAM_SECONDS = 60


def programs(build):
    return {path.name: str(path) for path in build.rglob("*") if path.is_file() and os.access(path, os.X_OK)}


def only(test):
    """doctest parts its filters at commas; a question mark stands for any character."""
    return f"--test-case={test.replace(',', '?')}"


class Copy:
    def __init__(self, root, folder):
        self.root = root
        self.tree = folder / "tree"
        self.logs = folder / "logs"
        self.build_folder = self.tree / "build" / PRESET
        self.tree.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(parents=True, exist_ok=True)
        # The copy is no part of the checkout's repository: git looks no further up than here. The compiler's cache is
        # read and not written: what a run leaves there that ended while a source changed would be found by all others.
        self.environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder), "CCACHE_READONLY": "1",
                            "HOCKET_TEST_DEADLINE": str(CASE_SECONDS)}

    def synchronise(self):
        """Writes only what differs: what is the same is not compiled again."""
        listed = set(tracked_or_new(self.root))
        for path in listed:
            ours, theirs = self.root / path, self.tree / path
            if not theirs.is_file() or theirs.read_bytes() != ours.read_bytes():
                theirs.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ours, theirs)
        for folder, folders, files in os.walk(self.tree):
            if pathlib.Path(folder) == self.tree and "build" in folders:
                folders.remove("build")
            for file in files:
                path = pathlib.Path(folder) / file
                if str(path.relative_to(self.tree)) not in listed:
                    path.unlink()

    def run(self, *command, log, seconds=None):
        """The exit code; None: it did not end in time. The output goes to a file."""
        with (self.logs / log).open("w") as out:
            try:
                return subprocess.run(command, cwd=self.tree, env=self.environment, stdin=subprocess.DEVNULL,
                                      stdout=out, stderr=subprocess.STDOUT, timeout=seconds).returncode
            except subprocess.TimeoutExpired:
                return None

    def configure(self):
        if self.run("cmake", "--preset", PRESET, "-DHOCKET_TEST_HOUSE=OFF", log="configure.log") != 0:
            raise Stop(f"the copy cannot be configured: {self.logs / 'configure.log'}")

    def build(self, target, log):
        return self.run("cmake", "--build", str(self.build_folder), "-j", str(os.cpu_count()), "--target", target,
                        log=log) == 0

    def test(self, mutant, log):
        """The exit code of the mutant's test; None: it hung."""
        return self.run(programs(self.build_folder)[mutant.target], only(mutant.test), log=log, seconds=PROGRAM_SECONDS)

    @contextlib.contextmanager
    def fault(self, texts):
        """Writes the texts, by path, and in the end the former ones again."""
        former = {path: (self.tree / path).read_bytes() for path in texts}
        try:
            for path, text in texts.items():
                (self.tree / path).write_text(text)
            yield
        finally:
            for path, content in former.items():
                (self.tree / path).write_bytes(content)
