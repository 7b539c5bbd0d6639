"""hocket-compiler-check says of this machine's compilers what is known of them."""
import pathlib
import shutil
import subprocess
import unittest

TOOL = pathlib.Path(__file__).resolve().parent / "hocket-compiler-check"
ADVICE = "What is advised instead"
G_PLUS_PLUS_12 = {
    "An aggregate is made", "An awaiter without a constructor is made with an object", "An array is initialised",
    "A braced list of objects", "`b ? co_await x : C()`", "`co_return b ? C{co_await x} : C{2}`",
    "Options with designated initialisers", "A lambda with captures is made", "A lambda with captures, made",
    "An awaiter without a constructor is made with a lambda", "Temporaries on both sides", "A local that wants more",
    "A statement expression", "`if (co_await x)` in a body"}


def check(*command):
    return subprocess.run([str(TOOL), *command], capture_output=True, text=True)


def rows(text):
    """The titles that are printed as wrong and as right."""
    found = {"wrong": [], "right": []}
    for line in text.splitlines():
        word, _, title = line.partition("  ")
        if word in found:
            found[word].append(title)
    return found


class Verdicts(unittest.TestCase):
    def test_what_is_known_of_gcc_12(self):
        if not shutil.which("g++-12"):
            self.skipTest("g++-12 is not installed")
        found = rows(check("g++-12").stdout)
        for known in G_PLUS_PLUS_12:
            self.assertEqual(1, sum(title.startswith(known) for title in found["wrong"]), known)
        self.assertEqual(len(G_PLUS_PLUS_12), len(found["wrong"]))
        self.assertEqual(1, sum(title.startswith(ADVICE) for title in found["right"]))

    def test_a_command_that_is_no_compiler_is_an_error_that_names_it(self):
        for command in ("no-such-compiler", "false"):
            done = check(command)
            self.assertEqual(2, done.returncode)
            self.assertIn(command, done.stderr)


if __name__ == "__main__":
    unittest.main()
