"""Orderings: every atomic operation says why its order is enough.

On its line or on the three before it, an operation with an explicit weaker order carries
`// ORDER: <order>, pairs with <what> in <function>()`; a relaxed one may give a reason instead of a partner; one with
seq_cst, and every fence, carries `// ORDER: ..., forbids <which reordering>`. An operation that is told by its name to
be atomic and passes no order at all is seq_cst by accident: it must say so.
"""
import re

from .tree import Finding

FAST = True
REACH = 3  # lines
# Where orders are defined or interpreted, not chosen.
MEANING = ("include/hocket/base/seam/atomic.hpp", "include/hocket/model/", "src/model/")
OPERATION = re.compile(r"\b(load|store|exchange|compare_exchange_(?:weak|strong)|fetch_(?:add|sub|and|or|xor)|"
                       r"test_and_set|fence|atomic_thread_fence|wait)\s*\(")
ORDER = re.compile(r"\bmemory_order(?:_|::)(relaxed|consume|acquire|release|acq_rel|seq_cst)\b")
NEVER_PLAIN = re.compile(r"compare_exchange|fetch_|test_and_set")
COMMENT = re.compile(r"//\s*ORDER:\s*(.*)")


def call_end(code, opening):
    depth = 0
    for match in re.compile(r"[()]").finditer(code, opening):
        depth += 1 if match.group() == "(" else -1
        if depth == 0:
            return match.end()
    return len(code)


def operations(code):
    """(first line, last line, name, orders) of each call that names an order, or must."""
    for match in OPERATION.finditer(code):
        end = call_end(code, match.end() - 1)
        orders = set(ORDER.findall(code[match.end():end]))
        name = match.group(1)
        is_declaration = re.search(r"\b(?:void|bool|T|auto|inline)\s+$", code[:match.start()])
        if is_declaration or not (orders or NEVER_PLAIN.match(name)):
            continue
        yield code.count("\n", 0, match.start()) + 1, code.count("\n", 0, end) + 1, name, orders or {"seq_cst"}


def comments(lines, first, last):
    """The ORDER comments that stand at an operation, each with the comment lines that continue it."""
    for number in range(max(1, first - REACH), last + 1):
        match = COMMENT.search(lines[number - 1])
        if match:
            text = match.group(1)
            for more in lines[number:]:
                if not re.match(r"\s*//(?!\s*ORDER:)", more):
                    break
                text += " " + more.strip(" /")
            yield text


def fault(name, orders, reasons):
    text = " ".join(reasons)
    if not reasons:
        return f"{name} with {'/'.join(sorted(orders))} has no // ORDER: comment"
    if "fence" in name or "seq_cst" in orders:
        return None if "forbids" in text else f"{name}: the // ORDER: comment must say which reordering it forbids"
    if "pairs with" in text or orders == {"relaxed"} and len(text.split()) > 2:
        return None
    return f"{name}: the // ORDER: comment must say what it pairs with"


def check(tree):
    findings = []
    for path in tree.paths("include", "src", "ext/asio/include", "ext/gc/include", "ext/gc/src", "ext/gc/boehm", "ext/hook/include", "ext/hook/src", "ext/pg/include", "ext/pg/src", "ext/redis/include", "ext/redis/src", endings=(".hpp", ".cpp")):
        if path.startswith(MEANING):
            continue
        lines = tree.lines(path)
        for first, last, name, orders in operations(tree.code(path)):
            if problem := fault(name, orders, list(comments(lines, first, last))):
                findings.append(Finding(path, first, problem))
    return findings
