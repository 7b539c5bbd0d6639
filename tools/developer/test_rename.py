"""./dev rename changes tokens, words, names of tests and mutants of a small planted tree, and programs outside of it."""
import contextlib
import io
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from check.tree import Tree  # noqa: E402 (the path comes first)
from developer import cpp_tokens, rename, rename_table  # noqa: E402
from developer.shell import Stop  # noqa: E402

RING = r'''// ring: push_item() and pop() are its calls. A pop is cheap; `pop` never waits. See hocket/core/ring.hpp.
#pragma once
#include <hocket/base/pop.hpp>
namespace hocket {
// A ring.
class ring {
 public:
  int pop() { return items_[first_]; }
  void push_item(int item);
  int capacity = 1'000;
  int capacity_of(int capacity(int));

 private:
  int items_[8], first_ = 0;
};
// Makes one.
ring make_ring();
// Kinds.
enum class kind { pop, drop };
}
'''
USES = r'''#include "core/local.hpp"
#include <hocket/core/ring.hpp>
int push(hocket::ring& r, std::vector<int>& v, shape s) {
  const char* text = "push_item and pop() and pop";
  const char* raw = R"x(r.pop() pop)x";
  v.pop(); std::pop(v); ::pop(s); s.capacity = 1; r.capacity();
  f({.capacity = 2}); a < b.capacity; 'p';
  return r.pop() + hocket::make_ring().pop() + static_cast<int>(hocket::kind::pop);
}
'''
TEST = '''TEST_CASE("push_item() then pop() gives "
          "the item") { ring r; r.push_item(1); }
TEST_CASE_TEMPLATE("make_ring of a type", T, int) {}
'''
MUTANT = '''target: unit_core
test: make_ring of a type<ns::ring>
why: it's make_ring
file: include/hocket/core/ring.hpp
--- find
ring make_ring();
--- replace
ring make_ring(int);
in: ring
--- find
int capacity = 1'000;
--- replace
int capacity = 1;
file: src/core/uses.cpp
--- find
make_ring()
--- replace
f()
'''
WORKER = "namespace hocket {\nvoid worker::help() { run(); }\n}\n"
PYTHON = '''"""gdb: push_item is in the frame."""
TYPE = "hocket::ring"
def read_ring(make_ring, shown):
    return f"{make_ring.first} make_ring {{make_ring}}", shown.make_ring  # make_ring
'''
PROJECT = {
    "include/hocket/core/ring.hpp": RING,
    "include/hocket/base/pop.hpp": "#pragma once\n",
    "src/core/local.hpp": "#pragma once\n",
    "src/core/uses.cpp": USES,
    "src/core/CMakeLists.txt": "add_library(core uses.cpp)\nset(suites ring pop)\n",
    "tests/unit/core/ring_test.cpp": TEST,
    "tests/mutants/makes.mutant": MUTANT,
    "tools/gdb/frames.py": PYTHON,
    "docs/headers.md": "| header | names | for |\n| `core/ring.hpp` | `ring`, `make_ring`, `kind` | a ring |\n",
    "docs/use.md": "A ring has `pop`, pop and push_item.\n```cpp\nr.pop();  // pop\n```\n```sh\npop make_ring\n```\nEnd `pop()`.\n",
    "docs/renames.tsv": rename_table.HEAD,
}


class Small(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.root = pathlib.Path(scratch.name) / "tree"
        self.outside = pathlib.Path(scratch.name) / "outside"
        for path, text in PROJECT.items():
            self.write(self.root / path, text)
        for command in (["init", "-q", "."], ["add", "-A"]):
            subprocess.run(["git", *command], cwd=self.root, check=True)

    def write(self, file, text):
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)

    def read(self, path):
        return (self.root / path).read_text()

    def call(self, *arguments):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            self.assertEqual(0, rename.main([str(word) for word in arguments], self.root))
        return out.getvalue()

    def rows(self):
        return [tuple(row[:3]) for row in rename_table.read(self.root / rename_table.PATH)]

    def apply(self, rows, text, *options):
        table = rename_table.HEAD + "".join("\t".join([*row, ""]) + "\n" for row in rows)
        self.write(self.root / rename_table.PATH, table)
        self.write(self.outside / "program.cpp", text)
        report = self.call("--table", self.outside, *options)
        return (self.outside / "program.cpp").read_text(), report


class InTree(Small):
    def test_an_identifier_changes_in_code_words_tests_and_mutants(self):
        self.call("push_item", "append_item")
        for path in PROJECT:
            self.assertNotIn("push_item", self.read(path), path)
        self.assertIn('"""gdb: append_item is', self.read("tools/gdb/frames.py"))
        self.assertEqual([], self.rows())

    def test_a_plain_word_changes_in_code_and_code_spans_and_is_printed_elsewhere(self):
        report = self.call("pop", "take")
        ring, uses = self.read("include/hocket/core/ring.hpp"), self.read("src/core/uses.cpp")
        self.assertIn("push_item() and take() are its calls. A pop is cheap; `take` never", ring)
        self.assertIn("<hocket/base/pop.hpp>", ring)
        self.assertIn("kind { take, drop }", ring)
        self.assertIn('"push_item and take() and pop"', uses)
        self.assertIn('R"x(r.take() pop)x"', uses)
        self.assertIn("v.take(); std::pop(v); ::pop(s);", uses)
        self.assertIn("  docs/use.md:1: A ring has", report)
        self.assertIn("  src/core/CMakeLists.txt:2: set(suites ring pop)", report)
        self.assertEqual("A ring has `take`, pop and push_item.\n```cpp\nr.take();  // pop\n```\n```sh\npop make_ring\n```\nEnd `take()`.\n",
                         self.read("docs/use.md"))

    def test_a_member_changes_behind_dots_and_in_the_declared_file(self):
        self.call("pop", "take", "--member", "--declared", "include/hocket/core/ring.hpp")
        uses = self.read("src/core/uses.cpp")
        self.assertIn("v.take(); std::pop(v); ::pop(s);", uses)
        self.assertIn("r.take() + hocket::make_ring().take() + static_cast<int>(hocket::kind::pop)", uses)
        self.assertIn("int take() {", self.read("include/hocket/core/ring.hpp"))
        self.assertEqual([("pop", "take", "member")], self.rows())

    def test_a_field_changes_in_initialisers_and_behind_dots_but_no_call(self):
        self.call("capacity", "limit", "--field", "--declared", "include/hocket/core/ring.hpp")
        uses = self.read("src/core/uses.cpp")
        self.assertIn("s.limit = 1; r.capacity();\n  f({.limit = 2}); a < b.limit;", uses)
        self.assertIn("int limit = 1'000;\n  int capacity_of(int capacity(int));", self.read("include/hocket/core/ring.hpp"))
        self.assertEqual([("capacity", "limit", "field")], self.rows())

    def test_a_member_is_no_designator_and_a_free_name_no_member(self):
        self.call("capacity", "limit", "--member")
        self.assertIn("s.limit = 1; r.limit();\n  f({.capacity = 2});", self.read("src/core/uses.cpp"))
        self.call("pop", "take", "--name", "--in", "src")
        self.assertIn("v.pop();", self.read("src/core/uses.cpp"))
        self.assertIn("hocket::kind::take", self.read("src/core/uses.cpp"))

    def test_a_qualified_name_changes_behind_its_qualifier_and_where_it_is_declared(self):
        self.call("kind::drop", "kind::omit", "--declared", "include/hocket/core/ring.hpp", "--record", "name")
        self.assertIn("kind { pop, omit }", self.read("include/hocket/core/ring.hpp"))
        self.assertEqual([("kind::drop", "kind::omit", "name")], self.rows())
        self.call("kind::pop", "take")
        self.assertIn("::kind::take)", self.read("src/core/uses.cpp"))
        self.assertIn("v.pop()", self.read("src/core/uses.cpp"))

    def test_a_public_name_records_itself(self):
        self.call("make_ring", "create_ring")
        self.assertEqual([("make_ring", "create_ring", "name")], self.rows())
        self.call("create_ring", "ring_of", "--no-record")
        self.assertEqual(1, len(self.rows()))
        self.assertIn("`ring_of`", self.read("docs/headers.md"))

    def test_in_restricts_the_files_and_the_mutants_follow_them(self):
        self.call("make_ring", "create_ring", "--in", "src", "--in", "tests/unit")
        self.assertIn("make_ring", self.read("include/hocket/core/ring.hpp"))
        mutant = self.read("tests/mutants/makes.mutant")
        self.assertIn("ring make_ring();\n--- replace\nring make_ring(int);\n", mutant)
        self.assertIn("--- find\ncreate_ring()\n--- replace\nf()\n", mutant)
        self.assertIn("test: create_ring of a type<ns::ring>\n", mutant)
        self.assertEqual([], self.rows())

    def test_a_mutant_that_misses_the_change_is_printed(self):
        self.write(self.root / "tests/mutants/makes.mutant", MUTANT.replace("make_ring()\n--- replace\nf()", "pop() + hocket\n--- replace\n1"))
        report = self.call("pop", "take", "--member", "--declared", "include/hocket/core/ring.hpp")
        self.assertIn("tests/mutants/makes.mutant: does not fit any more", report)
        self.assertNotIn("does not fit", self.call("make_ring", "create_ring", "--dry-run"))

    def test_the_types_of_a_template_change_in_the_line_of_a_mutant(self):
        self.call("ring", "circle")
        self.assertIn("test: make_ring of a type<ns::circle>\nwhy: it's make_ring\nfile: include/hocket/core/ring.hpp\n",
                      self.read("tests/mutants/makes.mutant"))
        self.assertIn("\nin: circle\n--- find\nint capacity", self.read("tests/mutants/makes.mutant"))

    def plant(self, place, find, source=WORKER):
        for path, text in (("src/core/worker.cpp", source), ("tests/mutants/helps.mutant",
                           f"target: a\ntest: b\nwhy: c\nfile: src/core/worker.cpp\nin: {place}\n--- find\n{find}\n--- replace\nrest();\n")):
            self.write(self.root / path, text)
            subprocess.run(["git", "add", path], cwd=self.root, check=True)

    def test_the_place_of_a_mutant_follows_its_function_also_in_a_shorter_form(self):
        for place, renamed in (("help", "assist"), ("worker::help", "worker::assist"), ("hocket::worker::help", "hocket::worker::assist")):
            for words in (["worker::help", "assist"], ["help", "assist", "--member", "--declared", "src/core/worker.cpp"],
                          ["help", "assist"]):
                with self.subTest(f"{place} {words}"):
                    self.plant(place, "run();")
                    self.assertNotIn("does not fit", self.call(*words))
                    self.assertIn(f"\nin: {renamed}\n", self.read("tests/mutants/helps.mutant"))

    def test_a_place_that_is_another_one_now_is_printed(self):
        self.plant("help", "run();", WORKER + "void owner::help() { rest(); }\n")
        self.assertIn("helps.mutant: does not fit any more: `run();` is not found in help", self.call("worker::help", "assist"))

    def test_a_text_that_is_there_twice_now_is_printed(self):
        self.plant("worker::help", "run();", WORKER.replace("run();", "run(); walk();"))
        self.assertIn("helps.mutant: does not fit any more: `run();` is found 2 times in worker::help", self.call("walk", "run", "--merge"))

    def test_a_file_that_git_does_not_track_is_printed(self):
        self.write(self.root / "src/core/new.cpp", "ring r = make_ring();\n")
        self.write(self.root / "src/core/other.cpp", "ring r = make_rings();\n#include <hocket/core/ring.hpp>\n")
        report = self.call("make_ring", "create_ring")
        self.assertIn("src/core/new.cpp: git does not track it", report)
        self.assertNotIn("other.cpp", report)
        self.assertIn("other.cpp: git does not track it", self.call("--header", "hocket/core/ring.hpp", "hocket/core/circle.hpp"))

    def test_a_python_name_changes_in_python(self):
        self.call("read_ring", "parse_ring")
        self.assertIn("def parse_ring(make_ring", self.read("tools/gdb/frames.py"))
        self.call("make_ring", "factory", "--python")
        self.assertIn('(factory, shown):\n    return f"{factory.first} factory {{factory}}", shown.factory  # factory\n',
                      self.read("tools/gdb/frames.py"))
        self.assertIn("make_ring", self.read("src/core/uses.cpp"))

    def test_a_name_of_cpp_changes_no_identifier_of_python(self):
        report = self.call("make_ring", "create_ring")
        self.assertIn('(make_ring, shown):\n    return f"{make_ring.first} create_ring {{create_ring}}"', self.read("tools/gdb/frames.py"))
        self.assertIn("tools/gdb/frames.py:3:", report)

    def test_a_collision_is_refused_with_its_places(self):
        with self.assertRaisesRegex(Stop, r"(?s)2 places have `drop` already.*include/hocket/core/ring.hpp:19"):
            self.write(self.root / "src/core/local.hpp", "int drop;\n")
            self.call("pop", "drop")
        self.assertEqual(RING, self.read("include/hocket/core/ring.hpp"))
        self.call("pop", "drop", "--merge")
        self.assertIn("kind { drop, drop }", self.read("include/hocket/core/ring.hpp"))

    def test_a_macro_changes_in_cmake_and_behind_its_flag(self):
        self.write(self.root / "src/core/local.hpp", "#ifdef RING_SIZE\n#endif\n")
        self.write(self.root / "src/core/CMakeLists.txt", "add_compile_definitions(RING_SIZE=8)\nset(flags -DRING_SIZE=8 MY_RING_SIZE)\n")
        self.call("RING_SIZE", "RING_PLACES")
        self.assertEqual("#ifdef RING_PLACES\n#endif\n", self.read("src/core/local.hpp"))
        self.assertEqual("add_compile_definitions(RING_PLACES=8)\nset(flags -DRING_PLACES=8 MY_RING_SIZE)\n",
                         self.read("src/core/CMakeLists.txt"))

    def test_a_second_time_and_a_dry_run_change_nothing(self):
        before = {path: self.read(path) for path in PROJECT}
        self.assertIn("  src/core/uses.cpp: 1 + 0\n", self.call("make_ring", "create_ring", "--dry-run"))
        self.assertEqual(before, {path: self.read(path) for path in PROJECT})
        self.call("make_ring", "create_ring")
        with self.assertRaisesRegex(Stop, "no code has `make_ring`"):
            self.call("make_ring", "create_ring")

    def test_what_is_no_identifier_is_refused(self):
        for old, new in (("pop", "class"), ("pop", "a-b"), ("kind::pop", "sort::pop"), ("pop", "pop")):
            with self.assertRaises(Stop):
                self.call(old, new)


class Header(Small):
    def test_a_header_moves_with_all_that_names_it(self):
        report = self.call("--header", "hocket/core/ring.hpp", "hocket/base/circle.hpp")
        self.assertFalse((self.root / "include/hocket/core/ring.hpp").exists())
        self.assertIn("See hocket/base/circle.hpp", self.read("include/hocket/base/circle.hpp"))
        self.assertIn("#include <hocket/base/circle.hpp>", self.read("src/core/uses.cpp"))
        self.assertIn("file: include/hocket/base/circle.hpp\n", self.read("tests/mutants/makes.mutant"))
        self.assertIn("`base/circle.hpp`", self.read("docs/headers.md"))
        self.assertIn("src/core/CMakeLists.txt:2", report)
        self.assertEqual([("hocket/core/ring.hpp", "hocket/base/circle.hpp", "include")], self.rows())

    def test_a_source_moves_in_the_list_of_cmake_and_in_mutants(self):
        self.call("--header", "src/core/uses.cpp", "src/core/pushes.cpp")
        self.assertIn("add_library(core pushes.cpp)", self.read("src/core/CMakeLists.txt"))
        self.assertIn("file: src/core/pushes.cpp\n", self.read("tests/mutants/makes.mutant"))
        self.assertEqual([], self.rows())

    def test_a_moved_source_finds_its_neighbours(self):
        self.write(self.root / "src/core/uses.cpp", '#include "local.hpp"\n#include "uses.hpp"\n')
        self.call("--header", "src/core/uses.cpp", "src/base/uses.cpp")
        self.assertEqual('#include "../core/local.hpp"\n#include "uses.hpp"\n', self.read("src/base/uses.cpp"))
        with self.assertRaisesRegex(Stop, "exists already"):
            self.call("--header", "src/base/uses.cpp", "src/core/local.hpp")


class Table(Small):
    def test_a_name_changes_where_it_can_mean_ours(self):
        text = ('#include <hocket/a.hpp>\nnamespace hk = hocket;\nhocket::ring a; ::hocket::ring b; hk::ring c; ring d; my::ring e; '
                'a.ring; // hocket::ring\nauto s = "hocket::ring";\n')
        changed, _ = self.apply([("ring", "circle", "name")], text)
        self.assertEqual(text.replace("hocket::ring ", "hocket::circle ").replace("hk::ring", "hk::circle"), changed)
        changed, _ = self.apply([("ring", "circle", "name")], "using namespace hocket;\n" + text)
        self.assertIn("; circle d; my::ring e; a.ring; // hocket::ring\n", changed)

    def test_a_qualified_name_follows_directives_declarations_and_bases(self):
        row = [("tcp::dial", "tcp::connect", "name"), ("kind::drop", "kind::omit", "name"), ("primitive::source", "primitive::origin", "name")]
        text = ("namespace t = hocket::tcp;\nusing hocket::kind;\nclass x : hocket::primitive::source { source& s(); };\n"
                "t::dial(); tcp::dial(); dial(); kind::drop; drop;\n")
        changed, _ = self.apply(row, text)
        self.assertEqual("namespace t = hocket::tcp;\nusing hocket::kind;\nclass x : hocket::primitive::origin { origin& s(); };\n"
                         "t::connect(); tcp::dial(); dial(); kind::omit; drop;\n", changed)
        changed, _ = self.apply(row, "using namespace hocket::tcp; using namespace hocket;\n" + text)
        self.assertIn("t::connect(); tcp::connect(); connect(); kind::omit; drop;\n", changed)

    def test_a_name_may_get_another_qualifier(self):
        changed, _ = self.apply([("dial", "tcp::connect", "name")], "hocket::dial(); using namespace hocket; dial();")
        self.assertEqual("hocket::tcp::connect(); using namespace hocket; tcp::connect();", changed)

    def test_the_position_separates_members_from_fields(self):
        text = "x.limit(); y->limit; f({.limit = 1, .at = 2}); limit = 3; a::limit; x.template limit<int>(); // .limit\n"
        changed, _ = self.apply([("limit", "bound", "member")], text)
        self.assertEqual("x.bound(); y->bound; f({.limit = 1, .at = 2}); limit = 3; a::limit; x.template bound<int>(); // .limit\n", changed)
        changed, _ = self.apply([("limit", "bound", "field")], text)
        self.assertIn("x.limit(); y->bound; f({.bound = 1, .at = 2}); limit = 3; a::limit;", changed)

    def test_an_awaited_member_changes_where_it_is_awaited(self):
        text = ("co_await x.shutdown({}); await(a.b->shutdown()); sync_wait( x.get().shutdown(1) ); rt.shutdown(); "
                "auto r = rt.shutdown({.drain = 1s}); co_await f(rt.shutdown()); ::shutdown(fd, 1); // co_await x.shutdown()\n")
        changed, _ = self.apply([("shutdown", "graceful_shutdown", "awaited")], text)
        self.assertEqual(text.replace("x.shutdown({}", "x.graceful_shutdown({}").replace("b->shutdown", "b->graceful_shutdown")
                         .replace("get().shutdown", "get().graceful_shutdown"), changed)

    def test_a_member_that_the_standard_library_has_is_printed(self):
        text = "x.join();\n"
        changed, report = self.apply([("join", "finish", "member")], text)
        self.assertEqual(text, changed)
        self.assertIn("program.cpp:1: if this is hocket's `join`, it is `finish` now", report)
        changed, _ = self.apply([("join", "finish", "member")], text, "--common")
        self.assertEqual("x.finish();\n", changed)

    def test_a_member_of_the_programs_own_gets_a_warning(self):
        _, report = self.apply([("limit", "bound", "member")], "struct own {\n  int limit = 1;\n};\nx.limit();\n")
        self.assertIn("program.cpp:2: declares `limit` itself", report)

    def test_rows_are_applied_in_order_and_twice_is_once(self):
        rows = [("a", "b", "name"), ("b", "c", "name"), ("hocket/a.hpp", "hocket/b.hpp", "include"), ("hocket/b.hpp", "hocket/c.hpp", "include")]
        text = '#include <hocket/a.hpp>\n# include "hocket/a.hpp"\n#include <hocket/aa.hpp>\n// <hocket/a.hpp>\nhocket::a x;\n'
        changed, _ = self.apply(rows, text)
        self.assertEqual('#include <hocket/c.hpp>\n# include "hocket/c.hpp"\n#include <hocket/aa.hpp>\n// <hocket/a.hpp>\nhocket::c x;\n', changed)
        self.assertEqual((changed, ""), self.apply(rows, changed))

    def test_a_broken_table_is_refused(self):
        with self.assertRaisesRegex(Stop, "renames.tsv:2: expected old, new, kind and remark"):
            self.apply([("a", "b", "noun")], "")


class Tokens(unittest.TestCase):
    def test_quotes_in_numbers_and_raw_strings_hide_no_code(self):
        text = "int x = 1'000'000; u8R\"(a\" x)\" x; '\"' x; L\"\\\" x\" x; 0x1'fp+3 x; // it's x\nx"
        self.assertEqual(6, len(cpp_tokens.names(text, "x")))

    def test_the_rules_and_the_tokeniser_agree_about_literals(self):
        text = 'x; u8R"a(" x)a" x; // x \\\n x\nu8\'"\' x; case\'"\': x; SOMER"(x" x; a = 1\'0; x'
        code = Tree("", {"a.cpp": text}).code("a.cpp")
        self.assertEqual([match.start() for match in re.finditer(r"\bx\b", code)], [name.start for name in cpp_tokens.names(text, "x")])
        self.assertEqual(6, len(cpp_tokens.names(text, "x")))

    def test_qualifiers_go_through_template_arguments_and_stop_at_keywords(self):
        text = "return ::read(); ring<a<b>, c>::pop(); f(x)::pop; hocket::tcp::dial"
        self.assertEqual([""], cpp_tokens.names(text, "read")[0].chain)
        self.assertEqual([["ring"], ["?"]], [name.chain for name in cpp_tokens.names(text, "pop")])
        self.assertEqual(["hocket", "tcp"], cpp_tokens.names(text, "dial")[0].chain)


if __name__ == "__main__":
    unittest.main()
