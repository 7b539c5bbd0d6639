"""The table of figures in README.md, from a report: hocket beside the best peer of each row of lab/readme.json."""
import json

from . import marked
from .catalogue import LAB, is_higher_better, pages, read
from .compare import Results, number

BEGIN, END = "<!-- figures: ./dev lab --readme writes what follows -->", "<!-- end of the figures -->"
MOST = 10


def metric_of(workload):
    return next(metric for page in pages(["all"]) for _, metric in page.metrics() if metric["id"] == workload)


def best_peer(results, row, better):
    found = [peer for name in row["against"] if (peer := results.get(row["workload"], name, row["n"]))]
    return better(found, key=lambda peer: peer["median"]) if found else None


def line(results, row):
    """One row of the table; None if hocket or every peer was not measured."""
    metric = metric_of(row["workload"])
    mine = results.get(row["workload"], row["system"], row["n"])
    peer = best_peer(results, row, max if is_higher_better(metric) else min)
    if not mine or not peer or not peer["median"]:
        return None
    unit = metric["unit"]
    return (f"| {row['title']} | {number(mine['median'])} {unit} | {number(peer['median'])} {unit} (`{peer['system']}`) "
            f"| {mine['median'] / peer['median']:.2f} |")


def table(report):
    rows = read("readme.json")
    if len(rows) > MOST:
        raise SystemExit(f"lab/readme.json has {len(rows)} rows, more than {MOST}")
    results = Results(report["rows"])
    lines = [text for row in rows if (text := line(results, row))]
    if len(lines) < len(rows):
        print(f"left out, since the report does not have them: {len(rows) - len(lines)} rows (measure --page all)")
    return "\n".join([f"Medians of one run of `{report['command']}` on {report['date']}: {report['machine']['processor']}; "
                      f"{report['machine']['C++']}.", "",
                      "| | hocket | best peer | ratio |", "|---|---|---|---|", *lines])


def write(report_path, readme=LAB.parent / "README.md"):
    if not report_path.exists():
        raise SystemExit(f"there is no {report_path}: run `./dev lab --page all` first")
    marked.rewrite(readme, BEGIN, END, table(json.loads(report_path.read_text(encoding="utf-8"))))
    return 0
