"""The first thing that a reader sees: eleven rows beside systems that readers know, one drawing for each page, and where hocket
is ahead and behind, with the reason."""
import math
import statistics

from . import overview
from .catalogue import read
from .compare import number
from .pages import anchor
from .standing import LEVEL, counts, reason, spread_text, standings, title, verdict
from .tables import escape, system, table

SLOWEST, FASTEST = 30, 1 / 100   # the ends of the axis: times the best peer's figure
MOST = 12                        # rows that stand in the open; the others are folded away
LEVELS = 2                       # dots above and below the middle where several have the same ratio


def percent(ratio):
    """Where a ratio lies on the axis."""
    low, high = math.log10(FASTEST), math.log10(SLOWEST)
    return 100 * min(max((math.log10(ratio) - low) / (high - low), 0), 1)


def times(ratio):
    """By what factor the worse of the two is worse."""
    factor = max(ratio, 1 / ratio)
    return f"{factor:.2f}" if factor < 9.95 else f"{factor:.0f}"


def in_words(one):
    words = {"ahead": f"{times(one.ratio)} times better", "behind": f"{times(one.ratio)} times worse", "level": "level"}
    return (f"{title(one)}: {one.mine['system']} {number(one.mine['median'])} {one.metric['unit']}, "
            f"{one.peer['system']} {number(one.peer['median'])} {one.metric['unit']}; {words[verdict(one.ratio)]}")


def dots(found):
    """One for each row. Dots of the same ratio are above and below one another."""
    taken, parts = {}, []
    for one in sorted(found, key=lambda one: one.ratio):
        at = round(percent(one.ratio), 1)
        place = taken[round(at)] = taken.get(round(at), -1) + 1
        offset = (place + 1) // 2 * (-1 if place % 2 else 1)
        offset = max(-LEVELS, min(LEVELS, offset))
        parts.append(f'<a class="{verdict(one.ratio)}" href="#{anchor(one.metric)}" style="left:{at}%;--up:{offset}" '
                     f'title="{escape(in_words(one))}"></a>')
    return "".join(parts)


def strip(page, found):
    ahead, level, behind = counts(found)
    middle = statistics.median(one.ratio for one in found)
    return (f'<div class="strip"><a class="of" href="#{escape(page.name)}">{escape(page.title)}</a>'
            f'<div class="axis">{dots(found)}<b style="left:{percent(middle):.1f}%" title="the middle one of the page"></b></div>'
            f'<span class="counts"><b>{ahead}</b> ahead, {level} level, <b>{behind}</b> behind</span></div>')


def scale():
    marks = ((1 / 100, "100×"), (1 / 10, "10× better"), (1, "best peer"), (10, "10× worse"))
    return ('<div class="strip scale"><span></span><div class="axis">'
            + "".join(f'<span style="left:{percent(ratio):.1f}%">{text}</span>' for ratio, text in marks) + "</div><span></span></div>")


def standing_table(report, found, history=None):
    """With the reasons of rows that are behind, if there is a history."""
    head = ["row", "n", ("hocket", "left"), "", ("best peer", "left"), "", '<span title="hocket through the best peer, so that less is better">ratio</span>']
    rows = []
    for one in found:
        unit = one.metric["unit"]
        rows.append([(f'<a href="#{anchor(one.metric)}" title="{escape(title(one))}">{escape(one.metric["id"])}</a>', "left"),
                     f"{one.n:,}", (system(report, one.mine["system"]), "left"), f"{number(one.mine['median'])} {escape(unit)}",
                     (system(report, one.peer["system"]), "left"), f"{number(one.peer['median'])} {escape(unit)}",
                     (f"{one.ratio:.2f}" if one.ratio < 9.95 else f"{one.ratio:.0f}", verdict(one.ratio))])
        if history is not None:
            rows[-1].append((escape(reason(one, history) or "no reason is known yet"), "left why"))
    return table(head + ([("why", "left")] if history is not None else []), rows, row_classes=[verdict(one.ratio) for one in found])


def folded(summary, content, is_open=False):
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary>{content}</details>"


def side_section(report, found, side, history=None):
    """The rows on this side, the largest distance first; those beyond the first ones are folded away."""
    rows = sorted((row for row in found if verdict(row.ratio) == side), key=lambda row: -max(row.ratio, 1 / row.ratio))
    if not rows:
        return f"<p>hocket is {side} in no row.</p>"
    text = f"<h3>{side.capitalize()}</h3>{standing_table(report, rows[:MOST], history)}"
    if rows[MOST:]:
        text += folded(f"{len(rows) - MOST} more rows in which hocket is {side}", standing_table(report, rows[MOST:], history))
    return text


def overview_table(report):
    """README's eleven rows."""
    columns = read("overview.json")["columns"]
    rows = [[(escape(title_), "left"), *(escape(cells[column]) for column in columns)] for title_, cells in overview.lines(report.results)]
    below = overview.compile_text(report.results)
    return (f'<h3>Eleven rows beside systems that you know</h3>{table(["", *columns], rows, kind="overview")}'
            f'<p class="soft">Less is better in every row. {escape(below)}</p>')


def headline(report):
    """Nothing of a smoke run, whose figures mean nothing, or where there is nothing to compare with."""
    found = [] if report.is_smoke() else standings(report)
    if not found:
        return ""
    ahead, level, behind = counts(found)
    middle = statistics.median(standing.ratio for standing in found)
    strips = "".join(strip(page, of_page) for page in report.pages if (of_page := [one for one in found if one.page is page]))
    everything = sorted(found, key=lambda standing: standing.ratio)
    history = read("history.json")
    return (f'<section id="standing"><p class="verdict"><b>Ahead of the best peer in {ahead} of {len(found)} rows</b>, level in '
            f"{level}, behind in {behind}. In the median row hocket's figure is {middle:.2f} of the best peer's; less is better.</p>"
            f"{overview_table(report)}"
            f'<h3>Every page</h3><div class="strips" style="--one:{percent(1):.1f}%">{strips}{scale()}</div>'
            '<p class="soft">Each dot is a row of a table below: hocket through the best of its peers in that row. A stackful '
            "system is compared with stackful ones, a stackless one with stackless ones, all of them measured in the same run; "
            f"floors are no peers. Level means within {LEVEL - 1:.0%}. {escape(spread_text(report))}</p>"
            f"{side_section(report, found, 'ahead')}{side_section(report, found, 'behind', history)}"
            f"{folded(f'all {len(found)} rows', standing_table(report, everything))}</section>")
