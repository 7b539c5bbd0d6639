"""Bar charts as inline SVG: one horizontal bar a system, on a logarithmic axis, with the range of the runs."""
import html
import math

from .compare import number

WIDTH, LABEL, RIGHT, ROW, TOP, BOTTOM = 430, 154, 58, 20, 8, 26


class Axis:
    def __init__(self, values):
        positive = [v for v in values if v > 0] or [1]
        self.low = math.floor(math.log10(min(positive)) - 0.05)
        self.high = max(math.ceil(math.log10(max(positive))), self.low + 1)

    def at(self, value):
        span = WIDTH - LABEL - RIGHT
        if value <= 0:
            return LABEL
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return LABEL + span * min(max(share, 0), 1)

    def decades(self):
        return [10.0 ** d for d in range(self.low, self.high + 1)]


def tick(value):
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"


def grid(axis, height):
    parts = []
    for value in axis.decades():
        x = axis.at(value)
        parts.append(f'<line class="grid" x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{height - BOTTOM + 4}"/>'
                     f'<text class="tick" x="{x:.1f}" y="{height - 8}">{tick(value)}</text>')
    return "".join(parts)


def bar(axis, row, index, figures, kind, text_of):
    y = TOP + index * ROW
    x, low, high = (axis.at(row[s]) for s in ("median", "min", "max"))
    middle = y + ROW / 2
    said = (f"{row['system']}: median {number(row['median'])} {row['unit']}, "
            f"{number(row['min'])} to {number(row['max'])} in {row['runs']} runs")
    said += "".join(f"; published in document {f['document']}: {text_of(f)} {f['unit']}" for f in figures)
    marks = "".join(f'<path class="published" d="M{axis.at(f["value"]):.1f} {middle - 5} l5 5 l-5 5 l-5 -5 z"/>'
                    for f in figures)
    end = max([x, high] + [axis.at(f["value"]) + 5 for f in figures])
    return (f'<g><title>{html.escape(said)}</title>'
            f'<rect class="hit" x="0" y="{y}" width="{WIDTH}" height="{ROW}"/>'
            f'<text class="name" x="{LABEL - 8}" y="{middle + 4}">{html.escape(row["system"])}</text>'
            f'<rect class="bar {kind}" x="{LABEL}" y="{y + 3}" width="{max(x - LABEL, 1):.1f}" height="{ROW - 6}"/>'
            f'<line class="range" x1="{low:.1f}" y1="{middle}" x2="{high:.1f}" y2="{middle}"/>{marks}'
            f'<text class="value" x="{end + 6:.1f}" y="{middle + 4}">{number(row["median"])}</text></g>')


def chart(caption, rows, published_of, kind_of, text_of):
    """rows: results of one workload and size. published_of(row): figures beside it. kind_of(row): a CSS class."""
    rows = sorted(rows, key=lambda r: r["median"])
    figures = [published_of(row) for row in rows]
    axis = Axis([r[s] for r in rows for s in ("median", "min", "max")] + [f["value"] for fs in figures for f in fs])
    height = TOP + ROW * len(rows) + BOTTOM
    bars = "".join(bar(axis, row, i, figures[i], kind_of(row), text_of) for i, row in enumerate(rows))
    return (f'<figure><figcaption>{html.escape(caption)}</figcaption>'
            f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(caption)}">'
            f'{grid(axis, height)}{bars}</svg></figure>')
