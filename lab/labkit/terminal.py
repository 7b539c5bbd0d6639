"""The tables for a terminal."""
from . import standing
from .compare import exact_ratio, in_units, limit_text, number, ratio
from .catalogue import is_higher_better, numbered
from .documents import Published

FEW = 4   # sizes that fit beside one another with their ratios


def size(n, group):
    return numbered(n, group) if "n_is" in group else f"n = {n:,}"


def published_cell(published, system, workload, sizes):
    """The figures of the documents, an entry for each size: "5 / 6 / 9 (002)"."""
    figures = [published.beside(system, workload, n) for n in sizes]
    if not any(figures):
        return ""
    documents = sorted({f["document"] for found in figures for f in found})
    cells = [" or ".join(Published.text(f) for f in found) or "-" for found in figures]
    return f"{' / '.join(cells)} ({', '.join(documents)})"


def headline(metric):
    return (f"{metric['id']}: {metric['title']}. {metric['unit']}, medians"
            + (", higher is better" if is_higher_better(metric) else ""))


def wide_table(metric, results, order, published, sizes):
    """A table of many sizes: without ratios, and with published figures in lines of their own."""
    workload = metric["id"]
    lines = [headline(metric), f"  {'n =':<30}" + "".join(f"{n:>10,}" for n in sizes)]
    for name in results.systems(workload, order):
        rows = [results.get(workload, name, n) for n in sizes]
        lines.append(f"  {name:<30}" + "".join(f"{number(row['median']) if row else '-':>10}" for row in rows))
        lines += published_lines(published.rows(workload, name), sizes)
    return lines + published_lines(published.rows(workload), sizes) + [""]


def published_lines(rows, sizes):
    lines = []
    for name, figures in rows.items():
        cells = "".join(f"{Published.text(figures[n]) if n in figures else '-':>10}" for n in sizes)
        lines.append(f"    {Published.title(name, figures):<28}{cells}")
    return lines


def one_table(group, results, order, published):
    """A row for each metric of the group, a column for each size and system; published figures in parentheses."""
    systems = [name for name in order if any(results.get(m["id"], name, n) for m in group["metrics"]
                                             for n in results.sizes(m["id"]))]
    sizes = sorted({n for metric in group["metrics"] for n in results.sizes(metric["id"])})
    columns = [(n, name) for n in sizes for name in systems]
    lines = [f"{group['one_table']}. {group['metrics'][0]['unit']}, medians",
             f"  {'':<40}" + "".join(f"{size(n, group):>18}" for n, _ in columns),
             f"  {'':<40}" + "".join(f"{name:>18}" for _, name in columns)]
    for metric in group["metrics"]:
        cells = "".join(f"{with_published(results, published, metric['id'], name, n):>18}" for n, name in columns)
        lines.append(f"  {metric['title']:<40}{cells}".rstrip())
    return lines + [""] if columns else []


def with_published(results, published, workload, name, n):
    row = results.get(workload, name, n)
    figures = " or ".join(Published.text(f) for f in published.beside(name, workload, n))
    return (number(row["median"]) if row else "-") + (f" ({figures})" if figures else "")


def aligned(cells, widths):
    return "".join(f"{text:>{width}}" for text, width in zip(cells, widths))


def measured(results, workload, name, n):
    if (workload, name, n) in results.absent:
        return "not to be had"
    row = results.get(workload, name, n)
    return number(row["median"]) if row else "-"


def columns_head(group, n):
    first = group["metrics"][0]["column"]
    return f"{group['columns']}; {size(n, group)}. Medians" + (
        f"; x: {first} divided by {group['baseline']}'s, round by round" if group.get("paired") else "")


def table_of_columns(group, results, order, published):
    """For each size a table: a row for each system, a column for each metric; the ratio of the first metric, if paired."""
    lines = []
    for n in results.sizes(group["metrics"][0]["id"]):
        rows = [("", [metric["column"] for metric in group["metrics"]], "x")]
        rows += system_rows(group, results, order, n)
        rows += [(f"{name} ({document})", cells, "") for name, document, cells in published_systems(group, published, n)]
        widths = [2 + max(10, *(len(cells[i]) for _, cells, _ in rows)) for i in range(len(group["metrics"]))]
        lines.append(f"{group['workload']}: {columns_head(group, n)}")
        for name, cells, ratio_ in rows:
            ratios = f"{ratio_:>9}" if group.get("paired") else ""
            lines.append(f"  {name:<26}" + aligned(cells[:1], widths) + ratios + aligned(cells[1:], widths[1:]))
        lines.append("")
    return lines


def system_rows(group, results, order, n):
    """(system, cells, ratio) of all systems that were measured in this size."""
    first = group["metrics"][0]["id"]
    return [(name, [measured(results, metric["id"], name, n) for metric in group["metrics"]],
             exact_ratio(results.ratio(first, name, group["baseline"], n)))
            for name in results.systems(first, order) if results.get(first, name, n)]


def published_systems(group, published, n):
    """(name, document, cells) of the published figures of systems that are not measured here."""
    found = {}
    for i, metric in enumerate(group["metrics"]):
        for name, figures in published.alone(metric["id"]).items():
            if n in figures:
                cells = found.setdefault((name, figures[n]["document"]), ["-"] * len(group["metrics"]))
                cells[i] = Published.text(figures[n])
    return [(name, document, cells) for (name, document), cells in found.items()]


def heading(page, report):
    workers = workers_of(page, report)
    return f"{page.name}: {page.title}" + (f"; {workers}" if workers else "")


def workers_of(page, report):
    """The numbers of workers with which the page was measured, if its heading has them."""
    if not page.has_worker_count:
        return None
    counts = sorted({n for group in page.groups if group.get("n_is") == "workers" for metric in group["metrics"]
                     for n in report.results.sizes(metric["id"])})
    cores = report.run_of_page(page)["cores"]
    text = ", ".join(map(str, counts[:-1])) + " and " * (len(counts) > 1) + "".join(map(str, counts[-1:])) or "no"
    return f"measured on {text} worker{'s' if counts[-1:] != [1] else ''}, on {cores} core{'s' if cores != 1 else ''}"


def metric_table(group, metric, results, order, published):
    workload, baseline = metric["id"], group["baseline"]
    sizes = results.sizes(workload)
    if not sizes:
        return []
    if len(sizes) > FEW:
        return wide_table(metric, results, order, published, sizes)
    several = len(sizes) > 1 or sizes[0] > 1 or "n_is" in group
    lines = [f"{headline(metric)}; x = times {baseline}"]
    head = "".join(f"{size(n, group) if several else '':>19}" for n in sizes)
    shown = any(published.beside(name, workload, n) for name in order for n in sizes) or published.alone(workload)
    lines.append(f"  {'':<24}{head}   {'published' if shown else ''}".rstrip())
    for name in results.systems(workload, order):
        cells = "".join(cell(results, workload, name, baseline, n) for n in sizes)
        lines.append(f"  {name:<24}{cells}   {published_cell(published, name, workload, sizes)}".rstrip())
    lines += published_rows(published, workload, sizes)
    return lines + [""]


def group_tables(group, results, order, published):
    if "one_table" in group:
        return one_table(group, results, order, published)
    if "columns" in group:
        return table_of_columns(group, results, order, published)
    return [line for metric in group["metrics"] for line in metric_table(group, metric, results, order, published)]


def cell(results, workload, name, baseline, n):
    row = results.get(workload, name, n)
    if not row:
        return f"{'-':>11}{'':>8}"
    return f"{number(row['median']):>11}{ratio(results.ratio(workload, name, baseline, n)):>8}"


def published_rows(published, workload, sizes):
    lines = []
    for name, figures in published.alone(workload).items():
        if not any(n in figures for n in sizes):
            continue
        cells = " / ".join(Published.text(figures[n]) if n in figures else "-" for n in sizes)
        document = next(iter(figures.values()))["document"]
        indent = " " * (24 + 19 * len(sizes) + 3)
        lines.append(f"  {name + ' (published)':<{len(indent)}}{cells} ({document})")
    return lines


def bar_table(judged):
    if not judged:
        return []
    lines = ["bars: hocket's median, divided by another system's median or minimum, or by itself, in this run",
             f"  {'':<22}{'n':>10}  {'':<56}{'measured':>12}{'bar':>12}"]
    for bar in judged:
        measured, at_most = in_units(bar, bar["outcome"]), limit_text(bar)
        lines.append(f"  {bar['workload']:<22}{bar['n']:>10,}  {bar['of']:<56}{measured:>12}{at_most:>12}  {bar['verdict']}")
    return lines + [""]


def remarks(report):
    lines = [f"skipped: {name}: {reason}" for name, reason in report.skipped_systems.items()]
    lines += [f"skipped: {remark}" for remark in together(report.reasons("skipped"))]
    lines += [f"FAILED: {remark}" for remark in together(report.reasons("failed"))]
    lines += [f"fewer: {remark}" for remark in report.remarks()]
    lines += [f"cut short: {why}; `runs` in report.json has the number of repetitions" for why in report.cut_short()]
    lines.append(standing.spread_text(report))
    lines.append("published: figures of documents "
                 f"{', '.join(report.published.documents)}, measured on other machines; all of them are in report.html")
    return lines


def together(reasons):
    """{(system, workload, n): reason} in words; a remark for all workloads and sizes of one reason."""
    sizes, workloads = {}, {}
    for (name, workload, n), reason in reasons.items():
        sizes.setdefault((name, workload, reason), []).append(f"{n:,}")
    for (name, workload, reason), ns in sizes.items():
        workloads.setdefault((name, "; ".join(ns), reason), []).append(workload)
    return [f"{name}, {', '.join(found)}, n = {ns}: {reason}" for (name, ns, reason), found in workloads.items()]


def render(report):
    lines = [""]
    if report.is_smoke():
        lines += ["A smoke run: it shows that every subject runs. Its figures mean nothing.", ""]
    for page in report.pages:
        lines += [f"== {heading(page, report)}", ""]
        for group in page.groups:
            lines += group_tables(group, report.results, report.order, report.published)
        lines += bar_table(report.judged(page))
    return "\n".join(lines + remarks(report))
