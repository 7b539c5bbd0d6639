"""The tables that the lab writes into documents: of bars with their reasons, and of costs."""
import json
import pathlib
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import bars, catalogue, costs, marked  # noqa: E402 (the path is set first)

ROOT = catalogue.LAB.parent


class FakePage:
    name = "page"


class FakeReport:
    """Bars as a report judges them."""
    pages = [FakePage()]
    runs = [{"command": "./dev lab", "date": "2026-01-01", "machine": {"processor": "a processor", "C++": "a compiler"}}]

    def __init__(self, *outcomes):
        self.outcomes = outcomes

    def judged(self, page):
        return [{"page": page.name, "workload": "w", "system": "hocket-a", "against": ["other"], "statistic": "median", "n": n, "at_most": 1.0,
                 "of": "hocket-a / other", "outcome": outcome, "verdict": "ok" if outcome <= 1 else "over"}
                for n, outcome in enumerate(self.outcomes, 1)]


class Bars(unittest.TestCase):
    reason = {"page": "page", "workload": "w", "against": "other", "was": "3.0", "why": "001: what was tried"}

    def test_a_bar_that_is_over_wants_a_reason(self):
        text, unexplained = bars.table(FakeReport(2.0), [])
        self.assertEqual(unexplained, ["page: w, hocket-a / other"])
        self.assertIn("0 of 1 measured bars are held", text)
        text, unexplained = bars.table(FakeReport(2.0), [self.reason])
        self.assertEqual(unexplained, [])
        self.assertIn("| page: w | hocket-a / other | 1 | 1.00 | 2.00 | 3.0 | 001: what was tried |", text)

    def test_the_sizes_of_a_bar_stand_together(self):
        text, _ = bars.table(FakeReport(0.5, 2.0), [self.reason])
        self.assertIn("| 1, 2 | 1.00 | 0.50 held, 2.00 | 3.0 |", text)

    def test_what_is_held_and_has_no_history_is_counted_only(self):
        text, unexplained = bars.table(FakeReport(0.5), [])
        self.assertEqual((unexplained, text.count("hocket-a")), ([], 0))
        self.assertIn("1 of 1 measured bars are held", text)

    def test_a_reason_is_for_the_sizes_that_it_names(self):
        text, unexplained = bars.table(FakeReport(2.0, 2.0), [{**self.reason, "n": 2}])
        self.assertEqual(len(unexplained), 1)
        self.assertIn("| 2 | 1.00 | 2.00 | 3.0 |", text)

    def test_every_reason_is_that_of_a_bar(self):
        every = catalogue.bars(catalogue.pages(["all"]), "full")
        for reason in catalogue.read("history.json"):
            self.assertTrue(any(bars.reason_for(bar, [reason]) for bar in every), reason)


class Costs(unittest.TestCase):
    def test_every_row_is_measured_or_counted(self):
        counts = json.loads(costs.COUNTS.read_text(encoding="utf-8"))["instructions"]
        groups = {metric["id"]: (page, group) for page in catalogue.pages(["all"]) for group, metric in page.metrics()}
        systems = {system.id: system for system in catalogue.systems()}
        for row in catalogue.read("costs.json"):
            if "heading" in row:
                continue
            self.assertTrue("count" in row or "workload" in row, row)
            if "count" in row:
                self.assertIn(row["count"], counts)
            if "workload" in row:
                page, group = groups[row["workload"]]
                self.assertIn(row["n"], [size["n"] for size in page.sizes(group, "default")], row)
                self.assertIn(group["workload"], systems[row["system"]].workloads, row)

    def test_the_documents_have_a_place_for_the_tables(self):
        for path, begin, end in ((costs.PAGE, costs.BEGIN, costs.END), (bars.DECISION, bars.BEGIN, bars.END)):
            text = path.read_text(encoding="utf-8")
            self.assertEqual((text.count(begin), text.count(end)), (1, 1), path)


class Marked(unittest.TestCase):
    def test_what_stands_between_the_marks_is_replaced(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "a.md"
            path.write_text("before\n<a>\nold\n<b>\nbehind\n", encoding="utf-8")
            marked.rewrite(path, "<a>", "<b>", "new")
            self.assertEqual(path.read_text(encoding="utf-8"), "before\n<a>\nnew\n<b>\nbehind\n")
            with self.assertRaises(SystemExit):
                marked.rewrite(path, "<c>", "<b>", "new")


if __name__ == "__main__":
    unittest.main()
