"""The tables of the source documents, by their own names: the published figures, and beside them those of this run."""
from .catalogue import is_higher_better
from .compare import number
from .documents import Published, documents, reasons
from .pages import anchor
from .tables import escape, system, table

NOTHING = "–"


class Side:
    """A column beside a published one: the subjects of the same system ("subjects"), or hocket's ("ours")."""

    def __init__(self, report, source, kind, j):
        self.report = report
        self.kind = kind
        self.cells = [row[j] for row in source.cells]
        self.names = list(dict.fromkeys(tuple(names) for cell in self.cells if (names := getattr(cell, kind))))

    def is_empty(self):
        return not self.names

    def is_by_row(self):
        """Whether the rows have subjects of their own."""
        return len(self.names) > 1

    def head(self):
        if self.is_by_row():
            return "hocket" if self.kind == "ours" else "here"
        return "<br>".join(system(self.report, name) for name in self.names[0])

    def text(self, i, notes):
        """A line for each figure of this row. The reasons for missing figures go to the notes."""
        cell = self.cells[i]
        if not cell.figure:
            return NOTHING
        pairs = [(name, metric) for name in getattr(cell, self.kind) for metric in cell.workloads
                 if self.report.measures(name, metric)]
        values = [measured(self.report, cell, *pair) for pair in pairs]
        for (name, metric), value in zip(pairs, values):
            if value is None:
                notes[f"{name}: {self.report.why_not(name, metric, cell.n)}"] = None
        if all(value is None for value in values):
            return NOTHING
        return "<br>".join(f'<span title="{escape(name)}, {escape(metric)}">{NOTHING if value is None else number(value)}</span>'
                           for (name, metric), value in zip(pairs, values))


def measured(report, cell, name, metric):
    """The median; for a ratio the speed relative to the other subject. None if it was not measured."""
    row = report.results.get(metric, name, cell.n)
    if not row or not cell.ratio_to:
        return row and row["median"]
    base = report.results.get(metric, cell.ratio_to, cell.n)
    if not base or not base["median"] or not row["median"]:
        return None
    ratio = row["median"] / base["median"]
    return ratio if is_higher_better(report.metric(metric)) else 1 / ratio


def published(cell):
    if not cell.figure:
        return escape(cell.text or NOTHING)
    deviation = cell.figure.get("remark", "").partition(",")[0]
    deviation = f" {deviation}" if deviation.startswith("±") else ""
    about = ", ".join(filter(None, [cell.system, cell.condition, cell.figure.get("remark")]))
    return f'<span title="{escape(about)}; as printed: {escape(cell.text)}">{escape(Published.text(cell.figure))}{deviation}</span>'


def name_of(entry):
    return f'<span title="{escape(entry["name"])}">{escape(entry.get("english", entry.get("system", entry["name"])))}</span>'


def row_name(report, source, i, sides):
    """The name of a row, with its unit if the rows have several, and with its subjects if they differ between the rows."""
    unit = source.rows[i].get("unit", source.about.get("unit")) if has_units(source) else ""
    names = dict.fromkeys(name for side in sides if side.is_by_row() for name in getattr(side.cells[i], side.kind))
    subjects = ", ".join(system(report, name) for name in names)
    return (name_of(source.rows[i]) + (f" <small>{escape(unit)}</small>" if unit else "")
            + (f"<br><small>{subjects}</small>" if subjects else ""))


def has_units(source):
    return any("unit" in row for row in source.rows)


def section_of_table(report, source):
    above, head, sides = [], [], []
    for j, column in enumerate(source.columns):
        beside = [side for kind in ("subjects", "ours") if not (side := Side(report, source, kind, j)).is_empty()]
        above.append(f'<th colspan="{1 + len(beside)}">{name_of(column)}</th>')
        head += [("published", "published"), *(side.head() for side in beside)]
        sides.append(beside)
    notes, rows = {}, []
    for i in range(len(source.rows)):
        line = [(row_name(report, source, i, [side for beside in sides for side in beside]), "row")]
        for cell, beside in zip(source.cells[i], sides):
            line.append((published(cell), "published"))
            line += [side.text(i, notes) for side in beside]
            notes.update(dict.fromkeys(filter(None, [cell.why()])))
        rows.append(line)
    text = table(["", *head], rows, above=f"<tr><th></th>{''.join(above)}</tr>", kind="sortable document")
    return (f'<h4 id="{source.anchor()}">{escape(source.name)}</h4><p>{escape(source.english)}{unit_of(source)}.</p>{text}'
            f"{elsewhere(source)}{profile_section(report, source)}{notes_section(notes)}")


def unit_of(source):
    unit = source.about.get("unit")
    return f"; {escape(unit)}" if unit and not has_units(source) else ""


def elsewhere(source):
    page, command = source.about.get("page"), source.about.get("command")
    if page:
        return f'<p class="soft">Measured here: {escape(page)}.</p>'
    return f'<p class="soft">Measured here by <code>{escape(command)}</code>.</p>' if command else ""


def profile_section(report, source):
    """The profile of our functions beside a profile of the document."""
    found = report.profile(source.id)
    if not found:
        return ""
    if "reason" in found:
        return f'<p class="soft">{escape(found["system"])}: {escape(found["reason"])}.</p>'
    rows = [[escape(name), f"{share:.2%}"] for name, share in [*found["shares"], ["all others", found["rest"]]]]
    return table([f"{system(report, found['system'])}: functions", "instructions"], rows, kind="sortable document")


def notes_section(notes):
    if not notes:
        return ""
    lines = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f'<details class="notes"><summary>reasons for missing figures</summary><ul>{lines}</ul></details>'


def mechanism(report, entry):
    """A row: the mechanism of the document, its counterpart here, and the test or metric that shows it."""
    if "reason" in entry:
        return [escape(entry["name"]), ("", "left"), (escape(reasons()[entry["reason"]]), "left")]
    if "workload" in entry:
        metric = report.metric(entry["workload"])
        shown = escape(metric["id"])
        if report.results.sizes(metric["id"]):
            shown = f'<a href="#{anchor(metric)}">{shown}</a>'
    elif "test" in entry:
        shown = escape(entry["test"]["file"]) + (f': “{escape(entry["test"]["case"])}”' if "case" in entry["test"] else "")
    else:
        shown = "not there yet"
    return [escape(entry["name"]), (escape(entry["ours"]), "left"), (shown, "left")]


def document_section(report, document):
    tables = "".join(section_of_table(report, source) for source in document.tables)
    charts = "".join(f"<p>Its chart “{escape(chart['name'])}” ({escape(chart['english'])}) shows {chart['rows']} rows of that table.</p>"
                     for chart in document.charts)
    mechanisms = table(["what it names", ("here", "left"), ("shown by", "left")],
                       [mechanism(report, entry) for entry in document.mechanisms], kind="sortable prose")
    return (f'<h3 id="document-{document.number}">{document.number}: {escape(document.title)}</h3>'
            f"<p>{escape(document.english)}; date: {escape(document.date)}. Measured on: {escape(document.hardware)}.</p>"
            f"{tables}{charts}<details><summary>systems and mechanisms that it names without a figure</summary>{mechanisms}</details>")


def section(report):
    links = " · ".join(f'<a href="#document-{document.number}">{document.number}</a>' for document in documents())
    return (f'<h2 id="documents">The tables of the source documents</h2><p>{links}</p><p>Published figures are '
            "beside those of this run. They were measured on other machines, so there is no ratio between the two. A switch "
            f"is one way and back.</p>{''.join(document_section(report, document) for document in documents())}")
