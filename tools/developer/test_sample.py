"""./dev mutants --sample finds sites, plants operators behind a switch, and judges them by the tests of a small project."""
import contextlib
import io
import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from check.tree import Tree  # noqa: E402 (the path comes first)
from developer import operators, sample, sites  # noqa: E402
from developer.shell import Stop  # noqa: E402

SOURCE = """
#include <hocket/small/sum.hpp>
namespace {
struct counter { int value = 0; };  // no function
counter calls;
}
constexpr int square(int n) { return n * n; }
static_assert(square(3) == 9);
int larger(int a, int b) {
  calls.value += 1;
  if (a < b) return b;
  return a;
}
int number_of_calls() { return calls.value; }
int unused(int n) {
  if (n == 7) return 1;
  return 0;
}
"""
HEADER = """#pragma once
int larger(int a, int b);
int number_of_calls();
inline int smaller(int a, int b) {
  int found = b;
  if (b > a) found = a;
  else found = b;
  return found;
}
"""
PROGRAM = """
#include <hocket/small/sum.hpp>
int main() { return larger(1, 2) == 2 && larger(4, 3) == 4 && smaller(1, 2) == 1 && smaller(4, 3) == 3 && number_of_calls() == 2 ? 0 : 1; }
"""
PROJECT = {
    "CMakeLists.txt": """cmake_minimum_required(VERSION 3.25)
project(small CXX)
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
enable_testing()
include_directories(include)
add_subdirectory(src/base)
add_compile_options(-Wall -Werror)
add_executable(unit_small t.cpp src/small/sum.cpp)
target_link_libraries(unit_small hocket_base)
add_test(NAME unit_small COMMAND unit_small)
""",
    "CMakePresets.json": json.dumps({"version": 6, "configurePresets": [{
        "name": "dev", "generator": "Ninja", "binaryDir": "${sourceDir}/build/dev",
        "cacheVariables": {"HOCKET_TEST_HOUSE": "ON"}}]}),
    "src/base/CMakeLists.txt": "add_library(hocket_base base.cpp)\n",
    "src/base/base.cpp": "int base() { return 0; }\n",
    "include/hocket/base/detail/none.hpp": "#pragma once\n",
    "include/hocket/small/sum.hpp": HEADER,
    "src/small/sum.cpp": SOURCE,
    "t.cpp": PROGRAM,
    sample.EQUIVALENT: "path\ttext\tvariant\treason\nsrc/small/sum.cpp\ta < b\ta <= b\tequal numbers are the same\n",
    ".gitignore": "/build/\n",
}


def sites_of(text):
    return [(site.kind, text[site.begin:site.end]) for site in sites.sites(Tree("/", {"a.cpp": text}).code("a.cpp"))]


class Places(unittest.TestCase):
    def test_conditions_statements_and_returned_values_are_sites(self):
        self.assertEqual([("condition", "x < 3"), ("void_statement", "g(x)"), ("void_statement", "y = 1")],
                         sites_of("void f(int x) {\n  if (x < 3) g(x);\n  else y = 1;\n}\n"))
        self.assertEqual([("returned_bool", "return a == b")], sites_of("bool f() { return a == b; }"))
        self.assertEqual([("statement", "co_await g()"), ("returned", "co_return 3")], sites_of("task<int> f() { co_await g(); co_return 3; }"))

    def test_declarations_constants_and_what_awaits_in_a_condition_are_none(self):
        for text in ("void f() { const int x = 3; }", "void f() { auto& y = g(); }", "void f() { std::vector<int> z(3); }",
                     "void f() { if constexpr (a < b) {} }", "task<> f() { if (co_await g()) {} }", "void f() { if (auto x = g()) {} }",
                     "static_assert(a < b);", "struct s { int x = g(); };", "void f() { if (int e = g(); e != 0) {} }"):
            self.assertEqual([], sites_of(text), text)

    def test_operators_change_bounds_errnos_flags_units_and_orders(self):
        def changed(kind, text):
            return {variant for _, variant in operators.variants(kind, text)}
        self.assertLessEqual({"!(a < b)", "a <= b"}, changed("condition", "a < b"))
        self.assertIn("error == EINTR", changed("condition", "error == EAGAIN"))
        self.assertIn("open(p, O_RDWR)", changed("statement", "open(p, O_RDWR | O_CLOEXEC)"))
        self.assertIn("wait(seconds(3))", changed("statement", "wait(milliseconds(3))"))
        self.assertIn("x.load(memory_order_relaxed)", changed("statement", "x.load(memory_order_acquire)"))
        self.assertLessEqual({"", "return"}, changed("void_statement", "g()"))
        self.assertIn("return !(a)", changed("returned_bool", "return a"))


class Small(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name)
        for path, text in PROJECT.items():
            file = self.root / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        subprocess.run(["git", "init", "-q", "."], cwd=self.root, check=True)

    def test_a_sample_names_its_seed_what_is_found_and_each_survivor(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = sample.run(20, ["small"], 3, self.root, self.root / "build/sample")
        text = out.getvalue()
        self.assertEqual(0, code, text)
        self.assertIn("seed 3", text)
        self.assertRegex(text, r"found by unit_small +src/small/sum.cpp:11 ")
        self.assertRegex(text, r"found by unit_small +include/hocket/small/sum.hpp:[67] ")
        self.assertNotIn("does not compile", text)
        self.assertRegex(text, r"SURVIVES \(no program reaches it\) +src/small/sum.cpp:1[67] ")
        self.assertNotIn("`a <= b`", text)
        self.assertNotIn("n * n", text.replace("return n * n", ""))
        self.assertEqual(SOURCE, (self.root / "src/small/sum.cpp").read_text())

    def test_each_layer_has_its_share(self):
        self.assertEqual({"a": 3, "b": 3, "c": 2}, sample.shares(["a", "b", "c"], 8))

    def test_a_layer_that_does_not_exist_is_an_error(self):
        with self.assertRaisesRegex(Stop, "is tiny a layer"):
            sample.draw(Tree.checkout(self.root), ["small", "tiny"], 5, 1)

    def test_the_same_seed_draws_the_same_sample(self):
        tree = Tree.checkout(self.root)
        self.assertEqual(sample.draw(tree, ["small"], 5, 8), sample.draw(tree, ["small"], 5, 8))


if __name__ == "__main__":
    unittest.main()
