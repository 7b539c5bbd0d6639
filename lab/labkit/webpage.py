"""report.html: one file, with its style, its script, its charts and the raw figures inside."""
from . import downloads, written
from .catalogue import LAB
from .headline import headline
from .pages import page_section
from .standing import spread_text
from .tables import escape, table
from .terminal import together

KEY = ('<p class="key soft"><span class="hocket"></span>hocket<span class="stackful"></span>stackful'
       '<span class="stackless"></span>stackless<span class="floor"></span>floor'
       '<span class="diamond"></span> published elsewhere; the dark line is the range of the runs; axes are logarithmic</p>')


def machine_table(report):
    """A column for each run, if there are several."""
    names = list(dict.fromkeys(name for run in report.runs for name in run["machine"]))
    facts = [[escape(name), *((escape(run["machine"].get(name, "")), "left") for run in report.runs)] for name in names]
    about = [["pages", *((escape(", ".join(run["pages"])), "left") for run in report.runs)],
             ["command", *((f"<code>{escape(run['command'])}</code>", "left") for run in report.runs)],
             ["date", *((escape(run["date"]), "left") for run in report.runs)],
             ["took", *((f"{run['seconds']:,} s", "left") for run in report.runs)]]
    head = [""] * (1 + len(report.runs))
    return table(head, about + facts, kind="prose")


def skipped_section(report):
    lines = [f"<li>{escape(name)}: {escape(reason)}</li>" for name, reason in report.skipped_systems.items()]
    lines += [f"<li>{escape(remark)}</li>" for remark in together(report.reasons("skipped"))]
    lines += [f"<li>fewer: {escape(remark)}</li>" for remark in report.remarks()]
    lines += [f'<li class="over">failed: {escape(remark)}</li>' for remark in together(report.reasons("failed"))]
    lines += [f"<li>cut short: {escape(why)}</li>" for why in report.cut_short()]
    return f"<h3>Skipped</h3><ul>{''.join(lines) or '<li>nothing</li>'}</ul>"


def method_section(report):
    runs = sorted({row["runs"] for row in report.results.rows})
    repetitions = " to ".join(map(str, dict.fromkeys([runs[0], runs[-1]]))) if runs else "no"
    measured = {row["system"] for row in report.results.rows}
    systems = [[escape(name), (escape(report.description(name)), "left")] for name in report.order if name in measured]
    return ('<h2 id="method">How this was measured</h2>'
            "<p>Every system has a program of its own, built as its documentation advises. A repetition runs each program once, "
            "and the next one begins at another program, so that a disturbance affects all alike. Each program measures several "
            f"times and prints its median. A value is the median over {repetitions} repetitions; beside it are the lowest and "
            f"the highest. {escape(spread_text(report))} Absolute figures move from machine to machine and from hour to hour: "
            "compare ratios of one run. lab/README.md defines the unit of each table, and says where systems differ.</p>"
            f"{machine_table(report)}{downloads.links(report)}{skipped_section(report)}"
            f"<h3>Systems</h3>{table(['system', ('description', 'left')], systems, kind='sortable prose')}")


def smoke_note(report):
    if not report.is_smoke():
        return ""
    return '<p class="over">A smoke run: it shows that every subject runs. Its figures mean nothing.</p>'


def contents(report):
    pages = "".join(f'<a href="#{escape(page.name)}">{escape(page.title)}</a>' for page in report.pages)
    return f'<nav><a href="#documents">Source documents</a>{pages}<a href="#method">Method, machine, raw figures</a></nav>'


def render(report):
    style, script = ((LAB / "labkit" / name).read_text(encoding="utf-8") for name in ("page.css", "page.js"))
    last = report.runs[-1]
    pages = "".join(page_section(report, page) for page in report.pages)
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
            f"<title>hocket lab</title><style>{style}</style></head><body>"
            f'<header><h1>hocket lab</h1><p class="soft">{escape(last["machine"].get("processor", ""))}; {escape(last["date"])}</p></header>'
            f"{smoke_note(report)}{headline(report)}{contents(report)}{written.section(report)}"
            f"{KEY if report.pages else ''}{pages}{method_section(report)}<script>{script}</script></body></html>\n")
