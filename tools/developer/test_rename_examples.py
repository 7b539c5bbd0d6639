"""Public names and headers are renamed in a copy of the tree. The examples of today compile after --table, and not before."""
import concurrent.futures
import contextlib
import io
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from developer import rename, rename_table  # noqa: E402 (the path comes first)

FOLDERS = ["include", "ext/gc", "docs/headers.md", "docs/renames.tsv", "examples"]
RENAMES = [
    "channel conduit --name",
    "wait_source wait_origin",
    "when_all all_results",
    "read_line receive_line --record member",
    "stack_size size_of_stack --record field",
    "workers worker_count --field --declared include/hocket/runtime/runtime.hpp "
    "--declared include/hocket/runtime/detail/runtime_options.hpp",
    "--header hocket/sync/channel.hpp hocket/sync/conduit.hpp",
    "--header hocket/stackless.hpp hocket/without_fibers.hpp",
    "all_results every_result",  # a second change of one name
]
PROGRAMS = ["examples/turnstile.cpp", "examples/word_count.cpp", "examples/gather.cpp", "examples/chat.cpp",
            "examples/rpc/main.cpp"]
COMPILER = os.environ.get("CXX", "g++")


def call(*arguments, root=ROOT):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        rename.main(list(arguments), root)
    return out.getvalue()


def compiles(program, include):
    command = [COMPILER, "-std=c++20", "-fsyntax-only", "-DHOCKET_CHECKS=1", "-DHOCKET_CONFORMING=0", f"-I{include}", program]
    return subprocess.run(command, capture_output=True, text=True)


class Examples(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "tree"
        self.outside = pathlib.Path(scratch.name) / "programs"
        for path in FOLDERS:
            target = self.root / path
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (ROOT / path).is_dir() else shutil.copy)(ROOT / path, target)
        (self.root / rename_table.PATH).write_text(rename_table.HEAD)
        shutil.copytree(ROOT / "examples", self.outside / "examples")
        for command in (["init", "-q", "."], ["add", "-A"]):
            subprocess.run(["git", *command], cwd=self.root, check=True)

    def outcomes(self, folder, programs):
        with concurrent.futures.ThreadPoolExecutor(2) as workers:
            return list(workers.map(lambda program: compiles(folder / program, self.root / "include"), programs))

    def test_the_table_makes_the_examples_of_today_compile(self):
        if not shutil.which(COMPILER):
            self.skipTest(f"{COMPILER} is not installed")
        for line in RENAMES:
            call(*line.split(), root=self.root)
        self.assertEqual(len(rename_table.read(self.root / rename_table.PATH)), len(RENAMES) + 1)  # unsync::channel
        self.assertNotEqual(0, self.outcomes(self.outside, ["examples/word_count.cpp"])[0].returncode, "without the table")
        report = call("--table", str(self.outside), root=self.root)
        for program in PROGRAMS:
            self.assertIn(program, report)
        for program, outcome in zip(PROGRAMS, self.outcomes(self.outside, PROGRAMS)):
            self.assertEqual(0, outcome.returncode, f"{program}: {outcome.stderr[:2000]}")
        self.assertEqual("", call("--table", str(self.outside), root=self.root), "a second time changes something")


if __name__ == "__main__":
    unittest.main()
