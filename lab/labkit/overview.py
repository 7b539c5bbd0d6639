"""The eleven rows of lab/overview.json, which compare hocket with well-known systems: the table of README, and the first
table of report.html.

A cell names a subject. {"system": ..., "as": ...} is the subject of another project, and its figure has that name;
{"none": ...} has the reason why a system has no figure.
"""
import json
import re

from . import marked
from .catalogue import LAB, read
from .compare import Results, number

BEGIN, END = "<!-- figures: ./dev lab --readme writes what follows -->", "<!-- end of the figures -->"
ROWS = 11
MISSING = "not measured"


def system_of(cell):
    """The subject of a cell, or None."""
    return cell.get("system") if isinstance(cell, dict) else cell


def figures(results, metrics, system, n):
    """The medians, or None if one was not measured."""
    found = [results.get(metric, system, n) for metric in metrics]
    return [row["median"] for row in found] if all(found) else None


def cell_text(results, row, cell):
    if isinstance(cell, dict) and "none" in cell:
        return cell["none"]
    values = figures(results, row["metrics"], system_of(cell), row["n"])
    if values is None:
        return MISSING
    label = f" ({cell['as']})" if isinstance(cell, dict) else ""
    return " / ".join(map(number, values)) + label


def lines(results):
    """(title with its unit, {column: text}) for each row."""
    overview = read("overview.json")
    return [(f"{row['title']}, {row['unit']}", {column: cell_text(results, row, row["cells"][column]) for column in overview["columns"]})
            for row in overview["rows"]]


def compile_text(results):
    """A sentence with the costs of compiling the server; empty if they were not measured."""
    entry = read("overview.json")["compile"]
    own, other = (figures(results, entry["metrics"], entry[name], entry["n"]) for name in ("hocket", "Asio"))
    if own is None or other is None:
        return ""
    return (f"The compiler takes {number(own[0])} s and {number(own[1])} MB for README's server, and {number(other[0])} s and "
            f"{number(other[1])} MB for an echo server on Boost.Asio.")


def source_text(run):
    cores = f"{run.get('cores', 1)} core{'s' if run.get('cores', 1) != 1 else ''}"
    # A list of systems is those of the table.
    command = re.sub(r" --systems[ =]\S+", "", run["command"])
    return (f"Medians of `{command}` on {run['date']}, on {cores}: {run['machine']['processor']}; {run['machine']['C++']}.")


def table(run):
    """The table in Markdown."""
    results, columns = Results(run["rows"]), read("overview.json")["columns"]
    text = ["| | " + " | ".join(columns) + " |", "|---|" + "---|" * len(columns)]
    rows = lines(results)
    text += [f"| {title} | " + " | ".join(cells[column] for column in columns) + " |" for title, cells in rows]
    missing = sum(MISSING in cells.values() for _, cells in rows)
    if missing:
        print(f"{missing} rows have cells that were not measured: measure --page all")
    return "\n".join([source_text(run), "", *text, "", compile_text(results)]).rstrip()


def write(report_path, readme=LAB.parent / "README.md"):
    if not report_path.exists():
        raise SystemExit(f"there is no {report_path}: run `./dev lab --page all` first")
    marked.rewrite(readme, BEGIN, END, table(json.loads(report_path.read_text(encoding="utf-8"))))
    return 0
