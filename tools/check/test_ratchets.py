"""The lists that may only shrink: what findings say, and how the lists change. Run by ctest as house.ratchets."""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from check import cycles, names, prose, runner  # noqa: E402 (the path comes first)
from check.tree import Tree  # noqa: E402

LIST = names.RATCHET.path


def names_of(count):
    return "".join(f"int one{'' if i else ', told'};\n" for i in range(count - 1))


class Ratchets(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)

    def plant(self, files):
        return Tree.planted(self.root, files)

    def shrink(self, files):
        """The list after a shrink of a planted tree, and the lines that the shrink prints."""
        output = io.StringIO()
        with contextlib.redirect_stdout(output):
            names.RATCHET.shrink(self.plant(files))
        return (self.root / LIST).read_text(), output.getvalue()

    def test_a_finding_names_up_to_five_words_with_lines_and_says_how_a_row_moves(self):
        found, = names.check(self.plant({"a.cpp": "\n" + names_of(9)}))
        self.assertEqual((found.path, found.line), ("a.cpp", 2))
        self.assertIn("9 everyday words as names, at most 0: one (line 2), told (line 2), one (line 3)", found.text)
        self.assertEqual(found.text.count("(line"), 5)
        self.assertIn(f"move its row in {LIST} by hand", found.text)

    def test_a_finding_begins_with_lines_that_are_not_committed(self):
        tree = self.plant({"a.cpp": names_of(9)})
        for command in (["init", "-q"], ["add", "."], ["-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "a"]):
            subprocess.run(["git", *command], cwd=self.root, check=True)
        tree = self.plant({"a.cpp": names_of(9) + "int asked;\n", LIST: "a.cpp\t9\n"})
        found, = names.check(tree)
        self.assertIn("10 everyday words as names, at most 9: asked (line 9), one (line 1)", found.text)

    def test_a_shrink_lowers_rows_and_never_raises_one(self):
        files = {"a.cpp": names_of(3), "b.cpp": names_of(3), "c.cpp": names_of(3), "d.cpp": "int n;\n",
                 LIST: "# Names.\na.cpp\t2\nb.cpp\t5\ta reason\nd.cpp\t1\ne.cpp\t1\n"}
        text, printed = self.shrink(files)
        self.assertEqual(text, "# Names.\na.cpp\t2\nb.cpp\t3\ta reason\n")
        self.assertEqual(printed, f"{LIST}: b.cpp: 5 -> 3\n{LIST}: d.cpp: 1 -> no row\n{LIST}: e.cpp: 1 -> no row\n")

    def test_a_list_that_is_written_anew_has_all_rows_with_their_reasons(self):
        tree = self.plant({"a.cpp": names_of(3), "b.cpp": names_of(2), LIST: "# Names.\nb.cpp\t1\ta reason\n"})
        with contextlib.redirect_stdout(io.StringIO()):
            names.RATCHET.write_anew(tree)
        self.assertEqual((self.root / LIST).read_text(), "# Names.\na.cpp\t3\nb.cpp\t2\ta reason\n")

    def test_a_row_that_is_broken_is_a_finding_at_its_line_and_is_not_written_again(self):
        tree = self.plant({"a.cpp": names_of(3), LIST: "# Names.\n\na.cpp  3\na.cpp\tthree\na.cpp\t3\n"})
        self.assertEqual([(place.path, place.line) for place in names.check(tree)], [(LIST, 3), (LIST, 4)])
        for write in (names.RATCHET.shrink, names.RATCHET.write_anew):
            with self.assertRaisesRegex(SystemExit, f"{LIST}:3: expected the key"):
                write(tree)

    def test_prose_that_is_within_the_limits_needs_no_row(self):
        clean = "// a lock is held by the owner of a word\n" * 140
        found, = prose.check(self.plant({"a.cpp": clean + "// who\n// who\n", prose.RATCHET.path: "a.cpp\trelative\t3\n"}))
        self.assertEqual((found.path, found.line), (prose.RATCHET.path, 1))

    def test_prose_knows_the_lines_of_python_and_markdown(self):
        found = prose.check(self.plant({"a.py": "n = 1  # who\nn = 2  # whom\n", "b.md": "# Who\n\n- a\n\n    that\n    of\n"}))
        self.assertEqual([(place.path, place.line) for place in found], [("a.py", 1), ("b.md", 1)])
        self.assertIn("who (line 1), whom (line 2)", found[0].text)
        self.assertIn("Who (line 1), that of (line 5)", found[1].text)

    def test_a_knot_names_its_nouns(self):
        files = {f"src/core/n{i}.cpp": f'#include "core/n{(i + 1) % 7}.hpp"\n' for i in range(7)}
        files |= {f"src/core/n{i}.hpp": "" for i in range(7)}
        found, = cycles.check(self.plant(files))
        self.assertEqual((found.path, found.line), ("core", 0))
        self.assertIn("n0, n1, n2, n3, n4, n5, n6", found.text)

    def test_rules_with_lists(self):
        self.assertEqual(runner.ratchets(), ["cycles", "names", "prose"])


if __name__ == "__main__":
    unittest.main()
