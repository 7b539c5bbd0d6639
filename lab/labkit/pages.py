"""The lab's pages: for each table its charts and its figures."""
from .catalogue import is_higher_better, numbered
from .charts import chart, curves
from .compare import in_units, limit_text, number, ratio
from .documents import Published
from .report import is_ours
from .tables import escape, system, table
from .terminal import FEW, published_systems, size, system_rows, workers_of


def anchor(metric):
    return f"row-{escape(metric['id'])}"


def figure_text(figures, with_document=True):
    """The published figures of a cell, each with its document; the tooltip has the name and the condition."""
    return "; ".join(f'<span title="{escape(tooltip(f))}">{escape(Published.text(f))}'
                     f'{" (" + f["document"] + ")" if with_document else ""}</span>' for f in figures)


def tooltip(figure):
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
        cells = [system(report, name)]
        for n in sizes:
            row = results.get(workload, name, n)
            cells.append(number(row["median"]) if row else "-")
            cells.append(f"{number(row['min'])} to {number(row['max'])}" if row else "")
            cells.append(ratio(results.ratio(workload, name, baseline, n)))
            cells.append((figure_text(report.published.beside(name, workload, n)), "published"))
        rows.append(cells)
        kinds.append("hocket" if is_ours(name) else "")
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
    return (f'<h3 id="{anchor(metric)}">{escape(metric["id"])}</h3><p>'
            f"{escape(metric['title'])}. {escape(metric['unit'])}, "
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
        head += [f"{system(report, name)}<br>{size(n, group)}", "published"]
    rows = []
    for metric in metrics:
        cells = [f'<span id="{anchor(metric)}">{escape(metric["title"])}</span>']
        for n, name in columns:
            row = results.get(metric["id"], name, n)
            cells.append(number(row["median"]) if row else "-")
            cells.append((figure_text(report.published.beside(name, metric["id"], n), with_document=False), "published"))
        rows.append(cells)
    return table(head, rows, f"medians, {metrics[0]['unit']}")


def one_table_section(report, group):
    if not any(report.results.sizes(metric["id"]) for metric in group["metrics"]):
        return ""
    charts = "".join(f"<h4>{escape(metric['title'])}</h4>{metric_charts(report, group, metric)}"
                     for metric in group["metrics"] if report.results.sizes(metric["id"]))
    return (f"<h3>{escape(group['workload'])}</h3><p>{escape(group['one_table'])}. Lower is better.</p>"
            f"{one_table(report, group)}<details><summary>charts; their axis is logarithmic</summary>{charts}</details>")


def table_of_columns(report, group, n):
    """A row for each system, a column for each metric; a ratio of the first, if there are pairs."""
    results, metrics = report.results, group["metrics"]
    heads = [f'<span title="{escape(metric["title"])}">{escape(metric["column"])}</span>' for metric in metrics]
    rows, kinds = [], []
    for name, cells, ratio_ in system_rows(group, results, report.order, n):
        row = results.get(metrics[0]["id"], name, n)
        cells[0] = f'<span title="{number(row["min"])} to {number(row["max"])}, {row["runs"]} runs">{cells[0]}</span>'
        rows.append([system(report, name), cells[0], ratio_, *cells[1:]])
        kinds.append("hocket" if is_ours(name) else "")
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
    return (f'<h3 id="{anchor(first)}">{escape(group["workload"])}</h3><p>{escape(group["columns"])}. Medians'
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
    return ("<h3>Bars</h3><p>What hocket holds itself to: its median through another's median or minimum, or its median "
            "itself (less that of another workload), all of this run.</p>"
            + table(["workload", "n", ("of", "left"), "values", "measured", "bar", ""], rows))


def page_section(report, page):
    metrics = "".join(group_section(report, group) for group in page.groups)
    workers = workers_of(page, report)
    first = f"<p>{escape(workers.capitalize())}.</p>" if workers else ""
    return (f'<h2 id="{escape(page.name)}">{escape(page.title)}</h2>{first}<p>{escape(page.about)}</p>'
            f"{bars_section(report, page)}{metrics}")
