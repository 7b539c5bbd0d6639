"""The raw figures, to be saved from the page: links that hold them, so that one file is all there is."""
import base64
import csv
import io
import json

COLUMNS = ["page", "workload", "system", "n", "unit", "median", "min", "max", "runs"]


def as_csv(rows):
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def link(name, kind, text):
    data = base64.b64encode(text.encode("utf-8")).decode("ascii")
    return f'<a download="{name}" href="data:{kind};charset=utf-8;base64,{data}">{name}</a>'


def links(report):
    """report.json as it was written (a list of them, if the page is made of several), and its rows as a table."""
    runs = report.runs[0] if len(report.runs) == 1 else report.runs
    return (f"<p>Raw figures: {link('report.json', 'application/json', json.dumps(runs))}, "
            f"{link('report.csv', 'text/csv', as_csv(report.results.rows))}.</p>")
