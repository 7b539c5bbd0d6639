"""Questions that the terminal table and the page ask of the results."""


class Results:
    def __init__(self, rows):
        self.rows = rows
        self._at = {(r["workload"], r["system"], r["n"]): r for r in rows}

    def get(self, workload, system, n):
        return self._at.get((workload, system, n))

    def sizes(self, workload):
        return sorted({r["n"] for r in self.rows if r["workload"] == workload})

    def systems(self, workload, order):
        present = {r["system"] for r in self.rows if r["workload"] == workload}
        return [name for name in order if name in present]

    def ratio(self, workload, system, baseline, n):
        mine, base = self.get(workload, system, n), self.get(workload, baseline, n)
        if not mine or not base or base["median"] == 0:
            return None
        return mine["median"] / base["median"]


def judge(bar, results):
    """A bar with what was measured: of several systems to compare with, the lowest figure counts."""
    mine = results.get(bar["workload"], bar["system"], bar["n"])
    others = [(r[bar["statistic"]], r["system"]) for r in
              (results.get(bar["workload"], name, bar["n"]) for name in bar["against"]) if r]
    judged = dict(bar, measured=None, ratio=None, verdict="not measured", other=bar["against"][0], reference=None)
    if others:
        judged["reference"], judged["other"] = min(others)
    if mine and judged["reference"]:
        judged["measured"] = mine["median"]
        judged["ratio"] = mine["median"] / judged["reference"]
        judged["verdict"] = "ok" if judged["ratio"] <= bar["at_most"] else "over"
    return judged


def number(value):
    if value is None:
        return ""
    if value == 0:
        return "0"
    if value < 9.995:
        return f"{value:.2f}"
    return f"{value:.1f}" if value < 99.95 else f"{value:,.0f}"


def ratio(value):
    if value is None:
        return ""
    return f"x{value:.2f}" if value < 9.995 else f"x{value:,.0f}"
