"""./dev soak writes a row for each part, and an interrupted round continues."""
import pathlib
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from developer import soak  # noqa: E402 (the path comes first)
from developer.shell import Stop  # noqa: E402
from developer.soak import Outcome  # noqa: E402

PAGE = f"# Platforms\n\n{soak.BEGIN}\n{soak.TITLE}\n{soak.END}\n\nThe end.\n"
REPORT = """<testsuite tests="5" failures="{failures}" disabled="0" skipped="1">
<testcase name="unit_a"/><testcase name="unit_b">{inner}</testcase></testsuite>"""


class Soak(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        self.page = self.folder / "page.md"
        self.page.write_text(PAGE)
        for name, value in (("PAGE", self.page), ("ROUND", self.folder / "soak.json"), ("head_commit", lambda except_for: "abc1234"),
                            ("processor", lambda: "some processor")):
            patch = mock.patch.object(soak, name, value)
            patch.start()
            self.addCleanup(patch.stop)

    def run_parts(self, *parts):
        with mock.patch("builtins.print"):
            return soak.run([(name, action, "1") for name, action in parts])

    def rows(self):
        return soak.read_rows(self.page.read_text())

    def test_each_part_has_a_row_and_the_rest_of_the_page_stays(self):
        self.assertEqual(0, self.run_parts(("dev", lambda: Outcome("passed", "239")), ("armhf", lambda: Outcome("not run: no compiler"))))
        self.assertEqual(["armhf", "dev"], list(self.rows()))
        self.assertEqual(["passed", "239", "1"], self.rows()["dev"][1:4])
        self.assertEqual(["abc1234", "some processor"], self.rows()["dev"][6:])
        self.assertTrue(self.page.read_text().startswith("# Platforms\n"))
        self.assertTrue(self.page.read_text().endswith("\nThe end.\n"))

    def test_a_failure_is_a_row_and_the_round_continues(self):
        self.assertEqual(1, self.run_parts(("dev", lambda: Outcome("FAILED: unit_a")), ("asan", lambda: Outcome("passed"))))
        self.assertEqual(["passed", "FAILED: unit_a"], [row[1] for row in self.rows().values()])

    def test_an_interrupted_round_continues_where_it_ended(self):
        runs = []

        def interrupted():
            raise KeyboardInterrupt

        def passes(name):
            return lambda: runs.append(name) or Outcome("passed")

        with self.assertRaises(KeyboardInterrupt):
            self.run_parts(("dev", passes("dev")), ("asan", interrupted))
        self.run_parts(("dev", passes("dev")), ("asan", passes("asan")))
        self.assertEqual(["dev", "asan"], runs)
        self.run_parts(("dev", passes("dev")))  # the next round begins anew
        self.assertEqual(["dev", "asan", "dev"], runs)
        self.assertEqual(["dev"], list(self.rows()))  # asan is no part any more

    def test_a_continued_round_remembers_a_failure(self):
        def interrupted():
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            self.run_parts(("asan", lambda: Outcome("FAILED: unit_a")), ("tsan", interrupted))
        self.assertEqual(1, self.run_parts(("asan", interrupted), ("tsan", lambda: Outcome("passed"))))

    def test_a_part_that_cannot_run_is_a_row(self):
        def stops():
            raise Stop("the copy cannot be configured")

        self.assertEqual(1, self.run_parts(("mutants", stops)))
        self.assertEqual("FAILED: the copy cannot be configured", self.rows()["mutants"][1])

    def test_a_report_of_ctest_is_read(self):
        report = self.folder / "report.xml"
        self.assertEqual("FAILED: no test ran", soak.outcome_of(report, 0).result)
        report.write_text(REPORT.format(failures=0, inner=""))
        self.assertEqual(Outcome("passed", "4, 1 skipped"), soak.outcome_of(report, 0))
        report.write_text(REPORT.format(failures=1, inner="<failure/>"))
        self.assertEqual(Outcome("FAILED: unit_b", "4, 1 skipped"), soak.outcome_of(report, 8))
        report.write_text('<testsuite tests="3" failures="0" disabled="0" skipped="3"/>')
        self.assertEqual("FAILED: no test ran", soak.outcome_of(report, 0).result)

    def test_the_page_of_the_tree_has_a_table(self):
        text = (soak.ROOT / "SUPPORTED_PLATFORMS.md").read_text()
        self.assertIn(soak.BEGIN, text)
        self.assertEqual(text, soak.with_rows(text, soak.read_rows(text)))


if __name__ == "__main__":
    unittest.main()
