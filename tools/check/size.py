"""Size: a file over 400 lines or a function over 60 needs a line of reason in tools/check/long.txt.

A C++ function is found by its name and braces (blocks.py).
"""
import ast

from .blocks import blocks
from .tree import Finding, table

FAST = True
LIST = "tools/check/long.txt"
FILE_LINES = 400
FUNCTION_LINES = 60
ENDINGS = (".hpp", ".cpp", ".h", ".S", ".py", ".cmake", ".txt", ".go", ".rs", ".java")
FOLDERS = ("include", "src", "tests", "lab", "ext", "tools", "cmake")


def cpp_functions(code):
    """(name, first line, last line) of functions; a lambda or local class belongs to its function."""
    for block in blocks(code):
        if block.kind == "function":
            yield "::".join(block.name), code.count("\n", 0, block.begin) + 1, code.count("\n", 0, block.end) + 1


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
    reasons = {(path, subject): (number, reason) for number, path, subject, reason in table(tree, LIST, 3)}
    needed, findings = set(), []

    def judge(path, subject, line, lines, limit):
        if lines > limit:
            needed.add((path, subject))
            if not reasons.get((path, subject), (0, ""))[1]:
                text = f"{subject} has {lines} lines, over {limit}: split it, or give a reason in {LIST}"
                findings.append(Finding(path, line, text))

    for path in tree.paths(*FOLDERS, endings=ENDINGS):
        judge(path, "file", 1, len(tree.lines(path)), FILE_LINES)
        for name, first, last in functions(tree, path):
            judge(path, name + "()", first, last - first + 1, FUNCTION_LINES)
    for key, (number, _) in reasons.items():
        if key not in needed:
            findings.append(Finding(LIST, number, f"{key[0]} | {key[1]} is short enough, or gone: take the line out"))
    return findings
