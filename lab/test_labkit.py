"""The lab's own parts, each with something that it must not accept. No figure of a machine is tested."""
import contextlib
import io
import json
import math
import os
import pathlib
import random
import re
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import against, builders, catalogue, compare, documents, measure, overview, terminal  # noqa: E402 (the path is set first)


def results(**medians):
    return compare.Results([{"workload": "w", "system": name.replace("_", "-"), "n": 1, "median": value, "min": value}
                            for name, value in medians.items()])


class Bars(unittest.TestCase):
    ahead = {"workload": "w", "n": 1, "system": "hocket-a", "against": "others", "statistic": "median", "at_least": 1.0}

    def test_ahead_of_all_others_means_of_the_best(self):
        judged = compare.judge(self.ahead, results(hocket_a=10, hocket_b=90, slow=1, fast=9))
        self.assertEqual((judged["verdict"], judged["outcome"]), ("ok", 10 / 9))
        self.assertEqual(compare.judge(self.ahead, results(hocket_a=10, slow=1, fast=11))["verdict"], "under")

    def test_nothing_to_compare_with_is_no_success(self):
        self.assertEqual(compare.judge(self.ahead, results(hocket_a=10))["verdict"], "not measured")

    def test_at_most_takes_the_lowest(self):
        bar = {**self.ahead, "against": ["slow", "fast"], "at_most": 1.0}
        del bar["at_least"]
        self.assertEqual(compare.judge(bar, results(hocket_a=10, slow=20, fast=9))["verdict"], "over")

    def test_against_another_size(self):
        rows = [{"workload": "w", "system": "hocket-a", "n": n, "median": value, "min": value}
                for n, value in ((1, 10), (1000, 12))]
        bar = {"workload": "w", "n": 1000, "system": "hocket-a", "against": ["hocket-a"], "against_n": 1,
               "statistic": "median", "at_most": 1.15}
        judged = compare.judge(bar, compare.Results(rows))
        self.assertEqual((judged["verdict"], judged["outcome"]), ("over", 1.2))
        self.assertIn("at n = 1", judged["of"])

    def test_against_another_workload(self):
        rows = [{"workload": w, "system": name, "n": 1, "median": value, "min": value}
                for w, name, value in (("together", "hocket-a", 10), ("each", "hocket-a", 20), ("each", "other", 100))]
        bar = {"workload": "together", "n": 1, "system": "hocket-a", "against": ["other"], "statistic": "median",
               "at_most": 0.2}
        self.assertEqual(compare.judge(bar, compare.Results(rows))["verdict"], "not measured")
        judged = compare.judge({**bar, "against_workload": "each"}, compare.Results(rows))
        self.assertEqual((judged["verdict"], judged["outcome"]), ("ok", 0.1))
        self.assertIn("in each", judged["of"])

    def test_less_what_another_system_takes(self):
        bar = {"workload": "w", "n": 1, "system": "hocket-a", "minus_system": "floor", "limit": 30, "unit": "instr."}
        judged = compare.judge(bar, results(hocket_a=45, floor=16))
        self.assertEqual((judged["verdict"], judged["outcome"], judged["of"]), ("ok", 29, "hocket-a, less floor"))
        self.assertEqual(compare.judge(bar, results(hocket_a=47, floor=16))["verdict"], "over")
        self.assertEqual(compare.judge(bar, results(hocket_a=47))["verdict"], "not measured")

    def test_a_bar_without_a_size_is_one_for_each(self):
        page, = catalogue.pages(["managed"])
        sizes = {bar["n"] for bar in catalogue.bars([page], "default") if bar["workload"] == "switches"}
        self.assertEqual(sizes, {100, 1000, 5000, 10000, 20000, 30000, 40000, 50000})


class Preloaded(unittest.TestCase):
    def test_a_library_that_is_not_there_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            program = pathlib.Path(folder, "subjects/x")
            program.parent.mkdir()
            program.touch()
            system = catalogue.System({"id": "x", "kind": "floor", "what": "", "workloads": [], "preload": "libnone.so.7"}, catalogue.LAB)
            with self.assertRaisesRegex(builders.Missing, "libnone.so.7 is not installed: `.+`"):
                builders.CMake.command(pathlib.Path(folder), system)


class Missing(unittest.TestCase):
    """What is not there is named with the command that brings it."""

    def reason(self, name, **environment):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, environment):
            for cached in (builders.go_program, builders.cargo_program, builders.java_program):
                cached.cache_clear()
            (system,) = catalogue.systems([name])
            return builders.prepare([system], pathlib.Path(folder))[name]

    def test_a_library(self):
        self.assertRegex(self.reason("onetbb"), "oneTBB is not installed: `apt-get install libtbb-dev`")
        for name in ("hocket-gc-fiber", "libgc-by-hand"):
            self.assertRegex(self.reason(name), "libgc.* is not installed: `apt-get install .*libgc-dev")

    def test_a_compiler_of_another_language(self):
        nothing = {"PATH": "/nowhere", "HOME": "/nowhere"}
        for name, message in (("go", "go is not installed: `apt-get install golang-go`"), ("rust-may", "cargo is not installed: .*cargo-web"),
                              ("rust-tokio", "cargo is not installed: .*cargo-web")):
            self.assertRegex(self.reason(name, **nothing), message)
        with unittest.mock.patch.object(builders, "java_homes", list):
            self.assertRegex(self.reason("java-virtual"), "no Java .*: `./dev setup`")


class Wanted(unittest.TestCase):
    def test_only_what_the_pages_measure_is_built(self):
        names = {system.id for system in catalogue.of_pages(catalogue.systems(), catalogue.pages(["manager"]))}
        self.assertTrue({"hocket-managed-task", "go-registry"} <= names)
        self.assertFalse({"hocket-coroutine", "lua-coroutine", "raw-epoll"} & names)

    def test_a_program_that_cannot_be_built_here_is_no_target(self):
        listed = "lab_hocket-task: phony\nlab_net-load: phony\nlab_hocket-task-clang: phony\nall: phony\n"
        with unittest.mock.patch.object(builders, "quietly", return_value=listed):
            self.assertEqual(builders.programs("build", catalogue.systems(["hocket-task", "onetbb"])), ["lab_hocket-task", "lab_net-load"])


class Recipes(unittest.TestCase):
    def test_every_folder_of_subjects_is_a_peer_with_one_recipe(self):
        folders = [folder for folder in (catalogue.LAB / "subjects").iterdir() if folder.is_dir()]
        self.assertEqual(set(folders), set(catalogue.peers()))
        for folder in folders:
            builders.recipe_of(folder)

    def test_a_folder_without_a_recipe_or_with_two_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            for file, count in ((None, "no"), ("go.mod", None), ("Cargo.toml", "more than one")):
                if file:
                    pathlib.Path(folder, file).touch()
                if not count:
                    self.assertIs(builders.recipe_of(pathlib.Path(folder)), builders.Go)
                    continue
                with self.assertRaisesRegex(SystemExit, f"{folder} has {count} recipe"):
                    builders.recipe_of(pathlib.Path(folder))

    def test_no_two_systems_have_one_name(self):
        names = [system.id for system in catalogue.systems()]
        self.assertEqual(len(names), len(set(names)))


class Crates(unittest.TestCase):
    """With a cargo without crates: it fails if it may not fetch, and records its arguments."""

    def build(self, has_crates, no_install):
        with tempfile.TemporaryDirectory() as folder:
            cargo, log = pathlib.Path(folder, "cargo"), pathlib.Path(folder, "log")
            cargo.write_text(f'#!/bin/sh\necho "$@" >> {log}\ncase "$*" in *--offline*) exit {0 if has_crates else 1};; esac\n')
            cargo.chmod(0o755)
            errors = io.StringIO()
            with unittest.mock.patch.dict(os.environ, {"PATH": f"{folder}:{os.environ['PATH']}", "HOCKET_NO_INSTALL": no_install}), \
                    contextlib.redirect_stderr(errors):
                skipped = builders.prepare([system for system in catalogue.systems() if system.folder.name == "corosensei"],
                                           pathlib.Path(folder))
            builds = [line for line in log.read_text().splitlines() if line.startswith("build")]
        return skipped, builds, errors.getvalue()

    def test_what_is_here_is_not_fetched(self):
        for no_install in ("", "1"):
            skipped, builds, printed = self.build(True, no_install)
            self.assertEqual((skipped, printed), ({}, ""))
            self.assertTrue(builds and all("--offline" in line for line in builds))

    def test_what_is_missing_is_named_and_fetched(self):
        skipped, builds, printed = self.build(False, "")
        self.assertEqual(skipped, {})
        self.assertTrue(builds and "--offline" not in builds[0])
        self.assertIn("corosensei 0.3.4", printed)

    def test_what_is_missing_is_skipped_where_nothing_may_be_installed(self):
        skipped, builds, printed = self.build(False, "1")
        self.assertEqual(set(skipped.values()), {"its crates are not here: run it without --no-install, or `cargo fetch` in its folder"})
        self.assertEqual((builds, printed), ([], ""))


class Tables(unittest.TestCase):
    def test_a_group_says_what_n_is_the_number_of(self):
        self.assertEqual(terminal.size(1000, {}), "n = 1,000")
        self.assertEqual([terminal.size(n, {"n_is": "workers"}) for n in (1, 2)], ["1 worker", "2 workers"])

    def test_a_reason_is_printed_once_for_all_its_workloads_and_sizes(self):
        reasons = {("x", "a", 1): "no", ("x", "a", 2): "no", ("x", "b", 1): "no", ("x", "b", 2): "no", ("x", "c", 1): "never",
                   ("y", "a", 1): "no"}
        self.assertEqual(terminal.together(reasons), ["x, a, b, n = 1; 2: no", "x, c, n = 1: never", "y, a, n = 1: no"])

    def test_one_table_has_a_row_for_each_metric_and_what_is_published(self):
        page, = catalogue.pages(["tasks"])
        group = next(group for group in page.groups if "one_table" in group)
        rows = [{"workload": "context_switch", "system": "hocket-O2-shared", "n": n, "median": n + 0.5, "min": n} for n in (1, 30000)]
        lines = terminal.one_table(group, compare.Results(rows), ["hocket-O2-shared"], documents.Published())
        row, = [line for line in lines if line.lstrip().startswith("coroutine: switch")]
        self.assertEqual(row.split()[2:], ["1.50", "(52)", "30,000", "(87)"])
        self.assertEqual(len(lines), 3 + len(group["metrics"]) + 1)


class Catalogue(unittest.TestCase):
    def test_every_bar_is_about_something(self):
        systems = {system.id for system in catalogue.systems()}
        workloads = {metric["id"] for page in catalogue.pages(["all"]) for _, metric in page.metrics()}
        for bar in catalogue.read("bars.json"):
            others = bar.get("against", [])
            self.assertLessEqual({bar["system"], *([] if others == "others" else others)}, systems)
            self.assertLessEqual({bar["workload"], bar.get("against_workload", bar["workload"])}, workloads)

    def test_every_workload_has_systems_and_a_baseline_among_them(self):
        for page in catalogue.pages(["all"]):
            for group in page.groups:
                names = [s.id for s in catalogue.systems() if group["workload"] in s.workloads]
                self.assertIn(group["baseline"], names)


def row(system, workload, n, median):
    return {"page": "p", "workload": workload, "system": system, "n": n, "unit": "ns", "median": median,
            "min": median, "max": median, "runs": 5}


class Overview(unittest.TestCase):
    ROW = {"title": "a switch", "unit": "ns", "metrics": ["round_trip"], "n": 1}

    def text(self, cell, *rows):
        return overview.cell_text(compare.Results(list(rows)), self.ROW, cell)

    def test_a_cell_has_a_figure_or_says_why_not(self):
        mine = row("hocket-coroutine", "round_trip", 1, 6.0)
        self.assertEqual(self.text("hocket-coroutine", mine), "6.00")
        self.assertEqual(self.text({"system": "hocket-coroutine", "as": "other"}, mine), "6.00 (other)")
        self.assertEqual(self.text({"none": "no switch"}, mine), "no switch")
        self.assertEqual(self.text("boost-context", mine), overview.MISSING)

    def test_a_row_of_several_metrics_wants_all_of_them(self):
        results = compare.Results([row("go-net", "net_paced_p50", 200, 50.0), row("go-net", "net_paced_p99", 200, 90.0)])
        self.assertEqual(overview.figures(results, ["net_paced_p50", "net_paced_p99"], "go-net", 200), [50.0, 90.0])
        self.assertIsNone(overview.figures(results, ["net_paced_p50", "net_paced_p999"], "go-net", 200))

    def test_every_cell_names_a_subject_that_has_its_row(self):
        systems = {system.id: system for system in catalogue.systems()}
        groups = {metric["id"]: (page, group) for page in catalogue.pages(["all"]) for group, metric in page.metrics()}
        data = catalogue.read("overview.json")
        self.assertEqual(len(data["rows"]), overview.ROWS)
        for row_ in data["rows"]:
            self.assertEqual(list(row_["cells"]), data["columns"])
            for metric in row_["metrics"]:
                page, group = groups[metric]
                self.assertIn(row_["n"], [size["n"] for size in page.sizes(group, "default")])
                for cell in row_["cells"].values():
                    if name := overview.system_of(cell):
                        self.assertIn(group["workload"], systems[name].workloads)

    def test_the_server_of_readme_is_the_one_that_is_measured(self):
        paths = [catalogue.LAB.parent / "README.md", catalogue.LAB / "subjects/hocket/net/readme.cpp"]
        readme, subject = (re.sub(r"(?<=\S)  +", " ", path.read_text(encoding="utf-8")) for path in paths)   # comments are aligned
        program, = (program for program in re.findall(r"^```cpp\n(.*?)^```", readme, re.M | re.S) if "http::serve" in program)
        handlers = re.search(r"^http::response hello.*?(?=^int main)", program, re.M | re.S).group()
        routes = re.findall(r"^  routes\..*\n", program, re.M)
        self.assertIn(handlers, subject)
        self.assertEqual(len(routes), 3)
        self.assertIn("".join(routes), subject)

    def test_compiling_is_a_sentence_below_the_table(self):
        results = compare.Results([row(name, metric, 1, value) for name, values in (("hocket-compile-server", (1.4, 231)), ("asio-compile-echo", (4.0, 378)))
                                   for metric, value in zip(("compile_server_seconds", "compile_server_memory"), values)])
        self.assertIn("1.40 s and 231 MB for README's server, and 4.00 s and 378 MB", overview.compile_text(results))
        self.assertEqual(overview.compile_text(compare.Results([])), "")

    def test_a_readme_without_a_place_for_the_table_is_refused(self):
        report = {"command": "./dev lab", "date": "2000-01-01", "machine": {"processor": "one", "C++": "two"}, "rows": []}
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder)
            (path / "report.json").write_text(json.dumps(report))
            (path / "README.md").write_text("# no place\n")
            with self.assertRaises(SystemExit), contextlib.redirect_stdout(io.StringIO()):
                overview.write(path / "report.json", path / "README.md")


class Against(unittest.TestCase):
    """Programs that are not run: what they would print is a figure with noise, and bursts that hit both commits."""

    def compared(self, factor, seed, noise=0.02, bursts=0.1, prints=None):
        draw = random.Random(seed)

        def call(job, all_metrics):
            self.assertFalse(all_metrics)
            burst = 1.5 if draw.random() < bursts else 1.0
            value = 100 * draw.gauss(1, noise) * burst * (factor if job.system.command == ["now"] else 1.0)
            return {metric["id"]: value for metric in job.group["metrics"]}, None
        sides = []
        for side in ("now", "before"):
            sides.append([system for system in catalogue.systems(["hocket-task-loop", "hocket-fiber"])])
            for system in sides[-1]:
                system.command = [side]
        comparison = against.Comparison(catalogue.pages(["switch", "wait"]), *sides)
        comparison.measurement.call = call if not prints else prints
        with contextlib.redirect_stderr(io.StringIO()):
            comparison.run()
        return comparison.rows()

    def test_the_interval_is_that_of_the_sign_test(self):
        self.assertEqual(against.interval(range(1, 16)), (4, 12))    # Conover, table A3: 96.5 %
        self.assertEqual(against.interval(range(1, 61)), (22, 39))
        self.assertEqual(against.interval([6, 5, 4, 3, 2, 1]), (1, 6))
        self.assertEqual(against.interval([1, 1, 1]), (0, math.inf))    # too few for 95 %
        self.assertEqual(against.verdict(0, math.inf), "not shown")

    def test_five_per_cent_are_found_and_the_same_commit_is_acquitted(self):
        for seed in range(5):
            slower, alike = self.compared(1.05, seed), self.compared(1.0, seed)
            self.assertEqual([row.verdict for row in alike], ["alike"] * len(alike))
            found = [row for row in slower if row.verdict == "slower"]
            self.assertGreater(len(found), 0.9 * len(slower))
            self.assertTrue(all(row.verdict == "faster" for row in self.compared(0.9, seed)))

    def test_what_scatters_gets_more_rounds_and_is_then_not_shown(self):
        rows = self.compared(1.0, seed=1, noise=0.3)
        self.assertEqual({row.rounds for row in rows}, {against.CHECKS[-1]})
        self.assertIn("not shown", {row.verdict for row in rows})
        self.assertEqual({row.rounds for row in self.compared(1.0, seed=1, noise=0.001, bursts=0)}, {against.CHECKS[0]})

    def test_a_narrow_interval_with_an_edge_in_it_is_not_shown(self):
        self.assertEqual([against.verdict(*both) for both in ((1.02, 1.07), (0.94, 0.99), (0.98, 1.02), (1.04, 1.9), (0.5, 0.9))],
                         ["not shown", "not shown", "alike", "slower", "faster"])

    def test_a_metric_that_one_of_them_lacks_is_left_out_and_the_rest_compared(self):
        rows = self.compared(1.0, 1, prints=lambda job, all_metrics: (
            {metric["id"]: 1.0 for metric in job.group["metrics"][(job.system.command == ["before"]):]}, None))
        self.assertEqual({row.workload for row in rows if row.page == "switch"}, {"create", "create_warm", "destroy", "lifetime", "bytes"})

    def test_of_a_table_with_columns_the_first_column_is_compared(self):
        metrics = [{"id": "cpu", "unit": "s/M"}, {"id": "max", "unit": "us"}]
        comparison = against.Comparison.__new__(against.Comparison)
        comparison.values = {(i, metric["id"]): [(1.0, 1.0)] for i in (0, 1) for metric in metrics}
        comparison.pairs = [against.Pair(measure.Job(None, {"metrics": metrics, **more}, {"n": 1}), None)
                      for more in ({"columns": "what"}, {})]
        self.assertEqual([[metric["id"] for metric in comparison._metrics(i)] for i in (0, 1)], [["cpu"], ["cpu", "max"]])

    def test_what_skips_or_fails_has_no_row(self):
        def prints(job, all_metrics):
            if job.group["workload"] == "mutex":
                raise measure.Malformed("no")
            return {}, "not here"
        self.assertEqual(self.compared(1.0, 1, prints=prints), [])

    def test_a_subject_of_another_commit_may_print_other_metrics(self):
        group = {"metrics": [{"id": "a", "unit": "ns"}, {"id": "b", "unit": "ns"}]}
        printed = "".join(json.dumps({"system": "s", "n": 1, "workload": w, "unit": "ns", "value": 1}) + "\n" for w in ("a", "old"))
        self.assertEqual(measure.parse(printed, {}, "s", group, 1, all_metrics=False), ({"a": 1.0}, None))
        with self.assertRaises(measure.Malformed):
            measure.parse(printed, {}, "s", group, 1)

    def test_where_more_is_better_less_is_slower(self):
        self.assertEqual(against.cost_ratio(50, 100, {"better": "higher"}), 2.0)
        self.assertEqual(against.cost_ratio(50, 100, {}), 0.5)
        self.assertEqual(against.cost_ratio(0, 0, {}), 1.0)

    def test_only_changed_counts_are_printed(self):
        lines = against.counted({"a": 100.0, "b": 1000.0, "c": 10.0}, {"a": 100.9, "b": 1020.0, "d": 1.0})
        self.assertIn("3 operations, of which 1 changed", lines[0])
        self.assertEqual(lines[1].split(), ["b", "1000.0", "1020.0", "x1.020"])

    def test_a_revision_that_is_none_is_refused(self):
        with self.assertRaisesRegex(SystemExit, "there is no commit nonesuch"):
            against.commit_of("nonesuch")


if __name__ == "__main__":
    unittest.main()
