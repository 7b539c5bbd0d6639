"""Tables in HTML. The code that makes a cell escapes its text."""
import html


def escape(text):
    return html.escape(str(text))


def cell(tag, content):
    text, kind = content if isinstance(content, tuple) else (content, "")
    return f'<{tag} class="{kind}">{text}</{tag}>' if kind else f"<{tag}>{text}</{tag}>"


def table(head, rows, caption=None, row_classes=None, kind="sortable", above=""):
    """Cells are HTML; a cell may be a pair (HTML, class). `above`: a row of HTML over the head. A click on
    the head of a column lets the page's script sort a "sortable" table by that column."""
    parts = [f'<div class="wide"><table class="{kind}">']
    if caption:
        parts.append(f"<caption>{escape(caption)}</caption>")
    parts.append(f"<thead>{above}<tr>{''.join(cell('th', h) for h in head)}</tr></thead><tbody>")
    for i, row in enumerate(rows):
        opening = f'<tr class="{row_classes[i]}">' if row_classes and row_classes[i] else "<tr>"
        parts.append(f"{opening}{''.join(cell('td', c) for c in row)}</tr>")
    return "".join(parts) + "</tbody></table></div>"


def system(report, name):
    return f'<span title="{escape(report.description(name))}">{escape(name)}</span>'
