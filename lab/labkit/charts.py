"""Charts as inline SVG, on logarithmic axes: a horizontal bar for each system, with the range of the runs; or, over many
sizes, a curve for each system."""
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
    tooltip = (f"{row['system']}: median {number(row['median'])} {row['unit']}, "
               f"{number(row['min'])} to {number(row['max'])} in {row['runs']} runs")
    tooltip += "".join(f"; published in document {f['document']}: {text_of(f)} {f['unit']}" for f in figures)
    marks = "".join(f'<path class="published" d="M{axis.at(f["value"]):.1f} {middle - 5} l5 5 l-5 5 l-5 -5 z"/>'
                    for f in figures)
    end = max([x, high] + [axis.at(f["value"]) + 5 for f in figures])
    return (f'<g><title>{html.escape(tooltip)}</title>'
            f'<rect class="hit" x="0" y="{y}" width="{WIDTH}" height="{ROW}"/>'
            f'<text class="name" x="{LABEL - 8}" y="{middle + 4}">{html.escape(row["system"])}</text>'
            f'<rect class="bar {kind}" x="{LABEL}" y="{y + 3}" width="{max(x - LABEL, 1):.1f}" height="{ROW - 6}"/>'
            f'<line class="range" x1="{low:.1f}" y1="{middle}" x2="{high:.1f}" y2="{middle}"/>{marks}'
            f'<text class="value" x="{end + 6:.1f}" y="{middle + 4}">{number(row["median"])}</text></g>')


def chart(caption, rows, published_of, kind_of, text_of, higher_is_better=False):
    """rows: results of one workload and size. published_of(row): figures beside it. kind_of(row): a CSS class."""
    rows = sorted(rows, key=lambda r: r["median"], reverse=higher_is_better)
    figures = [published_of(row) for row in rows]
    axis = Axis([r[s] for r in rows for s in ("median", "min", "max")] + [f["value"] for fs in figures for f in fs])
    height = TOP + ROW * len(rows) + BOTTOM
    bars = "".join(bar(axis, row, i, figures[i], kind_of(row), text_of) for i, row in enumerate(rows))
    return (f'<figure><figcaption>{html.escape(caption)}</figcaption>'
            f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="{html.escape(caption)}">'
            f'{grid(axis, height)}{bars}</svg></figure>')


WIDE, HIGH, LEFT, NAMES, LINE = 880, 460, 46, 250, 13


def curves(caption, series):
    """series: (name, CSS class, [(n, value)]), each a curve with its name at its right end."""
    series = [(name, kind, points) for name, kind, points in series if points]
    across = Axis([n for _, _, points in series for n, _ in points])
    up = Axis([value for _, _, points in series for _, value in points])
    height = max(HIGH, LINE * len(series) + TOP + BOTTOM)

    def place(n, value):
        x = LEFT + (WIDE - LEFT - NAMES) * share(across, n)
        return x, height - BOTTOM - (height - TOP - BOTTOM) * share(up, value)

    lines = "".join(f'<line class="grid" x1="{LEFT}" y1="{place(1, v)[1]:.1f}" x2="{WIDE - NAMES}" y2="{place(1, v)[1]:.1f}"/>'
                    f'<text class="name" x="{LEFT - 6}" y="{place(1, v)[1] + 4:.1f}">{tick(v)}</text>'
                    for v in up.decades())
    lines += "".join(f'<text class="tick" x="{place(n, 1)[0]:.1f}" y="{height - 8}">{tick(n)}</text>'
                     for n in across.decades())
    ends = spread([place(*points[-1])[1] for _, _, points in series], TOP + LINE, height - BOTTOM)
    drawn = "".join(curve(name, kind, points, [place(*point) for point in points], end) for (name, kind, points), end in zip(series, ends))
    return (f'<figure class="broad"><figcaption>{html.escape(caption)}</figcaption>'
            f'<svg viewBox="0 0 {WIDE} {height}" role="img" aria-label="{html.escape(caption)}">{lines}{drawn}</svg></figure>')


def share(axis, value):
    return (math.log10(max(value, 10.0 ** axis.low)) - axis.low) / (axis.high - axis.low)


def spread(ideal, low, high):
    """The places of names: each as near as possible to its ideal place, and at least a line below the name above."""
    order = sorted(range(len(ideal)), key=lambda i: ideal[i])
    places = [0.0] * len(ideal)
    at = low - LINE
    for i in order:
        at = places[i] = max(ideal[i], at + LINE)
    limit = high
    for i in reversed(order):
        places[i] = min(places[i], limit)
        limit = places[i] - LINE
    return places


def curve(name, kind, points, places, end):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    tooltip = html.escape(f"{name}: " + ", ".join(f"{number(value)} at {n:,}" for n, value in points))
    x, y = places[-1]
    dots = "".join(f'<circle class="dot {kind}" cx="{cx:.1f}" cy="{cy:.1f}" r="2.5"/>' for cx, cy in places)
    label = WIDE - NAMES + 24
    return (f'<g><title>{tooltip}</title><polyline class="curve {kind}" points="{path}"/>{dots}'
            f'<line class="lead" x1="{x + 4:.1f}" y1="{y:.1f}" x2="{label - 4}" y2="{end:.1f}"/>'
            f'<text class="end {kind}" x="{label}" y="{end + 4:.1f}">{html.escape(name)}</text></g>')
