"""The list of all that the source documents have, held against the lab. The documents themselves are no part of the
project: OUTLINE says how many rows, columns and printed figures each of their tables has."""
import collections
import pathlib
import subprocess
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import catalogue, documents, figures, profile, report, source_documents, standing  # noqa: E402 (the path is set first)

import sample_report  # noqa: E402

ROOT = catalogue.LAB.parent
OUTLINE = {   # table: rows, columns, figures; a column that repeats another table's has its figures there
    "000": {"time": (3, 4, 12), "size": (4, 2, 8), "wrk": (13, 2, 26), "perf": (15, 2, 15)},
    "001": {"switches": (8, 3, 24), "functions": (3, 1, 3), "new-functions": (8, 3, 16), "threads": (8, 2, 8), "memory": (8, 3, 24),
            "memory-threads": (8, 2, 8)},
    "002": {"cpp20": (2, 5, 0), "all": (16, 5, 74), "text": (3, 1, 3)},
    "003": {"text": (13, 1, 13), "profile-switch": (10, 2, 20), "profile-task": (18, 2, 36)},
    "004": {"all": (16, 6, 78), "text": (1, 1, 1)},
}
NAMED = {     # systems, and how many mechanisms stand beside the tables
    "000": (["clang-20", "clang-21", "LCC", "libcoro", "cppcoro", "ApacheBench"], 13),
    "001": (["HuaweiJDK", "Loom", "Go", "tbox", "Boost.Context", "getcontext/setcontext", "threads"], 6),
    "002": (["Clang", "MSVC", "libcopp", "libcotask", "libco,", "libgo", "goroutine", "linux ucontext", "call_in_stack"], 8),
    "003": (["libcopp", "libcotask", "libgo", "callcc", "call_in_stack"], 15),
    "004": (["coroutine_context", "libcopp task", "task_future", "callable_future", "generator_future", "channel", "jemalloc"], 15),
}
MACHINES, CHARTS = {"000": [14], "001": [], "002": [13, 6], "003": [], "004": []}, {"004": [10, 16]}
# What the list names and the tree does not have yet. It must be empty in the end.
WAITING = set()

ALL = documents.documents()
CELLS = [cell for document in ALL for cell in document.cells()]
MECHANISMS = [entry for document in ALL for entry in document.mechanisms]


def sizes_of():
    """{metric: (its unit, the workload of its group, its sizes)}"""
    return {metric["id"]: (metric["unit"], group["workload"],
                           {size["n"] for size in page.sizes(group, "full") if size["n"] >= metric.get("from_n", 0)})
            for page in catalogue.pages(["all"]) for group, metric in page.metrics()}


class Outline(unittest.TestCase):
    def test_no_table_row_column_or_figure_is_missing(self):
        found = {document.number: {table.id: (len(table.rows), len(table.columns),
                                              sum(cell.figure is not None and not cell.repeats for row in table.cells for cell in row))
                                   for table in document.tables} for document in ALL}
        self.assertEqual(found, OUTLINE)

    def test_every_row_has_an_entry_for_each_column(self):
        for document in ALL:
            for table in document.tables:
                for row in table.rows:
                    self.assertEqual(len(row.get("figures", table.columns)), len(table.columns), row["name"])

    def test_every_system_and_mechanism_is_named(self):
        for document in ALL:
            names, mechanisms = NAMED[document.number]
            known = [cell.system for cell in document.cells()] + [entry["name"] for entry in document.mechanisms]
            for name in names:
                self.assertTrue(any(name in text for text in known), (document.number, name))
            self.assertEqual(len(document.mechanisms), mechanisms, document.number)
            self.assertEqual([machine["rows"] for machine in document.machines], MACHINES[document.number])
            self.assertEqual([chart["rows"] for chart in document.charts], CHARTS.get(document.number, []))

    def test_a_repeated_figure_is_published_once(self):
        places = collections.Counter((f["document"], f["system"], f["workload"], f["n"]) for f in documents.Published().figures
                                     if "n" in f)
        shared = {place for place, count in places.items() if count > 1}
        # In document 004 the figures beside them distinguish the three columns of a size.
        self.assertEqual({document for document, *_ in shared} - {"004"}, set())
        first, second = (next(table for table in document.tables if table.id == name) for document in ALL
                         if document.number == "001" for name in ("switches", "new-functions"))
        self.assertEqual([row[0].figure for row in first.cells], [row[0].figure for row in second.cells])


class Accounts(unittest.TestCase):
    """Every row is measured, or shown by a test, or has its reason."""
    systems = {system.id: system for system in catalogue.systems()}
    metrics = sizes_of()

    def test_every_figure_is_accounted_for(self):
        for cell in CELLS:
            self.assertTrue(cell.is_accounted_for(), (cell.table.anchor(), cell.system, cell.text))

    def test_every_metric_has_the_unit_and_the_size_of_the_figure(self):
        for cell in CELLS:
            for metric in cell.workloads if cell.figure else []:
                unit, _, sizes = self.metrics[metric]
                if not cell.ratio_to:
                    self.assertEqual(unit, cell.unit, (metric, cell.system))
                if cell.subjects or cell.ours:
                    self.assertIn(cell.n, sizes, (metric, cell.system))

    def test_every_subject_measures_it(self):
        for cell in CELLS:
            for name in {*cell.subjects, *cell.ours, *filter(None, [cell.ratio_to])} & self.systems.keys():
                workloads = {self.metrics[metric][1] for metric in cell.workloads}
                self.assertTrue(workloads & set(self.systems[name].workloads), (name, cell.workloads))

    def test_every_mechanism_is_shown_in_one_way(self):
        for entry in MECHANISMS:
            ways = [way for way in ("test", "workload", "reason", "waits_for") if way in entry]
            self.assertEqual(len(ways), 1, entry["name"])
            self.assertTrue("reason" in entry or entry["ours"], entry["name"])
            self.assertIn(entry.get("workload", "round_trip"), self.metrics)

    def test_every_test_is_in_the_tree(self):
        for entry in MECHANISMS:
            path = ROOT / entry.get("test", {}).get("file", ".")
            if "case" in entry.get("test", {}):
                self.assertIn(entry["test"]["case"], path.read_text(encoding="utf-8"), path)

    def test_every_reason_is_used_and_told(self):
        used = {cell.reason for cell in CELLS} | {entry.get("reason") for entry in MECHANISMS}
        self.assertEqual(used - {None}, set(documents.reasons()))

    def test_what_is_waited_for_is_not_there_and_nothing_else_is_missing(self):
        named = {name for cell in CELLS for name in (*cell.subjects, *cell.ours)} | {
            entry["system"] for entry in MECHANISMS if "system" in entry}
        files = {cell.page for cell in CELLS if cell.page} | {entry["test"]["file"] for entry in MECHANISMS if "test" in entry}
        verbs = subprocess.run([sys.executable, str(catalogue.LAB / "run.py"), "--help"], capture_output=True, text=True, check=True).stdout
        commands = {cell.command for cell in CELLS if cell.command}
        missing = (named - self.systems.keys()) | {name for name in files if not (ROOT / name).exists()} | {
            command for command in commands if command.removeprefix("./dev lab ").split()[0] not in verbs.split()} | {
            entry["waits_for"] for entry in MECHANISMS if "waits_for" in entry}
        self.assertEqual(missing, WAITING)


class Ours(unittest.TestCase):
    """Each table of each document has something of ours beside it, also in docs/source-documents.md."""

    def test_every_table_has_a_column_of_ours_or_a_profile(self):
        profiles = {table for _, table in profile.PROFILES.values()}
        for document in documents.documents():
            for table in document.tables:
                ours = any(cell.ours and cell.workloads for row in table.cells for cell in row)
                self.assertTrue(ours or table.id in profiles, table.anchor())

    def test_every_row_has_a_figure_of_ours_or_a_reason(self):
        for document in documents.documents():
            for table in document.tables:
                for row, cells in zip(table.rows, table.cells):
                    figures_ = [cell for cell in cells if cell.figure]
                    self.assertTrue(all(cell.ours or cell.is_accounted_for() for cell in figures_), (table.anchor(), row["name"]))

    def test_the_page_has_every_table(self):
        page = source_documents.page(report.Report([sample_report.of_pages(["all"])]))
        for document in documents.documents():
            for table in document.tables:
                self.assertIn(f"### {source_documents.clean(table.english)}", page)
        self.assertIn("(`hocket-compile-gcc`)", page)
        self.assertIn("(`hocket-http-readme`)", page)


class Printed(unittest.TestCase):
    def test_a_figure_as_it_is_printed(self):
        for text, unit, value in (("1 246 ± 13", "k/s", {"value": 1246, "remark": "± 13"}), ("60-70ns", "ns", {"value": 60, "to": 70}),
                                  ("0m0,494s", "s", {"value": 0.494}), ("1.32ms", "us", {"value": 1320}),
                                  ("36.99MB", "MB/s", {"value": 38.79}), ("41ns(-38%)", "ns", {"value": 41}),
                                  ("3,04 Мб", "MiB", {"value": 3.04}), ("60ns+", "ns", {"value": 60, "remark": "or more"})):
            self.assertEqual(figures.parse(text, unit), value, text)
        self.assertEqual(figures.parse("25954043811", "M", "1"), {"value": 25954})

    def test_what_is_no_figure_is_refused(self):
        for text in ("", "fast", "12 parsecs light", "-"):
            with self.assertRaises(ValueError):
                figures.parse(text, "ns")


class Headline(unittest.TestCase):
    def test_every_page_says_who_stands_for_hocket(self):
        self.assertEqual(set(catalogue.read("headline.json")), {page.name for page in catalogue.pages(["all"])})

    def test_every_pattern_names_a_system(self):
        names = [system.id for system in catalogue.systems()]
        for entries in catalogue.read("headline.json").values():
            for entry in entries:
                patterns = [*entry["ours"], *entry.get("peers", []), *entry.get("but", []), *sum(entry.get("but_in", {}).values(), [])]
                for pattern in patterns:
                    self.assertTrue(any(standing.matches(name, [pattern]) for name in names), pattern)


if __name__ == "__main__":
    unittest.main()
