"""The five source documents: each table, row by row, with the published figures and their counterparts in the lab.

lab/documents/<number>.json has the tables. The attributes of a cell are those of its table, its column, its row and its
own entry. A later one in this order replaces an earlier one:
  figures    of a row: as printed, one for each column; null where the document has none
  workload   the metric that measures it here, or several; "instead" replaces some of them in a row
  n          the size here. With "condition" the document has no size: then the figure is only in its table, on no page
  here       the lab's subjects of the same system
  ours       hocket's subjects for the same measurement
  reason     why the same system cannot be had here: a word of reasons.json
  page, command   the page or command that measures it, if no subject does
  ratio_to   the figure is a ratio: the speed relative to that subject
A column or row with "as" repeats figures of another table, which the document prints twice.
"""
import functools

from . import figures
from .catalogue import LAB, read


def listed(value):
    return [] if value is None else value if isinstance(value, list) else [value]


class Cell:
    def __init__(self, table, attributes, text, repeats=False):
        self.table = table
        self.text = text
        self.repeats = repeats
        self.system = attributes.get("system", "")
        self.n = attributes.get("n")
        self.unit = attributes.get("unit", "")
        self.subjects = attributes.get("here", [])
        self.ours = attributes.get("ours", [])
        self.page = attributes.get("page")
        self.command = attributes.get("command")
        self.condition = attributes.get("condition")
        self.ratio_to = attributes.get("ratio_to")
        self.reason = attributes.get("reason")
        self.workloads = [other for name in listed(attributes.get("workload"))
                          for other in attributes.get("instead", {}).get(name, [name])]
        self.figure = self._figure(attributes) if text and not attributes.get("is_condition") else None

    def _figure(self, attributes):
        figure = figures.parse(self.text, self.unit, attributes.get("is"))
        remarks = [figure.get("remark"), attributes.get("remark")]
        about = {"document": self.table.document.number, "system": self.system, "unit": self.unit, "condition": self.condition,
                 "n": None if self.condition else self.n, "remark": ", ".join(filter(None, remarks))}
        beside = self.subjects or (self.ours if self.table.puts_ours_beside else [])
        return {**figure, **{name: value for name, value in about.items() if value not in (None, "")}, "beside": beside}

    def why(self):
        """The reason why the document's own system is not measured here, or None."""
        return reasons()[self.reason] if self.reason else None

    def is_accounted_for(self):
        return bool(self.subjects or self.page or self.command or self.reason)


class Table:
    def __init__(self, document, entry):
        self.document = document
        self.id = entry["id"]
        self.name = entry["name"]
        self.english = entry["english"]
        self.columns = entry["columns"]
        self.rows = entry["rows"]
        self.puts_ours_beside = entry.get("beside") == "ours"
        self.about = {name: value for name, value in entry.items()
                       if name not in ("id", "name", "english", "columns", "rows", "beside")}

    def anchor(self):
        return f"document-{self.document.number}-{self.id}"

    @functools.cached_property
    def cells(self):
        """A list of cells for each row."""
        return [[self._cell(i, j) for j in range(len(self.columns))] for i in range(len(self.rows))]

    def _cell(self, i, j):
        row, column = self.rows[i], self.columns[j]
        if "as" in row or "as" in column:
            return self._repeated(i, j)
        entry = row["figures"][j]
        own = entry if isinstance(entry, dict) else {"text": entry}
        return Cell(self, {**self.about, **column, **row, **own}, own["text"])

    def _repeated(self, i, j):
        names, at = (self.rows, i) if "as" in self.rows[i] else (self.columns, j)
        table, name = names[at]["as"]
        other = self.document.table(table)
        place = index(other.rows if names is self.rows else other.columns, name)
        cell = other._cell(place, j) if names is self.rows else other._cell(i, place)
        repeated = Cell.__new__(Cell)
        repeated.__dict__ = {**cell.__dict__, "repeats": True}
        return repeated


def index(entries, name):
    return [entry["name"] for entry in entries].index(name)


class Document:
    def __init__(self, number, entry):
        self.number = number
        self.title = entry["title"]
        self.english = entry["english"]
        self.date = entry["date"]
        self.hardware = entry["hardware"]
        self.machines = entry["machines"]
        self.charts = entry.get("charts", [])
        self.mechanisms = entry["mechanisms"]
        self.tables = [Table(self, table) for table in entry["tables"]]

    def table(self, name):
        return next(table for table in self.tables if table.id == name)

    def cells(self):
        return [cell for table in self.tables for row in table.cells for cell in row]


@functools.cache
def documents():
    return [Document(path.stem, read(path.relative_to(LAB))) for path in sorted((LAB / "documents").glob("[0-9]*.json"))]


@functools.cache
def reasons():
    return read("documents/reasons.json")


def shortened(value):
    """Five digits are enough; integers have all of theirs."""
    return f"{value if isinstance(value, int) else round(value) if value >= 1e4 else float(f'{value:.5g}'):,}"


class Published:
    """The documents' figures for the pages. They were measured on other machines, so no code compares them with ours."""

    def __init__(self):
        self.documents = {document.number: document for document in documents()}
        self.figures = [{**cell.figure, "workload": workload} for document in documents() for cell in document.cells()
                        if cell.figure and not cell.repeats for workload in cell.workloads]

    @staticmethod
    def text(figure):
        value = shortened(figure["value"])
        return f"{value}-{shortened(figure['to'])}" if "to" in figure else value

    @staticmethod
    def title(name, figures):
        return f"{name} ({next(iter(figures.values()))['document']})"

    def beside(self, system, workload, n):
        return [f for f in self.figures if system in f["beside"] and f["workload"] == workload and f.get("n") == n]

    def rows(self, workload, beside=None):
        """{name: {n: figure}} of the figures beside that system, or without one, of the systems that are not measured here."""
        rows = {}
        for f in self.figures:
            is_match = beside in f["beside"] if beside else not f["beside"]
            if f["workload"] == workload and "n" in f and is_match:
                rows.setdefault(f["system"], {})[f["n"]] = f
        return rows

    def alone(self, workload):
        return self.rows(workload)
