"""What a report says: how several become one, where hocket stands, and what its page holds. No browser is needed."""
import base64
import csv
import io
import json
import pathlib
import re
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import catalogue, compare, headline, measure, report, standing, terminal, webpage  # noqa: E402 (the path is set first)
import sample_report  # noqa: E402


def run_of(medians, workload="round_trip", page="switch", n=1, **more):
    """A report.json with one row for each system."""
    unit = next(metric["unit"] for found in catalogue.pages([page]) for _, metric in found.metrics() if metric["id"] == workload)
    rows = [{"page": page, "workload": workload, "system": system, "n": n, "unit": unit, "median": value, "min": value, "max": value,
             "runs": 1} for system, value in medians.items()]
    return {**report.DEFAULTS, "command": "./dev lab", "date": "2001-02-03", "machine": {}, "pages": [page], "rows": rows, **more}


def standings(medians, **more):
    return [(row.mine["system"], row.peer["system"], round(row.ratio, 3))
            for row in standing.standings(report.Report([run_of(medians, **more)]))]


class Expected(unittest.TestCase):
    """The expected duration of a full run."""

    def expected_text(self, last):
        page = catalogue.Page("p", {"title": "", "about": "", "groups": [
            {"workload": "w", "sizes": [{"n": 1, "stack": 1}], "full": [{"n": 2, "stack": 1}], "metrics": [{"id": "w", "unit": "ns"}]}]})
        system = catalogue.System({"id": "x", "kind": "floor", "what": "", "workloads": ["w"]}, catalogue.LAB)
        system.command = ["subject"]
        with tempfile.TemporaryDirectory() as folder:
            before = pathlib.Path(folder, "report.json")
            if last:
                before.write_text(json.dumps(last))
            return report.expected(measure.Measurement([page], [system], "full"), before)

    def test_it_is_what_the_last_run_of_its_kind_took(self):
        last = run_of({"hocket-fiber": 1}, mode="full", seconds=600, programs=10)
        self.assertEqual(self.expected_text(last), "6 calls of programs; they take about 6 minutes (by the run of 2001-02-03)")

    def test_another_kind_of_run_and_an_interrupted_one_do_not_count(self):
        for last in (None, run_of({}, seconds=600, programs=10), run_of({}, mode="full", seconds=6, programs=10, **{"cut short": "x"}),
                     run_of({}, mode="full")):
            self.assertRegex(self.expected_text(last), "^6 calls of programs; they take about 1 minute .by a machine with two cores.$")


class Standing(unittest.TestCase):
    def test_the_best_peer_of_the_same_kind_counts(self):
        found = standings({"hocket-coroutine": 4, "boost-context": 8, "rust-corosensei-mmap": 2, "cpp20-handle": 1})
        self.assertEqual(found, [("hocket-coroutine", "rust-corosensei-mmap", 2.0)])

    def test_what_goes_by_a_scheduler_is_compared_with_its_like(self):
        found = standings({"hocket-coroutine": 4, "hocket-fiber": 10, "boost-context": 8, "boost-fiber": 20})
        self.assertEqual(found, [("hocket-coroutine", "boost-context", 0.5), ("hocket-fiber", "boost-fiber", 0.5)])

    def test_a_floor_is_no_peer(self):
        self.assertEqual(standings({"hocket-fiber": 4, "two-rmw": 1}, workload="mutex", page="wait"), [])

    def test_primitives_of_one_thread_do_not_stand_for_those_of_several(self):
        found = standings({"hocket-fiber": 4, "hocket-fiber-unsync": 1, "boost-fiber": 2}, workload="mutex", page="wait")
        self.assertEqual(found, [("hocket-fiber", "boost-fiber", 2.0)])

    def test_a_row_that_is_behind_has_the_reason_of_its_bar(self):
        row = standing.Standing(next(iter(catalogue.pages(["wait"]))), {}, {"id": "mutex"}, 1, {"system": "hocket-fiber"}, {"system": "go"}, 2.0)
        history = [{"page": "wait", "workload": "mutex", "against": "other", "why": "of another peer"},
                   {"page": "wait", "workload": "mutex", "against": ["rust", "go"], "n": [1, 2], "why": "tried in vain"}]
        self.assertEqual(standing.reason(row, history), "tried in vain")
        self.assertEqual(standing.reason(row._replace(n=3), history), "")

    def test_sizes_that_compare_unlike_things_are_left_out(self):
        data = report.Report([sample_report.of_pages(["switch"])])
        sizes = {(row.metric["id"], row.n) for row in standing.standings(data)}
        self.assertIn(("round_trip", 1), sizes)
        self.assertNotIn(("create", 1), sizes)
        self.assertIn(("lifetime", 1000), sizes)

    def test_where_more_is_better_the_most_is_best_and_less_is_behind(self):
        found = standings({"hocket-fiber": 50, "go-yield": 100, "java-virtual": 10}, workload="switches", page="managed", n=100)
        self.assertEqual(found, [("hocket-fiber", "go-yield", 2.0)])

    def test_level_is_what_two_runs_may_differ_by(self):
        self.assertEqual([standing.verdict(ratio) for ratio in (0.5, 0.95, 1.09, 1.2)], ["ahead", "level", "level", "behind"])

    def test_a_smoke_run_has_no_headline(self):
        medians = {"hocket-coroutine": 4, "boost-context": 8}
        self.assertIn("in 1 of 1 rows", headline.headline(report.Report([run_of(medians)])))
        several = report.Report([run_of(medians, mode="smoke")])
        self.assertEqual(headline.headline(several), "")
        self.assertIn("figures mean nothing", webpage.render(several))


class Several(unittest.TestCase):
    def test_a_page_is_taken_whole_from_the_last_that_has_it(self):
        first = run_of({"hocket-coroutine": 4, "boost-context": 8})
        wait = run_of({"hocket-fiber": 3}, workload="mutex", page="wait")
        several = report.Report([first, wait, run_of({"hocket-coroutine": 5})])
        self.assertEqual({(row["workload"], row["system"]): row["median"] for row in several.results.rows},
                         {("mutex", "hocket-fiber"): 3, ("round_trip", "hocket-coroutine"): 5})
        self.assertEqual([page.name for page in several.pages], ["switch", "wait"])

    def test_what_was_written_is_read_again(self):
        sample = sample_report.of_pages(["wait"])
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "report.json")
            report.write(sample, path)
            self.assertEqual(report.read(path), sample)

    def test_an_older_report_is_rendered(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "report.json")
            new = run_of({"hocket-coroutine": 4, "boost-context": 8})
            path.write_text(json.dumps({name: new[name] for name in ("command", "date", "machine", "rows")}))
            self.assertIn("in 1 of 1 rows", webpage.render(report.Report([report.read(path)])))

    def test_what_is_no_report_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "report.json")
            for text in ("{", "[]", '{"rows": 1}'):
                path.write_text(text)
                with self.assertRaisesRegex(SystemExit, "report.json is no report.json of ./dev lab"):
                    report.read(path)


class Page(unittest.TestCase):
    """The page of every table, with invented figures."""
    sample = sample_report.of_pages(["all"])
    results = report.Report([sample])
    html = webpage.render(results)

    def section(self, begin, end):
        return self.html[self.html.index(f'id="{begin}"'):self.html.index(f'id="{end}"')]

    def test_every_table_of_the_documents_is_there_by_its_own_name(self):
        for document in self.results.published.documents.values():
            for table in document.tables:
                self.assertIn(f'id="{table.anchor()}"', self.html)
        self.assertIn("Измерение скорости переключения потоков и сопрограмм", self.html)

    def test_published_and_measured_stand_side_by_side(self):
        row = next(row for row in self.sample["rows"] if (row["workload"], row["system"], row["n"]) == ("round_trip", "ucontext", 1))
        line = next(line for line in self.section("document-002-all", "document-002-text").split("<tr>") if "linux ucontext" in line)
        self.assertIn(">439</span>", line)
        self.assertIn(f'>{compare.number(row["median"])}</span>', line)

    def test_the_reason_for_a_missing_figure_is_shown(self):
        page = webpage.render(report.Report([sample_report.of_pages(["wait"])]))
        self.assertIn("go-yield: the page managed was not run: ./dev lab --page managed", page)
        self.assertIn("libcopp is in no package registry", page)
        skipped = {"skipped systems": {"go-yield": "go is not installed"}}
        self.assertIn("go-yield: go is not installed", webpage.render(report.Report([sample_report.of_pages(["managed"], **skipped)])))

    def test_it_opens_with_the_ten_rows(self):
        begin = self.html[:self.html.index('class="strips"')]
        for row in catalogue.read("overview.json")["rows"]:
            self.assertIn(row["title"].replace("&", "&amp;"), begin)

    def test_a_profile_stands_beside_its_table(self):
        shares = {"profile-switch": {"system": "hocket-coroutine", "shares": [["coroutine::resume", 0.4]], "rest": 0.6}}
        page = webpage.render(report.Report([{**self.sample, "profiles": shares}]))
        self.assertIn("<td>coroutine::resume</td><td>40.00%</td>", page)

    def test_nothing_is_fetched(self):
        self.assertEqual(re.findall(r'(?:src|href)="(?!#|data:)[^"]*"|url\([^)]*\)|@import', self.html), [])

    def test_the_raw_figures_are_in_it(self):
        data = dict(re.findall(r'download="([\w.]+)" href="data:[\w/]+;charset=utf-8;base64,([\w+/=]+)"', self.html))
        raw = {name: base64.b64decode(text).decode("utf-8") for name, text in data.items()}
        self.assertEqual(json.loads(raw["report.json"]), self.sample)
        rows = list(csv.DictReader(io.StringIO(raw["report.csv"])))
        self.assertEqual([row["system"] for row in rows], [row["system"] for row in self.sample["rows"]])

    def test_every_link_leads_somewhere_also_where_pages_are_missing(self):
        for page in (self.html, webpage.render(report.Report([sample_report.of_pages(["switch"])]))):
            targets, links = (re.findall(pattern, page) for pattern in (r'id="([\w-]+)"', r'href="#([\w-]+)"'))
            self.assertEqual(set(links) - set(targets), set())
            self.assertEqual(len(targets), len(set(targets)))

    def test_the_spread_of_the_runs_is_shown(self):
        self.assertIn("nine of ten rows within", self.html)
        self.assertIn("nine of ten rows within", terminal.render(self.results))


if __name__ == "__main__":
    unittest.main()
