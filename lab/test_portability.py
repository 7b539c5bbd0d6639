"""The page portability: what is read of other programs, and compilers that are missing, crash, or take for ever."""
import os
import pathlib
import re
import select
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit.portability import attempts, command, compilers, ir, measures, page, suites  # noqa: E402 (the path is set first)

TARGETS = {"x86_64": {"run": [], "bits": "64"}, "elsewhere": {"run": ["no-such-emulator"], "bits": "64"}}


class Scripts(unittest.TestCase):
    """With a folder for programs that stand for compilers."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = pathlib.Path(place.name)

    def script(self, body):
        path = self.folder / "compiler"
        path.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def compiler(self, body, target="x86_64"):
        entry = {"id": "fake", "command": [str(self.script(body))], "target": target, "needs": "g++-fake"}
        return compilers.Compiler(entry, TARGETS)


def ends(process):
    """Whether a process that was sent a signal ends. The kernel ends it when it is next scheduled."""
    try:
        descriptor = os.pidfd_open(process)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([descriptor], [], [], 60)[0])
    finally:
        os.close(descriptor)


class Attempts(Scripts):
    def test_one_that_never_ends_is_stopped_with_all_that_it_started(self):
        child = self.folder / "child"
        done = attempts.attempt([self.script(f'sleep 600 & echo $! > {child}; wait')], 2)
        self.assertEqual(done.problem, "took longer than 2 s")
        self.assertTrue(ends(int(child.read_text())))

    def test_a_crash_is_told_from_a_refusal(self):
        self.assertEqual(attempts.attempt([self.script("kill -SEGV $$")], 60).problem, "crashed (SIGSEGV)")
        self.assertEqual(attempts.attempt([self.script("echo 'a.cpp: internal compiler error: at gimplify'; exit 1")], 60).problem,
                         "crashed (internal error)")
        self.assertEqual(attempts.attempt([self.script("echo /some/place/a.cpp:1: error: no coroutine; echo more; exit 1")], 60).problem,
                         "failed: a.cpp:1: error: no coroutine")

    def test_what_is_missing_is_named(self):
        self.assertEqual(attempts.attempt(["no-such-program"], 60).problem, "no no-such-program")

    def test_what_ends_well_has_no_problem(self):
        done = attempts.attempt([self.script("echo said")], 60)
        self.assertEqual((done.problem, done.output), ("", "said\n"))


class Measures(Scripts):
    def test_size_is_read(self):
        text = "   text\t   data\t    bss\t    dec\t    hex\tfilename\n  67549\t    760\t    600\t  68909\t  10d2d\tmain\n"
        self.assertEqual(measures.parse_size(text), (67549, 760, 600))

    def test_what_size_does_not_print_is_refused(self):
        for text in ("", "size: main: file format not recognized\n", "text data bss\n", "text data bss\nmany 1 2\n"):
            with self.assertRaises(ValueError):
                measures.parse_size(text)

    def test_the_last_build_of_an_object_counts(self):
        log = "# ninja log v5\n1\t900\t0\tx/fibonacci.dir/a.cpp.o\tf\n5\t2505\t0\tx/fibonacci.dir/a.cpp.o\tf\n0\t9\t0\tother.o\tf\n"
        self.assertEqual(measures.parse_ninja_log(log, r"fibonacci\.dir/.*\.o$"), 2.5)
        self.assertIsNone(measures.parse_ninja_log(log, "nothing"))

    def test_the_compiler_that_hangs_is_a_result(self):
        with unittest.mock.patch.object(measures, "COMPILE_SECONDS", 1):
            found = measures.control(self.compiler("sleep 600"), self.folder)
        self.assertEqual(found, {"problem": "compiler: took longer than 1 s"})

    def test_the_compiler_that_crashes_is_a_result(self):
        self.assertEqual(measures.control(self.compiler("kill -SEGV $$"), self.folder), {"problem": "compiler: crashed (SIGSEGV)"})

    # A compiler that makes a program of its own: the argument behind -o.
    MAKES = 'while [ "$1" != -o ]; do shift; done; printf "#!/bin/sh\\n%s\\n" > "$2"; chmod +x "$2"'

    def test_wrong_numbers_are_a_result(self):
        found = measures.control(self.compiler(self.MAKES % "echo 'fib(0)=1'"), self.folder)
        self.assertIn("printed something else", found["problem"])

    def test_an_emulator_that_is_missing_is_a_result(self):
        found = measures.control(self.compiler(self.MAKES % "true", target="elsewhere"), self.folder)
        self.assertEqual(found["problem"], "no no-such-emulator")

    def test_right_numbers_are_right(self):
        done = attempts.Attempt("", measures.EXPECTED, 0.1)
        self.assertEqual(measures.printed(done), "")
        self.assertTrue(measures.EXPECTED.startswith("fib(0)=0\n") and measures.EXPECTED.endswith("fib(9)=34\n"))


IR = """target triple = "{triple}"
define internal void @fibonacci.resume(ptr noundef {more}%frame) #{n} {{
entry:
  %index.addr = getelementptr inbounds i8, ptr %frame, i64 24, !dbg !7
  %index = load i2, ptr %index.addr, align {n}
  br i1 true, label %done, label %done
done:                                             ; preds = %entry
  {last}
}}
define i32 @main() {{
  ret i32 0
}}
"""


def module(triple="x86_64", n=1, more="", last="ret void"):
    return ir.functions(IR.format(triple=triple, n=n, more=more, last=last))


class Representation(unittest.TestCase):
    def test_attributes_alignment_and_numbers_are_no_difference(self):
        found = ir.compared(module(), module(triple="s390x", n=8, more="nonnull align 8 dereferenceable(32) "))
        self.assertEqual((found["both"], found["different_functions"], found["different_lines"]), (2, 0, 0))
        self.assertEqual((found["parts"], found["part_blocks"], found["part_lines"]), (1, [2, 2], [4, 4]))

    def test_another_instruction_is_counted_in_its_function(self):
        found = ir.compared(module(), module(last="unreachable"))
        self.assertEqual((found["different_functions"], found["different_lines"], found["part_different"]), (1, 1, 1))

    def test_a_function_of_one_alone_is_counted(self):
        base = module()
        other = {name: body for name, body in base.items() if name != "main"}
        self.assertEqual(ir.compared(base, other)["only_one"], 1)


class Suites(unittest.TestCase):
    PASSED = "100% tests passed, 0 tests failed out of 35\n"
    FAILED = "94% tests passed, 2 tests failed out of 35\nThe following tests FAILED:\n\t 13 - regress (Failed)\n\t 14 - unit_io (Timeout)\n"

    def test_the_result_of_ctest_is_read(self):
        self.assertEqual(suites.verdict(attempts.Attempt("", self.PASSED, 1)), "35 passed")
        self.assertEqual(suites.verdict(attempts.Attempt("failed: x", self.FAILED, 1)), "2 of 35 failed: regress, unit_io")
        self.assertEqual(suites.verdict(attempts.Attempt("took longer than 9 s", "", 9)), "took longer than 9 s")


class Page(unittest.TestCase):
    def entry(self, problem=""):
        return {"version": "1", "date": "2026-01-02", "control": {"problem": problem, "seconds": 1.5, "size": [1, 2, 3], "frames": [96, None]},
                "hocket": {"problem": problem}, "patterns": None if problem else {"a pattern": "dies"}}

    def test_a_crash_and_what_is_missing_are_rows(self):
        known = compilers.read()
        text = page.render([(known[0], self.entry()), (known[1], self.entry("compiler: crashed (SIGSEGV)"))], known[2:], None, None, "2026-01-02")
        self.assertIn("compiler: crashed (SIGSEGV)", text)
        self.assertIn("| a pattern | " + known[0].id + " |", text)
        for compiler in known[2:]:
            self.assertIn(compiler.remedy(), text)
        self.assertIn("clang-21, x86 (000)", text)

    def test_every_compiler_that_apt_brings_is_listed(self):
        lines = (compilers.FOLDER / "packages.txt").read_text(encoding="utf-8").splitlines()
        listed = [line for line in lines if not line.startswith("#")]
        needed = {name for compiler in compilers.read() if compiler.needs != "zig" for name in compiler.needs.split()}
        self.assertEqual(needed - set(listed), set())

    def test_a_compiler_without_its_library_is_not_here(self):
        entry = {"id": "fake", "command": ["sh"], "target": "x86_64", "needs": "x", "library": "/no/such/header"}
        self.assertIsNone(compilers.Compiler(entry, TARGETS).command())
        self.assertTrue(compilers.Compiler({**entry, "library": "/"}, TARGETS).command())

    def test_every_compiler_has_a_folder_of_its_own(self):
        slugs = [compiler.slug for compiler in compilers.read()]
        self.assertEqual(len(slugs), len(set(slugs)))

    def test_an_unknown_compiler_is_refused_with_the_known_ones(self):
        with self.assertRaises(SystemExit) as raised:
            command.chosen(["nonsense"], compilers.read())
        self.assertIn("g++-12", str(raised.exception))

    def test_results_that_cannot_be_read_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "results.json"
            path.write_text("{", encoding="utf-8")
            with unittest.mock.patch.object(command, "RESULTS", path), self.assertRaises(SystemExit) as raised:
                command.load()
            self.assertIn("remove it", str(raised.exception))
            with unittest.mock.patch.object(command, "RESULTS", path), unittest.mock.patch.object(command, "FOLDER", pathlib.Path(folder)):
                command.save({"compilers": {"a": 1}})
                self.assertEqual(command.load(), {"compilers": {"a": 1}})
            self.assertEqual(os.listdir(folder), ["results.json"])


class Committed(unittest.TestCase):
    """docs/portability.md is what the platforms' page claims."""
    TEXT = (compilers.ROOT / "docs/portability.md").read_text(encoding="utf-8")

    def rows(self, title):
        section = self.TEXT.partition(title)[2].partition("\n## ")[0]
        return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in section.splitlines() if line.startswith("|")][2:]

    def test_eight_compilers_and_six_architectures(self):
        right = {row[0] for row in self.rows("## A generator without a library") if row[1] == "right" and "(000)" not in row[0]}
        targets = {compiler.target for compiler in compilers.read() if compiler.id in right}
        self.assertGreaterEqual(len(right), 8)
        self.assertGreaterEqual(len(targets), 6)

    def test_the_platforms_are_no_more_than_the_page_says(self):
        platforms = (compilers.ROOT / "SUPPORTED_PLATFORMS.md").read_text(encoding="utf-8")
        self.assertIn("(docs/portability.md)", platforms)
        tested = {row[0] for row in self.rows("## hocket in C++20 alone") if row[1] == "right"}
        targets = {compiler.target for compiler in compilers.read() if compiler.id in tested}
        claimed = {name: re.search(rf"^\| {name} \|(.*)$", platforms, re.M)[1] for name in ("architecture", "compilers")}
        names = {f"{name}-{version}" for name, version in re.findall(r"\b(g\+\+|clang) (\d+)", claimed["compilers"])}
        self.assertGreaterEqual(len(names), 2)
        self.assertEqual(names - tested, set())
        known = {compiler.target.replace("_", "-") for compiler in compilers.read()} | {"e2k", "mips", "sparc64", "x32"}
        named = {name for name in known if re.search(rf"\b{name}\b", claimed["architecture"])}
        self.assertGreaterEqual(len(named), 2)
        self.assertEqual(named - {target.replace("_", "-") for target in targets}, set())


if __name__ == "__main__":
    unittest.main()
