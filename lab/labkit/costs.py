"""`./dev lab costs`: the table of docs/performance.md, from the last report.json and the recorded counts of instructions.

lab/costs.json lists the constructs and the sources of their figures: a row of the report, a count of tests/counts, or both.
"""
import json

from . import builders, marked, report
from .bars import about
from .catalogue import read
from .compare import number

PAGE = builders.ROOT / "docs/performance.md"
COUNTS = builders.ROOT / "tests/counts/recorded.json"
BEGIN, END = "<!-- ./dev lab costs writes what follows -->", "<!-- end of the table -->"


def measured(data, row):
    """The median and unit of a row; None if the report does not have it."""
    if "workload" not in row:
        return ""
    found = data.results.get(row["workload"], row["system"], row["n"])
    return f"{number(found['median'])} {data.metric(row['workload'])['unit']}" if found else None


def counted(counts, row):
    return f"{counts['instructions'][row['count']]:,.0f}" if "count" in row else ""


def table(data, counts, rows):
    """The text of the table, and the rows that the report does not have."""
    lines, missing = [], []
    for row in rows:
        if "heading" in row:
            lines.append(f"| **{row['heading']}** | | |")
            continue
        value = measured(data, row)
        if value is None:
            missing.append(row["title"])
        lines.append(f"| {row['title']} | {value or ''} | {counted(counts, row)} |")
    head = [f"Medians of {about(data)} Instructions: g++ 12, -O2, x86-64, the release's checks (`tests/counts`).", "",
            "| construct | time or bytes | instructions |", "|---|---|---|"]
    return "\n".join(head + lines), missing


def main(arguments):
    counts = json.loads(COUNTS.read_text(encoding="utf-8"))
    text, missing = table(report.of_arguments("costs", __doc__, arguments), counts, read("costs.json"))
    if missing:
        raise SystemExit(f"the report does not have: {'; '.join(missing)} (./dev lab --page all)")
    marked.rewrite(PAGE, BEGIN, END, text)
    return 0
