"""./dev mutants judges planted mutants of a small project as they are: killed, alive, or no good. Their files are read as
mutant_file.py says, and killed.tsv is written."""
import argparse
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from developer import mutant_file, mutants  # noqa: E402 (the path comes first)
from developer.kill_table import KillTable  # noqa: E402
from developer.shell import Stop, head_commit  # noqa: E402

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


def mutant(replace, find="a + b", test="it adds, and well", file="src/sum.cpp", target="small"):
    return (f"target: {target}\ntest: {test}\nwhy: it is a test\nfile: {file}\nin: sum\n"
            f"--- find\n{find}\n--- replace\n{replace}\n")


ALIVE = "alive: step 17\nwhy: nothing is noticed\nkind: no test\nfile: src/sum.cpp\n--- find\na + b\n--- replace\n0\n"


class Small(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for path, text in PROJECT.items():
            self.write(path, text)
        self.git("init", "-q", ".")

    def git(self, *command):
        subprocess.run(["git", "-c", "user.name=x", "-c", "user.email=x@example.org", *command], cwd=self.root, check=True)

    def write(self, path, text):
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def plant(self, **texts):
        for name, text in texts.items():
            self.write(f"{mutant_file.FOLDER}/{name}.mutant", text)

    def run_all(self, table=None):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            runnable = mutants.killable(mutants.read_all(self.root))
            code = mutants.run(runnable, self.root, self.root / "build/mutants", table)
        rows = {}
        for line in out.getvalue().splitlines():
            if line.endswith("]"):
                _, _, name, *verdict = line.partition("  [")[0].split()
                rows[name] = " ".join(verdict)
        return code, rows


class Verdicts(Small):
    def test_each_mutant_is_judged_by_name(self):
        self.plant(subtracts=mutant("a - b"), swaps=mutant("b + a"), stale=mutant("0", find="a * b"), alive=ALIVE,
                   ambiguous=mutant("c", find="int"), broken=mutant("c"), of_no_test=mutant("a - b", test="it multiplies"),
                   of_a_red_test=mutant("a - b", test="it fails"))
        code, rows = self.run_all()
        self.assertEqual(1, code)
        self.assertEqual({"subtracts": "killed", "swaps": "SURVIVES", "stale": "`a * b` is not found in sum",
                          "ambiguous": "`int` is found 3 times in sum", "broken": "does not compile",
                          "of_no_test": "small has no test of this name", "of_a_red_test": "the test fails without it"}, rows)

    def test_the_checkout_stays_as_it_is_and_the_copy_follows_it(self):
        self.plant(subtracts=mutant("a - b"))
        self.assertEqual((0, {"subtracts": "killed"}), self.run_all())
        self.assertEqual(PROJECT["src/sum.cpp"], (self.root / "src/sum.cpp").read_text())
        self.assertEqual(PROJECT["src/sum.cpp"], (self.root / "build/mutants/tree/src/sum.cpp").read_text())
        self.write("src/sum.cpp", "int sum(int a, int b) { return b + a; }\n")
        self.assertEqual((1, {"subtracts": "`a + b` is not found in sum"}), self.run_all())

    def test_what_an_interrupted_run_left_behind_is_repaired(self):
        self.plant(subtracts=mutant("a - b"))
        self.run_all()
        copy = self.root / "build/mutants/tree"
        (copy / "src/sum.cpp").write_text("int sum(int a, int b) { return a - b; }\n")
        (copy / "src/more.cpp").write_text("#error\n")
        self.assertEqual((0, {"subtracts": "killed"}), self.run_all())
        self.assertFalse((copy / "src/more.cpp").exists())

    def test_kills_are_recorded_and_a_survivor_alone_loses_its_row(self):
        self.git("commit", "-q", "--allow-empty", "-m", "first")
        self.plant(subtracts=mutant("a - b"), swaps=mutant("b + a"), broken=mutant("c"), stale=mutant("0", find="a * b"))
        table = KillTable(self.root)
        former = [f"{name}\t2020-01-01\tabc\t3" for name in ("broken", "other", "stale", "swaps")]
        table.path.write_text("\n".join(["name\tdate\tcommit\tseconds", *former, ""]))
        self.run_all(KillTable(self.root))
        *rows, subtracts = table.path.read_text().splitlines()
        self.assertEqual(["name\tdate\tcommit\tseconds", *former[:3]], rows)
        self.assertRegex(subtracts, r"^subtracts\t\d{4}-\d\d-\d\d\t[0-9a-f]{7,}\+\t\d+$")

    def test_a_row_with_spaces_is_an_error_with_its_line(self):
        self.write(f"{mutant_file.FOLDER}/killed.tsv", "name\tdate\tcommit\tseconds\na\tb\tc\td\nswaps  2020-01-01  abc  3\n")
        with self.assertRaisesRegex(Stop, r"killed.tsv:3: expected name, date, commit, seconds with tabs"):
            KillTable(self.root)

    def test_a_kill_names_a_changed_tree_and_the_table_is_no_change(self):
        self.assertEqual("", head_commit(self.root))
        self.plant(subtracts=mutant("a - b"))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "first")
        table = KillTable(self.root)
        table.record("subtracts", 1.0)
        table.record("adds", 1.0)
        self.assertEqual({head_commit(self.root, except_for=[table.path.relative_to(self.root)])},
                         {row.commit for row in table.rows.values()})
        self.assertNotIn("+", table.rows["adds"].commit)
        self.write("src/sum.cpp", "int sum(int a, int b) { return b + a; }\n")
        table.record("adds", 1.0)
        self.assertEqual(table.rows["subtracts"].commit + "+", table.rows["adds"].commit)

    def test_what_does_not_fit_the_checkout_is_found_without_a_run(self):
        self.plant(subtracts=mutant("a - b"), stale=mutant("0", find="a * b"), of_no_test=mutant("0", test="it multiplies"),
                   alive=ALIVE, alive_and_stale=ALIVE.replace("a + b", "a * b"), of_a_file=mutant("0", target="small.sum"),
                   of_another_file=mutant("0", target="small.product"), of_no_program=mutant("0", target="smaller"))
        build = self.root / "build/dev"
        for command in (["cmake", "--preset", "dev"], ["cmake", "--build", str(build)]):
            subprocess.run(command, cwd=self.root, check=True, capture_output=True)
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(1, mutants.check(mutants.read_all(self.root), build, self.root))
        self.assertEqual(["alive_and_stale.mutant: `a * b` is not found in src/sum.cpp  [step 17]",
                          "of_no_test.mutant: small has no test of this name  [it multiplies]",
                          "stale.mutant: `a * b` is not found in sum  [it adds, and well]",
                          "of_another_file.mutant: small.product has no test of this name  [it adds, and well]",
                          "of_no_program.mutant: there is no program smaller  [it adds, and well]",
                          "3 of 8 mutants fit"], out.getvalue().splitlines())

    def test_a_row_of_a_mutant_that_does_not_exist_is_found(self):
        self.plant(subtracts=mutant("a - b"), alive=ALIVE)
        table = KillTable(self.root)
        out = io.StringIO()
        for names, code in ((("subtracts",), 0), (("alive",), 1), (("former",), 1)):
            table.rows = dict.fromkeys(names)
            with contextlib.redirect_stdout(out):
                self.assertEqual(code, mutants.check_table(table, mutants.read_all(self.root)))
        self.assertIn("there is no mutant former that a test kills", out.getvalue())


SOURCE = """// inbox: take();
class inbox {
 public:
  explicit inbox(int size) : room_{size}, open_(true) { reset(); }
  int take() { return 1; }
  int put(int item) {
    if (item) reset();
    return item;
  }

 private:
  int room_{0};
};
int take() { return 1; }
int inbox::last() { return 1; }
"""


class Places(Small):
    def setUp(self):
        super().setUp()
        self.write("src/inbox.cpp", SOURCE)

    def changed(self, text, header="target: a\ntest: b\nwhy: c\n"):
        self.plant(only=header + text)
        return mutant_file.changed_files(mutants.read_all(self.root)[0], self.root)

    def assert_misfit(self, reason, text):
        with self.assertRaisesRegex(mutant_file.Misfit, reason):
            self.changed(text)

    def test_a_method_inside_its_class_and_one_outside(self):
        pair = "--- find\nreturn 1;\n--- replace\nreturn 2;\n"
        inside = self.changed("file: src/inbox.cpp\nin: inbox::take\n" + pair)["src/inbox.cpp"]
        self.assertEqual(SOURCE.replace("return 1;", "return 2;", 1), inside)
        outside = self.changed("file: src/inbox.cpp\nin: inbox::last\n" + pair)["src/inbox.cpp"]
        self.assertEqual(SOURCE.replace("last() { return 1;", "last() { return 2;"), outside)
        of_class = self.changed("file: src/inbox.cpp\nin: inbox\n--- find\nint room_{0};\n--- replace\n")["src/inbox.cpp"]
        self.assertEqual(SOURCE.replace("  int room_{0};\n", ""), of_class)

    def test_what_does_not_exist_or_is_not_unique(self):
        pair = "--- find\nreturn 1;\n--- replace\nreturn 2;\n"
        self.assert_misfit(r"`return 1;` is found 2 times in take", "file: src/inbox.cpp\nin: take\n" + pair)
        self.assert_misfit(r"`return 1;` is found 3 times in src/inbox.cpp", "file: src/inbox.cpp\n" + pair)
        self.assert_misfit(r"`return 1;` is not found in inbox::put", "file: src/inbox.cpp\nin: inbox::put\n" + pair)
        self.assert_misfit(r"src/inbox.cpp has no function or class inbox::open", "file: src/inbox.cpp\nin: inbox::open\n" + pair)
        self.assert_misfit(r"there is no file src/outbox.cpp", "file: src/outbox.cpp\n" + pair)
        self.assert_misfit("overlap", "file: src/inbox.cpp\nin: inbox::take\n" + pair + "--- find\n1; }\n--- replace\n\n")

    def test_several_pairs_in_two_places_and_two_files(self):
        texts = self.changed("file: src/inbox.cpp\nin: inbox::put\n--- find\nif (item) reset();\n    return item;\n--- replace\n"
                             "return item;\nin: inbox::inbox\n--- find\nreset();\n--- replace\nopen();\n    close();\n"
                             "file: src/sum.cpp\n--- find\na + b\n--- replace\n0\n")
        self.assertEqual({"src/inbox.cpp": SOURCE.replace("if (item) reset();\n    ", "")
                          .replace("reset();", "open();\n    close();"),
                          "src/sum.cpp": "int sum(int a, int b) { return 0; }\n"}, texts)

    def test_what_is_no_mutant_is_refused(self):
        pair = "--- find\na\n--- replace\nb\n"
        for reason, text in (("only.mutant has no line `target", "file: src/sum.cpp\n" + pair),
                             ("only.mutant has no line `why", "alive: step 17\nfile: src/sum.cpp\n" + pair),
                             ("changes `t.cpp`", "target: a\ntest: b\nwhy: c\nfile: t.cpp\n" + pair),
                             ("changes ``", "target: a\ntest: b\nwhy: c\n" + pair),
                             ("follow each other", "file: src/sum.cpp\n--- find\na\n" + pair),
                             ("follow each other", "file: src/sum.cpp\n--- find\na\n--- replace\nb\n--- replace\nc\n"),
                             ("lacks a `--- find`", "file: src/sum.cpp\n--- find\n\n--- replace\nb\n"),
                             ("lacks a `--- find`", "file: src/sum.cpp\n"),
                             ("same text", "target: a\ntest: b\nwhy: c\nfile: src/sum.cpp\n--- find\na\n--- replace\na\n"),
                             ("`reason: d` is no line", "target: a\ntest: b\nwhy: c\nreason: d\nfile: src/sum.cpp\n" + pair),
                             ("`note` is no line", "target: a\ntest: b\nwhy: c\nnote\nfile: src/sum.cpp\n" + pair),
                             ("`why: d` is no line", "target: a\ntest: b\nwhy: c\nwhy: d\nfile: src/sum.cpp\n" + pair),
                             ("alive until `later`", "alive: later\nwhy: c\nfile: src/sum.cpp\n" + pair)):
            with self.subTest(reason), self.assertRaisesRegex(Stop, reason):
                self.changed(text, header="")

    def test_the_folder_has_mutants_and_tables_alone(self):
        with self.assertRaisesRegex(Stop, "tests/mutants has no mutants"):
            mutant_file.read_all(self.root)
        self.plant(a=mutant("0"))
        for name in mutant_file.TABLES:
            self.write(f"{mutant_file.FOLDER}/{name}", "")
        self.assertEqual(["a"], [m.name for m in mutant_file.read_all(self.root)])
        for name in ("new_fault.patch", "typo.mutants"):
            self.write(f"{mutant_file.FOLDER}/{name}", "")
            with self.subTest(name), self.assertRaisesRegex(Stop, f"tests/mutants/{name} is no mutant"):
                mutant_file.read_all(self.root)
            (self.root / mutant_file.FOLDER / name).unlink()


class Choice(Small):
    def test_the_slices_are_everything_once_and_come_round_again(self):
        every = list(range(43))
        parts = [mutants.slice_of(every, n, 9) for n in range(9)]
        self.assertEqual(every, sum(parts, []))
        self.assertTrue(all(len(part) in (4, 5) for part in parts))
        self.assertEqual(parts[2], mutants.slice_of(every, 911, 9))

    def test_a_name_that_does_not_exist_is_an_error(self):
        with self.assertRaisesRegex(Stop, "no mutant named absent"):
            mutants.named([], ["absent"])

    def choose(self, *words):
        parser = argparse.ArgumentParser()
        mutants.add_arguments(parser)
        return [m.name for m in mutants.choose(parser.parse_args(words), mutants.read_all(self.root), KillTable(self.root))]

    def test_the_oldest_are_those_never_killed_and_then_by_date(self):
        self.plant(**{name: mutant("0") for name in "abcd"}, e=ALIVE)
        (self.root / mutant_file.FOLDER / "killed.tsv").write_text(
            "name\tdate\tcommit\tseconds\na\t2026-01-02\tx\t1\nb\t2026-01-03\tx\t1\nd\t2026-01-01\tx\t1\n")
        self.assertEqual(["c"], self.choose("--oldest", "1"))
        self.assertEqual(["a", "c", "d"], self.choose("--oldest", "3"))
        self.assertEqual(["a", "b", "c", "d"], self.choose("--oldest", "9"))

    def test_what_is_alive_is_in_the_list_and_in_no_slice(self):
        self.plant(a=mutant("0"), b=mutant("1"), c=ALIVE)
        self.assertEqual(["c", "a", "b"], self.choose("--list"))
        self.assertEqual(["c", "a", "b"], self.choose("--check", "build"))
        self.assertEqual(["a", "b"], self.choose())
        self.assertEqual(["b"], self.choose("--slice", "1", "--of", "2"))
        self.assertEqual(["c"], self.choose("c"))


if __name__ == "__main__":
    unittest.main()
