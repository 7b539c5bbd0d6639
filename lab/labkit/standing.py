"""Compares hocket with the best peer of the same kind in the same run, for each row of a table.

lab/headline.json lists the systems that represent hocket on a page. They do the same work as the peers; variants that do
less (the primitives of one thread beside primitives of several) are excluded. A peer is every other system of the kind
(stackful beside stackful, stackless beside stackless) except floors. On a page with several sorts of systems "peers" lists
the peers. "but" lists systems that are no peers, and "but_in" systems that are no peers in a metric. "from_n" excludes the
sizes of a metric that are not comparable: a time below the step of the clock, or the first mapping of a process. In a table
with columns the first one counts.
"""
import collections
import fnmatch
import statistics

from .catalogue import is_higher_better, numbered, read
from .compare import paired
from .report import is_ours

LEVEL = 1.10   # nine of ten ratios of two successive runs are within this factor

Standing = collections.namedtuple("Standing", "page group metric n mine peer ratio")


def verdict(ratio):
    return "ahead" if ratio < 1 / LEVEL else "behind" if ratio > LEVEL else "level"


def matches(name, patterns):
    return any(fnmatch.fnmatch(name, pattern) for pattern in patterns)


def cost_ratio(mine, peer, metric):
    """Below one if hocket is better, also in units where more is better. None without a ratio."""
    ratio = paired(mine, peer) if "by_run" in mine and "by_run" in peer else (
        mine["median"] / peer["median"] if peer["median"] else None)
    if not ratio:
        return None
    return 1 / ratio if is_higher_better(metric) else ratio


def standings(report):
    entries = read("headline.json")
    return [standing for page in report.pages for entry in entries.get(page.name, []) for group in page.groups
            for metric in (group["metrics"][:1] if "columns" in group else group["metrics"])
            for n in report.results.sizes(metric["id"]) for standing in of_size(report, page, group, metric, n, entry)]


def of_size(report, page, group, metric, n, entry):
    if n < entry.get("from_n", {}).get(metric["id"], 0):
        return
    rows = [row for name in report.results.systems(metric["id"], report.order) if (row := report.results.get(metric["id"], name, n))]
    best = max if is_higher_better(metric) else min
    mine = [row for row in rows if matches(row["system"], entry["ours"])]
    peers = [row for row in rows if is_peer(report, row["system"], entry, metric["id"])]
    kinds = ["any"] if entry.get("any_kind") else ["stackful", "stackless"]
    for kind in kinds:
        ours, others = ([row for row in side if kind in ("any", report.genus(row["system"]))] for side in (mine, peers))
        if ours and others:
            pair = [best(side, key=lambda row: row["median"]) for side in (ours, others)]
            ratio = cost_ratio(*pair, metric)
            if ratio:
                yield Standing(page, group, metric, n, *pair, ratio)


def is_peer(report, name, entry, metric):
    excluded = entry.get("but", []) + entry.get("but_in", {}).get(metric, [])
    return (not is_ours(name) and report.genus(name) != "floor" and matches(name, entry.get("peers", ["*"]))
            and not matches(name, excluded))


def counts(found):
    """The numbers of rows that are ahead, level and behind."""
    verdicts = collections.Counter(verdict(standing.ratio) for standing in found)
    return [verdicts[name] for name in ("ahead", "level", "behind")]


def reason(standing, history):
    """The reason why hocket is behind in a row: the text of lab/history.json about the bar of this row, or empty."""
    about = {"page": standing.page.name, "workload": standing.metric["id"], "system": standing.mine["system"],
             "against": standing.peer["system"], "n": standing.n}
    for entry in history:
        if all(value in entry[name] if isinstance(entry.get(name), list) else entry.get(name, value) == value for name, value in about.items()):
            return entry["why"]
    return ""


def title(standing):
    """The title of a row, with its size."""
    return f"{standing.metric['title']}, {numbered(standing.n, standing.group)}"


def spreads(report):
    """For each row with several runs the range of the runs, as a share of the median."""
    return sorted((row["max"] - row["min"]) / row["median"] for row in report.results.rows if row["runs"] > 1 and row["median"])


def spread_text(report):
    found = spreads(report)
    if len(found) < 10:
        return "There are too few repetitions to estimate their spread."
    return (f"In half of the rows all repetitions are within {statistics.median(found):.0%} of their median, from the lowest "
            f"to the highest; in nine of ten rows within {found[len(found) * 9 // 10]:.0%}.")
