"""Negative controls of extract.py: no block escapes without a reason."""
import sys
import unittest

sys.dont_write_bytecode = True
from extract import Mistake, compare_pieces, snippets  # noqa: E402

LAYERS = ["base", "core", "coro"]


def found(text, layers=LAYERS):
    return list(snippets("a.md", text, layers))


def block(code, above=""):
    return f"Words.\n\n{above}\n```cpp\n{code}\n```\n"


class Extract(unittest.TestCase):
    def test_a_program_needs_no_directive(self):
        (kind, line, source), = found(block("int main() {}"))
        self.assertEqual((kind, line), ("program", 5))
        self.assertIn('#line 5 "a.md"\nint main() {}', source)

    def test_a_program_that_does_not_end_is_a_part(self):
        (kind, _, source), = found(block("int main() {}", "<!-- compile: -->"))
        self.assertEqual((kind, source), ("part", '#line 5 "a.md"\nint main() {}\n'))

    def test_a_part_without_directive_is_a_mistake(self):
        with self.assertRaises(Mistake):
            found(block("int n;"))

    def test_leaving_out_needs_a_reason(self):
        self.assertEqual(found(block("int n;", "<!-- not compiled: an idea of later -->")), [])
        with self.assertRaises(Mistake):
            found(block("int n;", "<!-- not compiled: -->"))

    def test_a_part_is_wrapped_with_its_headers(self):
        (kind, _, source), = found(block("int n;", "<!-- compile: hocket/coro/task.hpp chrono -->"))
        self.assertEqual(kind, "part")
        self.assertIn("#include <hocket/coro/task.hpp>\n#include <chrono>\n", source)

    def test_a_part_that_runs_is_a_program_that_checks(self):
        (kind, _, source), = found(block("int n() { return 1; }", "<!-- run: hocket/coro/task.hpp => n() == 1 -->"))
        self.assertEqual(kind, "program")
        self.assertIn("#include <hocket/coro/task.hpp>\n", source)
        self.assertTrue(source.endswith("int main() { return (n() == 1) ? 0 : 1; }\n"))
        with self.assertRaises(Mistake):
            found(block("int n;", "<!-- run: hocket/coro/task.hpp -->"))

    def test_statements_go_into_a_function(self):
        (_, _, source), = found(block("n = 1;", "<!-- compile in a function: hocket/coro/task.hpp -->"))
        self.assertRegex(source, r"void snippet\(\) \{\n#line 5 .*\nn = 1;\n\}")

    def test_a_layer_that_is_not_built_takes_its_blocks_away(self):
        fiber = block("#include <hocket/fiber/coroutine.hpp>\nint main() {}")
        self.assertEqual(found(fiber), [])
        self.assertEqual(len(found(fiber, [*LAYERS, "fiber"])), 1)
        self.assertEqual(found(block("#include <hocket/hocket.hpp>\nint main() {}")), [])

    def test_other_languages_are_not_ours(self):
        self.assertEqual(found("```sh\n./dev test\n```\n"), [])

    def test_a_piece_is_not_compiled_here(self):
        self.assertEqual(found(block("int n;", "<!-- from: a.cpp -->")), [])


class Pieces(unittest.TestCase):
    FILE = "int a;\n\nint b;\nint c;\n"

    def fault(self, *pieces):
        """The message about pieces of FILE, or None."""
        text = "".join(block(piece, "<!-- from: a.cpp -->") for piece in pieces)
        try:
            compare_pieces("a.md", text, lambda file: self.FILE if file == "a.cpp" else None)
        except Mistake as mistake:
            return str(mistake)

    def test_pieces_in_their_order_are_the_file(self):
        self.assertIsNone(self.fault("int a;\nint b;", "int c;"))
        self.assertIsNone(self.fault(self.FILE))

    def test_a_changed_line_is_a_mistake(self):
        self.assertEqual(self.fault("int a;\nint d;"), "a.md:6: not the next line of a.cpp, which is 3: int b;")

    def test_a_line_beyond_the_end_is_a_mistake(self):
        self.assertIn("which is its end", self.fault(self.FILE + "int d;"))

    def test_a_line_that_no_piece_shows_is_a_mistake(self):
        self.assertEqual(self.fault("int a;", "int b;"), "a.md: no piece shows a.cpp:4: int c;")
        self.assertIn("which is 1: int a;", self.fault("int b;\nint c;"))


if __name__ == "__main__":
    unittest.main()
