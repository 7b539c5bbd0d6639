"""./dev mutants judges planted mutants of a small project as they are: killed, alive, or no good."""
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from developer import mutants  # noqa: E402 (the path comes first)
from developer.shell import Stop  # noqa: E402

# A program that is asked for its tests as one of doctest's is.
PROGRAM = r"""
#include <cstdio>
#include <cstring>
int sum(int a, int b);
int main(int, char** arguments) {
  const bool counts = std::strcmp(arguments[1], "--count") == 0;
  if (counts && std::strcmp(arguments[3], "--source-file=*") != 0 && std::strcmp(arguments[3], "--source-file=*sum_test.*") != 0)
    return std::puts("[doctest] unskipped test cases passing the current filters: 0"), 0;
  const bool adds = std::strcmp(arguments[counts + 1], "--test-case=it adds? and well") == 0;
  const bool fails = std::strcmp(arguments[counts + 1], "--test-case=it fails") == 0;
  if (counts)
    return std::printf("[doctest] unskipped test cases passing the current filters: %d\n", adds || fails), 0;
  std::printf("[doctest] test cases: %d | ...\n", adds || fails);
  return fails || (adds && sum(2, 3) != 5);
}
"""
PROJECT = {
    "CMakeLists.txt": "cmake_minimum_required(VERSION 3.25)\nproject(small CXX)\nadd_executable(small t.cpp src/sum.cpp)\n",
    "CMakePresets.json": json.dumps({"version": 6, "configurePresets": [{
        "name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev",
        "cacheVariables": {"HOCKET_TEST_HOUSE": "ON"}}]}),
    "t.cpp": PROGRAM,
    "src/sum.cpp": "int sum(int a, int b) { return a + b; }\n",
    ".gitignore": "/build/\n",
}


def patch(line, old="int sum(int a, int b) { return a + b; }", test="it adds, and well", path="src/sum.cpp"):
    return (f"# target: small\n# test: {test}\n# why: it is a test\n"
            f"--- a/{path}\n+++ b/{path}\n@@ -1 +1 @@\n-{old}\n+{line}\n")


class Small(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for path, text in PROJECT.items():
            self.write(path, text)
        subprocess.run(["git", "init", "-q", "."], cwd=self.root, check=True)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def plant(self, **patches):
        for name, text in patches.items():
            self.write(f"{mutants.FOLDER}/{name}.patch", text)

    def run_all(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = mutants.run(mutants.read_all(self.root), self.root, self.root / "build/mutants")
        rows = {}
        for line in out.getvalue().splitlines():
            if line.endswith("]"):
                _, _, name, *verdict = line.partition("  [")[0].split()
                rows[name] = " ".join(verdict)
        return code, rows

    def test_each_mutant_is_judged_by_name(self):
        self.plant(subtracts=patch("int sum(int a, int b) { return a - b; }"),
                   swaps=patch("int sum(int a, int b) { return b + a; }"),
                   stale=patch("int sum(int a, int b) { return 0; }", old="int add(int a, int b) { return a + b; }"),
                   broken=patch("int sum(int a, int b) { return c; }"),
                   of_no_test=patch("int sum(int a, int b) { return a - b; }", test="it multiplies"),
                   of_a_red_test=patch("int sum(int a, int b) { return a - b; }", test="it fails"))
        code, rows = self.run_all()
        self.assertEqual(1, code)
        self.assertEqual({"subtracts": "killed", "swaps": "SURVIVES", "stale": "does not apply any more",
                          "broken": "does not compile", "of_no_test": "small has no test of this name",
                          "of_a_red_test": "the test fails without it"}, rows)

    def test_the_checkout_stays_as_it_is_and_the_copy_follows_it(self):
        self.plant(subtracts=patch("int sum(int a, int b) { return a - b; }"))
        self.assertEqual((0, {"subtracts": "killed"}), self.run_all())
        self.assertEqual(PROJECT["src/sum.cpp"], (self.root / "src/sum.cpp").read_text())
        self.write("src/sum.cpp", "int sum(int a, int b) { return b + a; }\n")
        self.assertEqual((1, {"subtracts": "does not apply any more"}), self.run_all())

    def test_what_an_interrupted_run_left_behind_is_repaired(self):
        self.plant(subtracts=patch("int sum(int a, int b) { return a - b; }"))
        self.run_all()
        copy = self.root / "build/mutants/tree"
        (copy / "src/sum.cpp").write_text("int sum(int a, int b) { return a - b; }\n")
        (copy / "src/more.cpp").write_text("#error\n")
        self.assertEqual((0, {"subtracts": "killed"}), self.run_all())
        self.assertFalse((copy / "src/more.cpp").exists())

    def test_what_does_not_fit_the_checkout_is_found_without_a_run(self):
        line = "int sum(int a, int b) { return a - b; }"
        self.plant(subtracts=patch(line), stale=patch(line, old="int add(int a, int b) { return a + b; }"),
                   of_no_test=patch(line, test="it multiplies"),
                   of_a_file=patch(line).replace("target: small", "target: small.sum"),
                   of_another_file=patch(line).replace("target: small", "target: small.product"),
                   of_no_program=patch(line).replace("target: small", "target: smaller"))
        build = self.root / "build/dev"
        for command in (["cmake", "--preset", "dev"], ["cmake", "--build", str(build)]):
            subprocess.run(command, cwd=self.root, check=True, capture_output=True)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(1, mutants.check(mutants.read_all(self.root), build, self.root))
        self.assertEqual(["of_no_test.patch: small has no test of this name  [it multiplies]",
                          "stale.patch: does not apply any more  [it adds, and well]",
                          "of_another_file.patch: small.product has no test of this name  [it adds, and well]",
                          "of_no_program.patch: there is no program smaller  [it adds, and well]",
                          "2 of 6 mutants fit"], out.getvalue().splitlines())

    def test_a_mutant_without_a_header_and_one_of_the_tests_are_refused(self):
        self.plant(bare="--- a/src/sum.cpp\n+++ b/src/sum.cpp\n")
        with self.assertRaisesRegex(Stop, "bare.patch has no line `# target"):
            mutants.read_all(self.root)
        self.plant(bare=patch("", path="t.cpp"))
        with self.assertRaisesRegex(Stop, "bare.patch changes t.cpp"):
            mutants.read_all(self.root)


class Choice(unittest.TestCase):
    def test_the_slices_are_everything_once_and_come_round_again(self):
        every = list(range(43))
        parts = [mutants.slice_of(every, n, 9) for n in range(9)]
        self.assertEqual(every, sum(parts, []))
        self.assertTrue(all(len(part) in (4, 5) for part in parts))
        self.assertEqual(parts[2], mutants.slice_of(every, 911, 9))

    def test_a_name_that_nobody_has_is_an_error(self):
        with self.assertRaisesRegex(Stop, "no mutant named nobody"):
            mutants.named([], ["nobody"])


if __name__ == "__main__":
    unittest.main()
