"""The beginning of the page: eleven rows beside well-known systems, a drawing for each page, and the rows in which hocket is
ahead and behind, with the reasons."""
import math
import statistics

from . import overview
from .catalogue import read
from .compare import number
from .pages import anchor
from .standing import LEVEL, counts, reason, spread_text, standings, title, verdict
from .tables import escape, system, table

SLOWEST, FASTEST = 30, 1 / 100   # the ends of the axis, as ratios to the best peer's figure
MAX_OPEN_ROWS = 12               # further rows are folded
LEVELS = 2                       # dots of one ratio above and below the middle


def percent(ratio):
    """The position of a ratio on the axis."""
    low, high = math.log10(FASTEST), math.log10(SLOWEST)
    return 100 * min(max((math.log10(ratio) - low) / (high - low), 0), 1)


def times(ratio):
    """The ratio as a factor above one."""
    factor = max(ratio, 1 / ratio)
    return f"{factor:.2f}" if factor < 9.95 else f"{factor:.0f}"


def in_words(standing):
    words = {"ahead": f"{times(standing.ratio)} times better", "behind": f"{times(standing.ratio)} times worse", "level": "level"}
    return (f"{title(standing)}: {standing.mine['system']} {number(standing.mine['median'])} {standing.metric['unit']}, "
            f"{standing.peer['system']} {number(standing.peer['median'])} {standing.metric['unit']}; {words[verdict(standing.ratio)]}")


def dots(found):
    """A dot for each row. Dots of the same ratio are above and below one another."""
    taken, parts = {}, []
    for standing in sorted(found, key=lambda standing: standing.ratio):
        at = round(percent(standing.ratio), 1)
        place = taken[round(at)] = taken.get(round(at), -1) + 1
        offset = (place + 1) // 2 * (-1 if place % 2 else 1)
        offset = max(-LEVELS, min(LEVELS, offset))
        parts.append(f'<a class="{verdict(standing.ratio)}" href="#{anchor(standing.metric)}" style="left:{at}%;--up:{offset}" '
                     f'title="{escape(in_words(standing))}"></a>')
    return "".join(parts)


def strip(page, found):
    ahead, level, behind = counts(found)
    middle = statistics.median(standing.ratio for standing in found)
    return (f'<div class="strip"><a class="of" href="#{escape(page.name)}">{escape(page.title)}</a>'
            f'<div class="axis">{dots(found)}<b style="left:{percent(middle):.1f}%" title="the median of the page"></b></div>'
            f'<span class="counts"><b>{ahead}</b> ahead, {level} level, <b>{behind}</b> behind</span></div>')


def scale():
    marks = ((1 / 100, "100×"), (1 / 10, "10× better"), (1, "best peer"), (10, "10× worse"))
    return ('<div class="strip scale"><span></span><div class="axis">'
            + "".join(f'<span style="left:{percent(ratio):.1f}%">{text}</span>' for ratio, text in marks) + "</div><span></span></div>")


def standing_table(report, found, history=None):
    """A table of rows; with a history, also with the reasons of rows that are behind."""
    head = ["row", "n", ("hocket", "left"), "", ("best peer", "left"), "", '<span title="hocket divided by the best peer: less is better">ratio</span>']
    rows = []
    for standing in found:
        unit = standing.metric["unit"]
        rows.append([(f'<a href="#{anchor(standing.metric)}" title="{escape(title(standing))}">{escape(standing.metric["id"])}</a>', "left"),
                     f"{standing.n:,}", (system(report, standing.mine["system"]), "left"), f"{number(standing.mine['median'])} {escape(unit)}",
                     (system(report, standing.peer["system"]), "left"), f"{number(standing.peer['median'])} {escape(unit)}",
                     (f"{standing.ratio:.2f}" if standing.ratio < 9.95 else f"{standing.ratio:.0f}", verdict(standing.ratio))])
        if history is not None:
            rows[-1].append((escape(reason(standing, history) or "no reason is known yet"), "left why"))
    return table(head + ([("why", "left")] if history is not None else []), rows, row_classes=[verdict(standing.ratio) for standing in found])


def folded(summary, content, is_open=False):
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary>{content}</details>"


def side_section(report, found, side, history=None):
    """The rows on this side, the largest distance first. All but the first ones are folded."""
    rows = sorted((row for row in found if verdict(row.ratio) == side), key=lambda row: -max(row.ratio, 1 / row.ratio))
    if not rows:
        return f"<p>hocket is {side} in no row.</p>"
    text = f"<h3>{side.capitalize()}</h3>{standing_table(report, rows[:MAX_OPEN_ROWS], history)}"
    if rows[MAX_OPEN_ROWS:]:
        text += folded(f"{len(rows) - MAX_OPEN_ROWS} more rows in which hocket is {side}", standing_table(report, rows[MAX_OPEN_ROWS:], history))
    return text


def overview_table(report):
    """The eleven rows of README."""
    columns = read("overview.json")["columns"]
    rows = [[(escape(title_), "left"), *(escape(cells[column]) for column in columns)] for title_, cells in overview.lines(report.results)]
    below = overview.compile_text(report.results)
    return (f'<h3>Eleven rows beside well-known systems</h3>{table(["", *columns], rows, kind="overview")}'
            f'<p class="soft">Less is better in every row. {escape(below)}</p>')


def headline(report):
    """Empty for a smoke run, because its figures mean nothing, and if no row has a peer."""
    found = [] if report.is_smoke() else standings(report)
    if not found:
        return ""
    ahead, level, behind = counts(found)
    middle = statistics.median(standing.ratio for standing in found)
    strips = "".join(strip(page, of_page) for page in report.pages if (of_page := [standing for standing in found if standing.page is page]))
    everything = sorted(found, key=lambda standing: standing.ratio)
    history = read("history.json")
    return (f'<section id="standing"><p class="verdict"><b>Ahead of the best peer in {ahead} of {len(found)} rows</b>, level in '
            f"{level}, behind in {behind}. In the median row hocket's figure is {middle:.2f} of the best peer's; less is better.</p>"
            f"{overview_table(report)}"
            f'<h3>Every page</h3><div class="strips" style="--one:{percent(1):.1f}%">{strips}{scale()}</div>'
            '<p class="soft">Each dot is a row of a table below: the ratio of hocket to its best peer in that row. Stackful '
            "systems are compared with stackful ones, stackless systems with stackless ones, all measured in the same run; "
            f"floors are no peers. Level means within {LEVEL - 1:.0%}. {escape(spread_text(report))}</p>"
            f"{side_section(report, found, 'ahead')}{side_section(report, found, 'behind', history)}"
            f"{folded(f'all {len(found)} rows', standing_table(report, everything))}</section>")
