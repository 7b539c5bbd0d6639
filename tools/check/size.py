"""Size: a file over 400 lines or a function over 60 needs a line of reason in tools/check/long.txt.

A C++ function is told by its braces: a block that opens after a parameter list (and what may follow one), outside any
other function. That is a heuristic; it errs towards reporting nothing.
"""
import ast
import re

from .tree import Finding, table

FAST = True
LIST = "tools/check/long.txt"
FILE_LINES = 400
FUNCTION_LINES = 60
ENDINGS = (".hpp", ".cpp", ".h", ".S", ".py", ".cmake", ".txt", ".go", ".rs", ".java")
FOLDERS = ("include", "src", "tests", "lab", "ext", "tools", "cmake")
# The words before a brace that opens something other than a function.
NO_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|extern|concept)\b[^()]*$|=\s*$")
NAME = re.compile(r"([~\w:]+|operator\s*\S+)\s*\(")


def head_before(code, brace):
    """The text since the last statement or block ended."""
    start = max(code.rfind(mark, 0, brace) for mark in ";{}")
    return code[start + 1:brace]


def cpp_functions(code):
    """(name, first line, last line) of outermost functions."""
    depth, function = 0, None
    for match in re.finditer(r"[{}]", code):
        if match.group() == "{":
            head = re.sub(r"(?m)^\s*#.*$|\[\[.*?\]\]", "", head_before(code, match.start()))
            if function is None and "(" in head and not NO_FUNCTION.search(head):
                name = NAME.search(head)
                first = code.count("\n", 0, match.start() - len(head.lstrip())) + 1
                function = (name.group(1) if name else "?", first, depth)
            depth += 1
        else:
            depth -= 1
            if function and depth == function[2]:
                yield function[0], function[1], code.count("\n", 0, match.start()) + 1
                function = None


def python_functions(syntax):
    for node in ast.walk(syntax):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield node.name, node.lineno, node.end_lineno


def functions(tree, path):
    if path.endswith((".hpp", ".cpp", ".h")):
        return cpp_functions(tree.code(path))
    if path.endswith(".py"):
        return python_functions(tree.syntax(path))
    return ()


def check(tree):
    reasons = {(path, what): (number, reason) for number, path, what, reason in table(tree, LIST, 3)}
    needed, findings = set(), []

    def judge(path, what, line, lines, limit):
        if lines > limit:
            needed.add((path, what))
            if not reasons.get((path, what), (0, ""))[1]:
                text = f"{what} has {lines} lines, over {limit}: split it, or give a reason in {LIST}"
                findings.append(Finding(path, line, text))

    for path in tree.paths(*FOLDERS, endings=ENDINGS):
        judge(path, "file", 1, len(tree.lines(path)), FILE_LINES)
        for name, first, last in functions(tree, path):
            judge(path, name + "()", first, last - first + 1, FUNCTION_LINES)
    for key, (number, _) in reasons.items():
        if key not in needed:
            findings.append(Finding(LIST, number, f"{key[0]} | {key[1]} is short enough, or gone: take the line out"))
    return findings
