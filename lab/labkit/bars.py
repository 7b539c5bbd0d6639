"""`./dev lab bars`: the table of docs/decisions/038-bars-of-the-lab.md, from the last report.json.

The table has a line for each bar that is over in the report, or that lab/history.json explains: earlier figures, and the
reason. If a bar is over and has no reason, the command prints it, and the exit status is 1.
"""
from . import builders, marked, report
from .catalogue import read
from .compare import in_units, limit_text

DECISION = builders.ROOT / "docs/decisions/038-bars-of-the-lab.md"
BEGIN, END = "<!-- ./dev lab bars writes what follows -->", "<!-- end of the table -->"
KEY = ("page", "workload", "system", "against", "against_workload", "against_n", "statistic", "minus", "minus_system")   # equal for one bar at several sizes


def groups(judged, reasons):
    """Groups the sizes of each bar that have the same reason, in order: (bars, reason)."""
    found = {}
    for bar in judged:
        reason = reason_for(bar, reasons)
        key = tuple(str(bar.get(name)) for name in KEY) + (limit_text(bar), id(reason))
        found.setdefault(key, ([], reason))[0].append(bar)
    return list(found.values())


def reason_for(bar, reasons):
    """The first reason that does not contradict the bar."""
    for reason in reasons:
        if all(agrees(bar, name, value) for name, value in reason.items() if name not in ("was", "why")):
            return reason
    return None


def agrees(bar, name, value):
    own = bar.get(name)
    if isinstance(own, list):
        return value in own
    return own in value if isinstance(value, list) else own == value


def is_missed(bar):
    return bar["verdict"] in ("over", "under")


def other_of(bar):
    if "limit" in bar:
        less = bar.get("minus", bar.get("minus_system"))
        return f" less {less}" if less else ""
    against = bar["against"] if isinstance(bar["against"], list) else ["the best of all others"]
    at = f" at {bar['against_n']:,}" if "against_n" in bar else ""
    return f" / {', '.join(against)}{at}"


def cells(group):
    return ", ".join(in_units(bar, bar["outcome"]) + (" held" if bar["verdict"] == "ok" else "") for bar in group)


def line(group, reason):
    bar = group[0]
    sizes = ", ".join(f"{sized['n']:,}" for sized in group)
    was, why = (reason or {}).get("was", ""), (reason or {}).get("why", "")
    return f"| {bar['page']}: {bar['workload']} | {bar['system']}{other_of(bar)} | {sizes} | {limit_text(bar)} | {cells(group)} | {was} | {why} |"


def table(data, reasons):
    """The text of the table, and the bars that are over without a reason."""
    lines, unexplained, held = [], [], 0
    for page in data.pages:
        for group, reason in groups(data.judged(page), reasons):
            missed = any(is_missed(bar) for bar in group)
            held += sum(bar["verdict"] == "ok" for bar in group)
            if missed and not reason:
                unexplained.append(f"{group[0]['page']}: {group[0]['workload']}, {group[0]['of']}")
            if missed or reason:
                lines.append(line(group, reason))
    measured = sum(bar["outcome"] is not None for page in data.pages for bar in data.judged(page))
    head = [f"{held} of {measured} measured bars are held. {about(data)}", "",
            "| row | hocket / other | n | aim | now | before | why, and what was tried |", "|---|---|---|---|---|---|---|"]
    return "\n".join(head + lines), unexplained


def about(data):
    return " ".join(dict.fromkeys(f"`{run['command']}` on {run['date']}: {run['machine']['processor']}; {run['machine']['C++']}."
                                  for run in data.runs))


def main(arguments):
    text, unexplained = table(report.of_arguments("bars", __doc__, arguments), read("history.json"))
    marked.rewrite(DECISION, BEGIN, END, text)
    for bar in unexplained:
        print(f"over, and lab/history.json has no reason: {bar}")
    return 1 if unexplained else 0
