"""docs/source-documents.md: every table of the five source documents with what the last report has for it, and each
mechanism that they name with its counterpart here. `./dev lab documents` writes it."""
import pathlib

from . import report
from .catalogue import LAB
from .compare import number
from .documents import Published, documents, reasons
from .written import NOTHING, measured

SIDES = ("subjects", "ours")   # attributes of a cell: the subjects of the document's own system, and hocket's
PAGE = LAB.parent / "docs/source-documents.md"
ABOUT = """# The source documents

What hocket was asked for began with five documents about coroutines. Each of their tables stands here row by row: what the
document has published, from its own machine, and what the lab measured here. `./dev lab documents` writes this page from the
last report; [lab/README.md](../lab/README.md) says what a unit of each row is.
"""


def clean(text):
    """Text for a cell of a table."""
    return " ".join(str(text).split()).replace("|", "\\|")


def named(entry):
    return clean(entry.get("english", entry.get("system", entry["name"])))


def figure(data, cell, names):
    """The medians of these subjects for a cell, or a dash."""
    pairs = [(name, metric) for name in names for metric in cell.workloads if data.measures(name, metric)] if cell.figure else []
    values = [measured(data, cell, *pair) for pair in pairs]
    found = [f"{number(value)} (`{name}`)" for (name, _), value in zip(pairs, values) if value is not None]
    return "; ".join(found) or NOTHING


def published(cell):
    return clean(Published.text(cell.figure)) if cell.figure else clean(cell.text or NOTHING)


def columns(data, source, i):
    """The cells of a row, three for each column: the published figure, the figure of its system here, and hocket's."""
    for cell in source.cells[i]:
        yield from (published(cell), *(figure(data, cell, getattr(cell, side)) for side in SIDES))


def head(source):
    names = [named(column) for column in source.columns]
    return [text for name in names for text in (f"{name}: published", "the same here", "hocket")]


def empty_columns(rows):
    """The indexes of the columns without any figure."""
    return {j for j in range(len(rows[0])) if j % 3 and all(row[j] == NOTHING for row in rows)}


def why_missing(data, source):
    """The reasons why cells have no figure of their own system here."""
    found = dict.fromkeys(cell.why() for row in source.cells for cell in row if cell.why())
    for row in source.cells:
        for cell in row:
            for name in [name for side in SIDES for name in getattr(cell, side)] if cell.figure else []:
                for metric in cell.workloads:
                    if data.measures(name, metric) and measured(data, cell, name, metric) is None:
                        found[f"{name}: {data.why_not(name, metric, cell.n)}"] = None
    return list(found)


def table(data, source):
    rows = [list(columns(data, source, i)) for i in range(len(source.rows))]
    left_out = empty_columns(rows)

    def line(cells):
        return [text for j, text in enumerate(cells) if j not in left_out]

    heading = line(head(source))
    unit = source.about.get("unit")
    lines = [f"### {clean(source.english)}", "", f"`{clean(source.name)}`{f', {unit}' if unit else ''}", "",
             "| | " + " | ".join(heading) + " |", "|---|" + "---|" * len(heading)]
    lines += [f"| {row_name(source, i)} | " + " | ".join(line(rows[i])) + " |" for i in range(len(rows))]
    return lines + [""] + elsewhere(data, source) + [f"- {clean(reason)}" for reason in why_missing(data, source)] + [""]


def row_name(source, i):
    unit = source.rows[i].get("unit") if any("unit" in row for row in source.rows) else None
    return named(source.rows[i]) + (f", {unit}" if unit else "")


def elsewhere(data, source):
    """A profile, or the command that measures the table."""
    found = data.profile(source.id)
    if found and "shares" in found:
        return [f"Here, of `{found['system']}`, as shares of instructions:", "",
                "| function | instructions |", "|---|---|",
                *(f"| `{clean(name)}` | {share:.2%} |" for name, share in found["shares"]), f"| all others | {found['rest']:.2%} |", ""]
    if page := source.about.get("page"):
        return [f"More compilers: [{page}]({pathlib.PurePath(page).name}).", ""]
    if command := source.about.get("command"):
        return [f"Measured here by `{command}`.", ""]
    return []


def mechanism(entry):
    if "reason" in entry:
        return f"| {clean(entry['name'])} | none | {clean(reasons()[entry['reason']])} |"
    if "workload" in entry:
        shown = f"the row `{entry['workload']}` of the lab"
    elif "test" in entry:
        file = entry["test"]["file"]
        shown = f"[{file}](../{file})" + (f": `{clean(entry['test']['case'])}`" if "case" in entry["test"] else "")
    else:
        shown = "not there yet"
    return f"| {clean(entry['name'])} | {clean(entry['ours'])} | {shown} |"


def section(data, document):
    lines = [f"## {document.number}: {clean(document.english)}", "", f"{clean(document.title)}; date: {clean(document.date)}. "
             f"Measured on: {clean(document.hardware)}.", ""]
    for source in document.tables:
        lines += table(data, source)
    return lines + ["### Mechanisms", "", "| the document names | here | shown by |", "|---|---|---|",
                    *map(mechanism, document.mechanisms), ""]


def page(data):
    runs = [f"- `{run['command']}` on {run['date']}: {run['machine'].get('processor', '')}; {run['machine'].get('C++', '')}" for run in data.runs]
    runs = runs or ["- nothing yet: `./dev lab` measures, and `./dev lab documents` writes this page"]
    sections = [line for document in documents() for line in section(data, document)]
    return "\n".join([ABOUT, "Measured by:", "", *runs, "", *sections]).rstrip() + "\n"


def main(arguments):
    PAGE.write_text(page(report.of_arguments("documents", __doc__, arguments)), encoding="utf-8")
    print(f"written: {PAGE}")
    return 0
