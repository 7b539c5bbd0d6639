"""report.html: one file, with its style and charts inside."""
import html

from .catalogue import LAB, Published, is_higher_better, numbered
from .charts import chart, curves
from .compare import exact_ratio, in_units, limit_text, number, ratio
from .terminal import FEW, published_systems, size, system_rows, together, workers_of


def escape(text):
    return html.escape(str(text))


def cell(tag, content):
    text, kind = content if isinstance(content, tuple) else (content, "")
    return f'<{tag} class="{kind}">{text}</{tag}>' if kind else f"<{tag}>{text}</{tag}>"


def table(head, rows, caption=None, row_classes=None):
    """Cells are HTML; a cell may be a pair (HTML, class)."""
    parts = ['<div class="wide"><table>']
    if caption:
        parts.append(f"<caption>{escape(caption)}</caption>")
    parts.append(f"<thead><tr>{''.join(cell('th', h) for h in head)}</tr></thead><tbody>")
    for i, row in enumerate(rows):
        kind = row_classes[i] if row_classes else ""
        parts.append(f'<tr class="{kind}">{"".join(cell("td", c) for c in row)}</tr>')
    return "".join(parts) + "</tbody></table></div>"


def figure_text(figures, with_document=True):
    """Published figures of one cell, each with its document; the tooltip tells under which name and condition."""
    return "; ".join(f'<span title="{escape(told(f))}">{escape(Published.text(f))}'
                     f'{" (" + f["document"] + ")" if with_document else ""}</span>' for f in figures)


def told(figure):
    return ", ".join(filter(None, [f"published: {figure['system']}", figure.get("condition"), figure.get("remark")]))


def metric_charts(report, group, metric):
    results, workload = report.results, metric["id"]
    sizes = results.sizes(workload)
    if len(sizes) > FEW:
        return f'<div class="charts">{metric_curves(report, group, metric)}</div>'
    charts = []
    for n in sizes:
        rows = [r for r in results.rows if r["workload"] == workload and r["n"] == n]
        caption = numbered(n, group) if n > 1 or len(sizes) > 1 else metric["title"]
        charts.append(chart(f"{caption}, {metric['unit']}", rows,
                            lambda r: report.published.beside(r["system"], r["workload"], r["n"]),
                            lambda r: report.kind(r["system"]), Published.text, is_higher_better(metric)))
    return f'<div class="charts">{"".join(charts)}</div>'


def metric_curves(report, group, metric):
    """One chart over all sizes."""
    results, workload, published = report.results, metric["id"], report.published
    measured, elsewhere = [], []
    for name in results.systems(workload, report.order):
        rows = [row for row in (results.get(workload, name, n) for n in results.sizes(workload)) if row]
        measured.append((name, report.kind(name), [(row["n"], row["median"]) for row in rows]))
        elsewhere += published.rows(workload, name).items()
    elsewhere += published.rows(workload).items()
    measured += [(Published.title(name, figures), "published", [(n, f["value"]) for n, f in sorted(figures.items())])
                 for name, figures in elsewhere]
    return curves(f"by the number of {group.get('n_is', 'coroutines')}, {metric['unit']}", measured)


def metric_table(report, group, metric):
    results, workload, baseline = report.results, metric["id"], group["baseline"]
    sizes = results.sizes(workload)
    head = ["system"]
    for n in sizes:
        head += [size(n, group), "min to max", "ratio", "published"]
    rows, kinds = [], []
    for name in results.systems(workload, report.order):
        cells = [f'<span title="{escape(report.what(name))}">{escape(name)}</span>']
        for n in sizes:
            row = results.get(workload, name, n)
            cells.append(number(row["median"]) if row else "-")
            cells.append(f"{number(row['min'])} to {number(row['max'])}" if row else "")
            cells.append(ratio(results.ratio(workload, name, baseline, n)))
            cells.append((figure_text(report.published.beside(name, workload, n)), "published"))
        rows.append(cells)
        kinds.append("hocket" if name.startswith("hocket") else "")
    for name, figures in report.published.alone(workload).items():
        if any(n in figures for n in sizes):
            cells = [f"{escape(name)} (published)"]
            for n in sizes:
                cells += ["", "", "", (figure_text([figures[n]]) if n in figures else "", "published")]
            rows.append(cells)
            kinds.append("elsewhere")
    return table(head, rows, f"medians, {metric['unit']}; ratio: to {baseline}", kinds)


def metric_section(report, group, metric):
    if not report.results.sizes(metric["id"]):
        return ""
    return (f"<h2>{escape(metric['id'])}</h2><p>{escape(metric['title'])}. {escape(metric['unit'])}, "
            f"{'higher' if is_higher_better(metric) else 'lower'} is better; the axis is logarithmic.</p>{metric_charts(report, group, metric)}"
            f"<details open><summary>table</summary>{metric_table(report, group, metric)}</details>")


def one_table(report, group):
    """A row for each metric of the group, a column for each size and system."""
    results, metrics = report.results, group["metrics"]
    sizes = sorted({n for metric in metrics for n in results.sizes(metric["id"])})
    systems = [name for name in report.order if any(results.systems(metric["id"], [name]) for metric in metrics)]
    columns = [(n, name) for n in sizes for name in systems]
    head = [""]
    for n, name in columns:
        head += [f'<span title="{escape(report.what(name))}">{escape(name)}</span><br>{size(n, group)}', "published"]
    rows = []
    for metric in metrics:
        cells = [escape(metric["title"])]
        for n, name in columns:
            row = results.get(metric["id"], name, n)
            cells.append(number(row["median"]) if row else "-")
            cells.append((figure_text(report.published.beside(name, metric["id"], n), with_document=False), "published"))
        rows.append(cells)
    return table(head, rows, f"medians, {metrics[0]['unit']}")


def one_table_section(report, group):
    if not any(report.results.sizes(metric["id"]) for metric in group["metrics"]):
        return ""
    charts = "".join(f"<h3>{escape(metric['title'])}</h3>{metric_charts(report, group, metric)}"
                     for metric in group["metrics"] if report.results.sizes(metric["id"]))
    return (f"<h2>{escape(group['workload'])}</h2><p>{escape(group['one_table'])}. Lower is better.</p>"
            f"{one_table(report, group)}<details><summary>charts; their axis is logarithmic</summary>{charts}</details>")


def table_of_columns(report, group, n):
    """A row for each system, a column for each metric; a ratio of the first, if there are pairs."""
    results, metrics = report.results, group["metrics"]
    heads = [f'<span title="{escape(metric["title"])}">{escape(metric["column"])}</span>' for metric in metrics]
    rows, kinds = [], []
    for name, cells, ratio_ in system_rows(group, results, report.order, n):
        row = results.get(metrics[0]["id"], name, n)
        cells[0] = f'<span title="{number(row["min"])} to {number(row["max"])}, {row["runs"]} runs">{cells[0]}</span>'
        rows.append([f'<span title="{escape(report.what(name))}">{escape(name)}</span>', cells[0], ratio_, *cells[1:]])
        kinds.append("hocket" if name.startswith("hocket") else "")
    for name, document, cells in published_systems(group, report.published, n):
        rows.append([f"{escape(name)} ({document}, published)", cells[0], "", *cells[1:]])
        kinds.append("elsewhere")
    return table(["system", heads[0], "ratio", *heads[1:]], rows, size(n, group), kinds)


def columns_section(report, group):
    first = group["metrics"][0]
    sizes = report.results.sizes(first["id"])
    if not sizes:
        return ""
    tables = "".join(table_of_columns(report, group, n) for n in sizes)
    pairs = (f"; ratio: the first column through {group['baseline']}'s in each repetition, the median of all repetitions"
             if group.get("paired") else "")
    return (f"<h2>{escape(group['workload'])}</h2><p>{escape(group['columns'])}. Medians"
            f"{escape(pairs)}.</p>{tables}"
            f"<details><summary>charts: {escape(first['title'])}</summary>{metric_charts(report, group, first)}</details>")


def group_section(report, group):
    if "one_table" in group:
        return one_table_section(report, group)
    if "columns" in group:
        return columns_section(report, group)
    return "".join(metric_section(report, group, metric) for metric in group["metrics"])


def bars_section(report, page):
    rows = []
    for bar in report.judged(page):
        kind = {"ok": "ok", "over": "over", "under": "over"}.get(bar["verdict"], "soft")
        rows.append([escape(bar["workload"]), f"{bar['n']:,}", (escape(bar["of"]), "left"),
                     f"{number(bar['measured']) or '-'} / {number(bar['reference']) or '-'}",
                     in_units(bar, bar["outcome"]), escape(limit_text(bar)), (bar["verdict"], kind)])
    if not rows:
        return ""
    return ("<h2>Bars</h2><p>What hocket holds itself to: its median through another's median or minimum, or its median "
            "itself (less that of another workload), all of this run.</p>"
            + table(["workload", "n", ("of", "left"), "values", "measured", "bar", ""], rows))


def page_section(report, page):
    metrics = "".join(group_section(report, group) for group in page.groups)
    workers = workers_of(page, report)
    first = f"<p>{escape(workers.capitalize())}.</p>" if workers else ""
    return (f'<h1 id="{escape(page.name)}">{escape(page.title)}</h1>{first}<p>{escape(page.about)}</p>'
            f"{bars_section(report, page)}{metrics}")


def published_section(report):
    published = report.published
    rows = [[escape(f["system"]), (escape(f["workload"]), "left"), (escape(f.get("condition", "")), "left"),
             f'{Published.text(f)} {f["unit"]}', f["document"]] for f in published.without_size()]
    documents = "".join(f"<li><b>{number_}</b>: {escape(d['title'])}, {d['date']}. Measured on: "
                        f"{escape(d['hardware'])}.</li>" for number_, d in published.documents.items())
    return ("<h1>Published figures</h1><p>These were published by others and measured on their machines; no ratio is "
            "made with them. A switch there is one way and back, as here.</p>"
            f"<ul>{documents}</ul><details open><summary>figures for conditions that have no size here</summary>"
            + table(["system", ("workload", "left"), ("condition", "left"), "published", "document"], rows) + "</details>")


def machine_section(report):
    facts = [[escape(name), (escape(fact), "left")] for name, fact in report.machine.items()]
    skipped = [f"<li>{escape(name)}: {escape(reason)}</li>" for name, reason in report.skipped_systems.items()]
    skipped += [f"<li>{escape(remark)}</li>" for remark in together(report.measurement.skipped)]
    skipped += [f"<li>fewer: {escape(remark)}</li>" for remark in report.measurement.remarks]
    skipped += [f'<li class="over">failed: {escape(remark)}</li>' for remark in together(report.measurement.failed)]
    runs = sorted({r["runs"] for r in report.results.rows})
    systems = "".join(f"<li><b>{escape(name)}</b>: {escape(report.what(name))}</li>" for name in report.order)
    return ("<h1>How this was measured</h1>" + table(["", ""], facts)
            + f"<p>Command: <code>{escape(report.command)}</code>, {report.seconds:.0f} s, "
            f"{' to '.join(map(str, sorted({runs[0], runs[-1]})) if runs else ['no'])} runs of each program, "
            "interleaved. A value is the median over the runs of what each program found to be the median of its own "
            "repetitions.</p>"
            f"<h3>Skipped</h3><ul>{''.join(skipped) or '<li>nothing</li>'}</ul><h3>Systems</h3><ul>{systems}</ul>")


def smoke_note(report):
    if report.measurement.mode != "smoke":
        return ""
    return '<p class="over">A smoke run: it shows that every subject runs. Its figures mean nothing.</p>'


def render(report):
    style = (LAB / "labkit/page.css").read_text(encoding="utf-8")
    pages = "".join(page_section(report, page) for page in report.pages)
    contents = " · ".join(f'<a href="#{escape(page.name)}">{escape(page.title)}</a>' for page in report.pages)
    return (f'<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">'
            f"<title>hocket lab</title><style>{style}</style></head><body>"
            f"<h1>hocket lab</h1><p>{contents}</p>"
            f'<p class="soft">{escape(report.machine.get("processor", ""))}; {escape(report.date)}. Absolute figures '
            "move from machine to machine and from hour to hour: compare ratios of one run.</p>"
            '<p class="key soft"><span class="hocket"></span>hocket<span class="stackful"></span>stackful'
            '<span class="stackless"></span>stackless<span class="floor"></span>floor'
            '<span class="diamond"></span> published elsewhere; the dark line is the range of the runs</p>'
            f"{smoke_note(report)}{pages}{published_section(report)}{machine_section(report)}</body></html>\n")
