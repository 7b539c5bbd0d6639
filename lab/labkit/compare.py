"""Queries of the results, for the terminal tables and the page."""
import statistics


def paired(mine, base):
    """The median of the ratios of each repetition; None without a common repetition. For rows of a paired group."""
    ratios = [value / base["by_run"][run] for run, value in mine["by_run"].items() if base["by_run"].get(run)]
    return statistics.median(ratios) if ratios else None


class Results:
    def __init__(self, rows, absent=()):
        self.rows = rows
        self.absent = set(absent)   # (workload, system, n) that the machine cannot count
        self._at = {(r["workload"], r["system"], r["n"]): r for r in rows}

    def get(self, workload, system, n):
        return self._at.get((workload, system, n))

    def sizes(self, workload):
        return sorted({r["n"] for r in self.rows if r["workload"] == workload})

    def systems(self, workload, order):
        present = {r["system"] for r in self.rows if r["workload"] == workload}
        return [name for name in order if name in present]

    def others(self, bar):
        return sorted({r["system"] for r in self.rows if r["workload"] == bar["workload"] and r["n"] == bar["n"]
                       and not r["system"].startswith("hocket")})

    def ratio(self, workload, system, baseline, n):
        mine, base = self.get(workload, system, n), self.get(workload, baseline, n)
        if not mine or not base or base["median"] == 0:
            return None
        return paired(mine, base) if "by_run" in mine else mine["median"] / base["median"]


def judge(bar, results):
    """Returns the bar with its measured outcome.

    {"against": [...], "statistic", "at_most"}: a ratio of hocket's median to the lowest figure of these systems.
    {"against": [...], "statistic", "at_least"}: the same if more is better: to the highest figure.
    {"limit", "unit"} and perhaps {"minus": workload} or {"minus_system": system}: hocket's median itself, less its median of
    the other workload, or less the median of the other system.

    `statistic` is "paired" in a paired group: the outcome is the median of the ratios of each repetition. Of several
    systems the one with hocket's worst ratio counts.

    "against": "others" names all systems except hocket's. "against_n" is their size and "against_workload" their workload,
    if they differ from the bar's.
    """
    median = median_of(results, bar["workload"], bar)
    judged = dict(bar, measured=median, reference=None, outcome=None, verdict="not measured")
    if "limit" in bar:
        less = bar.get("minus", bar.get("minus_system"))
        judged["of"] = bar["system"] + (f", less {less}" if less else "")
        judged["reference"] = median_of(results, bar.get("minus", bar["workload"]),
                                        {**bar, "system": bar.get("minus_system", bar["system"])}) if less else 0
        if median is not None and judged["reference"] is not None:
            judged["outcome"] = median - judged["reference"]
    elif bar["statistic"] == "paired":
        judge_paired(bar, judged, results)
    else:
        against = results.others(bar) if bar["against"] == "others" else bar["against"]
        size = bar.get("against_n", bar["n"])
        workload = bar.get("against_workload", bar["workload"])
        others = [(r[bar["statistic"]], r["system"]) for r in
                  (results.get(workload, name, size) for name in against) if r]
        best = max if "at_least" in bar else min
        judged["reference"], other = best(others) if others else (None, (against or ["others"])[0])
        at = f" at n = {size:,}" if size != bar["n"] else ""
        work = f" in {workload}" if workload != bar["workload"] else ""
        judged["of"] = f"{bar['system']} / {other} {bar['statistic']}{work}{at}"
        if median is not None and judged["reference"]:
            judged["outcome"] = median / judged["reference"]
    if judged["outcome"] is not None:
        judged["verdict"] = verdict(bar, judged["outcome"])
    return judged


def judge_paired(bar, judged, results):
    against = results.others(bar) if bar["against"] == "others" else bar["against"]
    mine = results.get(bar["workload"], bar["system"], bar["n"])
    rows = [row for row in (results.get(bar["workload"], name, bar["n"]) for name in against) if row]
    ratios = [(ratio_, row) for ratio_, row in ((paired(mine, row), row) for row in rows if mine) if ratio_ is not None]
    worst = min if "at_least" in bar else max
    judged["outcome"], row = worst(ratios, key=lambda pair: pair[0]) if ratios else (None, None)
    judged["reference"] = row["median"] if row else None
    judged["of"] = f"{bar['system']} / {row['system'] if row else (against or ['others'])[0]} paired"


def verdict(bar, outcome):
    if "at_least" in bar:
        return "ok" if outcome >= bar["at_least"] else "under"
    return "ok" if outcome <= limit(bar) else "over"


def median_of(results, workload, bar):
    row = results.get(workload, bar["system"], bar["n"])
    return row["median"] if row else None


def limit(bar):
    return bar.get("limit", bar.get("at_most", bar.get("at_least")))


def limit_text(bar):
    return (">= " if "at_least" in bar else "") + in_units(bar, limit(bar))


def in_units(bar, value):
    """The outcome or the limit of a bar, as text: a ratio, or hocket's own figure."""
    if value is None:
        return "-"
    return f"{value:.1f} {bar['unit']}" if "limit" in bar else f"{value:.2f}"


def number(value):
    if value is None:
        return ""
    if value == 0:
        return "0"
    if value < 9.995:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def exact_ratio(value):
    """For pairs, where a few per cent matter."""
    return "" if value is None else f"x{value:.3f}"


def ratio(value):
    if value is None:
        return ""
    return f"x{value:.2f}" if value < 9.995 else f"x{value:,.0f}"
