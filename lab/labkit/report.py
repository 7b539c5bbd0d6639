"""A report: the content of report.json of one run or of several, with the queries of the renderers."""
import argparse
import datetime
import json
import pathlib

from . import catalogue, compare, documents, machine
from .measure import runs_of

# The fields of a run beside its rows. They complete an old report.json without some of them.
DEFAULTS = {"mode": "default", "seconds": 0, "programs": 0, "cores": 1, "cut short": None, "skipped systems": {}, "skipped": [], "failed": [],
           "fewer": [], "not to be had": [], "profiles": {}}


def gather(measurement, skipped_systems, build, command):
    """Measures, and returns the content of report.json."""
    about = {"command": command, "date": datetime.date.today().isoformat(), "mode": measurement.mode,
             "machine": machine.describe(build, measurement.cores[0]), "cores": len(measurement.cores)}
    seconds = measurement.run()
    return {**about, "seconds": round(seconds), "programs": calls(measurement), "cut short": measurement.cut_short,
            "pages": [page.name for page in measurement.pages], "skipped systems": skipped_systems,
            "skipped": reason_rows(measurement.skipped), "failed": reason_rows(measurement.failed), "fewer": measurement.remarks,
            "not to be had": [dict(zip(("workload", "system", "n"), cell)) for cell in sorted(measurement.absent)],
            "rows": measurement.results()}


def calls(measurement):
    """The number of calls of programs."""
    return sum(runs_of(job.group, measurement.mode, measurement.requested_runs) for job in measurement.jobs)


SECONDS_EACH = 0.7   # of a program of a full run on a guest with two cores, if there is no earlier run


def expected(measurement, before):
    """A line with the expected duration, by the last run of its kind here, if there was one."""
    each, source = SECONDS_EACH, "by a machine with two cores"
    if before.exists():
        last = read(before)
        if last["mode"] == measurement.mode and last["programs"] and not last["cut short"]:
            each, source = last["seconds"] / last["programs"], f"by the run of {last['date']}"
    count = calls(measurement)
    minutes = max(1, round(count * each / 60))
    return f"{count:,} calls of programs; they take about {minutes:,} minute{'s' if minutes > 1 else ''} ({source})"


def reason_rows(reasons):
    return [{"system": system, "workload": workload, "n": n, "reason": reason} for (system, workload, n), reason in reasons.items()]


def write(run, path):
    """Writes a line for each row."""
    rows = ",\n".join(json.dumps(row) for row in run["rows"])
    about = "".join(f"{json.dumps(name)}: {json.dumps(value)},\n" for name, value in run.items() if name != "rows")
    path.write_text(f'{{{about}"rows": [\n{rows}\n]}}\n', encoding="utf-8")


def read(path):
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
        names = list(dict.fromkeys(row["page"] for row in run["rows"]))
    except (OSError, ValueError, KeyError, TypeError) as problem:
        raise SystemExit(f"lab: {path} is no report.json of ./dev lab: {problem}")
    return {**DEFAULTS, "pages": names, **run}


def of_arguments(verb, about, arguments):
    """The report that a verb reads: from the given files, or from the last run."""
    parser = argparse.ArgumentParser(prog=f"./dev lab {verb}", description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reports", type=pathlib.Path, nargs="*", metavar="REPORT.JSON",
                        help="instead of build/lab/report.json; each page is taken from the last file that has it")
    paths = parser.parse_args(arguments).reports or [catalogue.LAB.parent / "build/lab/report.json"]
    return Report([read(path) for path in paths])


class Report:
    """Each page is taken whole from the last run that has it, so all compared figures are of one run."""

    def __init__(self, runs):
        self.runs = runs
        self._run_of = {name: run for run in runs for name in run["pages"]}
        self.pages = [page for page in catalogue.pages(["all"]) if page.name in self._run_of]
        all_metrics = [(page, *both) for page in catalogue.pages(["all"]) for both in page.metrics()]
        self._page_of = {metric["id"]: page.name for page, _, metric in all_metrics}
        self._group_of = {metric["id"]: group["workload"] for _, group, metric in all_metrics}
        self._metrics = {metric["id"]: metric for _, _, metric in all_metrics}
        self._systems = {system.id: system for system in catalogue.systems()}
        rows = [row for run in runs for row in run["rows"] if self._run_of.get(row["page"]) is run]
        self.order = [*self._systems, *sorted({row["system"] for row in rows} - self._systems.keys())]
        absent = {(cell["workload"], cell["system"], cell["n"]) for run in runs for cell in run["not to be had"]
                  if self.run_of(cell["workload"]) is run}
        self.results = compare.Results(rows, absent)
        self.published = documents.Published()
        self.skipped_systems = {name: reason for run in runs for name, reason in run["skipped systems"].items()}
        self._judged = [compare.judge(bar, self.results) for page in self.pages
                        for bar in catalogue.bars([page], self._run_of[page.name]["mode"]) if bar["page"] == page.name]

    def profile(self, table):
        """The profile beside this table of a document, or None: {"system", "shares", "rest"} or {"reason"}."""
        found = [run["profiles"][table] for run in self.runs if table in run["profiles"]]
        return found[-1] if found else None

    def metric(self, name):
        return self._metrics[name]

    def measures(self, system, metric):
        """Whether the system has this metric. A system that does not exist yet may have any."""
        return system not in self._systems or self._group_of[metric] in self._systems[system].workloads

    def run_of(self, metric):
        return self._run_of.get(self._page_of.get(metric))

    def run_of_page(self, page):
        return self._run_of[page.name]

    def is_smoke(self):
        return any(run["mode"] == "smoke" for run in self._run_of.values())

    def reasons(self, kind):
        """{(system, workload, n): reason} of "skipped" or "failed"."""
        return {(row["system"], row["workload"], row["n"]): row["reason"] for run in self.runs for row in run[kind]}

    def remarks(self):
        return [remark for run in self.runs for remark in run["fewer"]]

    def cut_short(self):
        return dict.fromkeys(run["cut short"] for run in self.runs if run["cut short"])

    def judged(self, page):
        return [bar for bar in self._judged if bar["page"] == page.name]

    def description(self, name):
        return self._systems[name].description if name in self._systems else ""

    def kind(self, name):
        """The colour of its bars."""
        return "hocket" if is_ours(name) else self.genus(name)

    def genus(self, name):
        return self._systems[name].kind if name in self._systems else "stackful"

    def why_not(self, system, metric, n):
        """The reason why there is no such row."""
        if system not in self._systems:
            return "there is no such subject yet"
        page, run = self._page_of[metric], self.run_of(metric)
        if not run:
            return f"the page {page} was not run: ./dev lab --page {page}"
        if system in run["skipped systems"]:
            return run["skipped systems"][system]
        for row in run["skipped"] + run["failed"]:
            if (row["system"], row["workload"], row["n"]) == (system, self._group_of[metric], n):
                return row["reason"]
        if (metric, system, n) in self.results.absent:
            return "this machine has no such count"
        return "not measured at this size" if self.results.sizes(metric) else "not measured in this run"


def is_ours(name):
    return name.startswith("hocket")
