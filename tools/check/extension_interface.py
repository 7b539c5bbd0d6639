"""Extensions: the table of docs/decisions/054-interface-for-extensions.md is what the headers have, and within its limits.

The table counts the interface: types that an extension derives from or makes, and functions. Each name is declared in its
header, and no name is there twice. Layer fiber has no word of an extension: it serves all of them alike.
"""
import re

from .tree import Finding

FAST = True
PAGE = "docs/decisions/054-interface-for-extensions.md"
MOST_TYPES, MOST_FUNCTIONS = 12, 20
ROW = re.compile(r"^\| `([\w/.]+\.hpp)` \|([^|]*)\|([^|]*)\|", re.M)
NAME = re.compile(r"`(\w+)`")
FIBER = re.compile(r"(?:include/hocket|src)/fiber/")
WORDS = re.compile(r"\b(?:hook|gc|asio|redis|pg|collectors?)\b", re.I)


def declares(code, name, is_type):
    form = rf"\b(?:class|struct)\s+(?:\[\[\w+\]\]\s+)?{name}\b[^;{{]*\{{" if is_type else rf"[\w>*&\]]\s+[*&]?{name}\("
    return re.search(form, code) is not None


def rows(tree):
    """(line, header, types, functions) of the page."""
    page = tree.texts.get(PAGE, "")
    for match in ROW.finditer(page):
        yield page.count("\n", 0, match.start()) + 1, match[1], NAME.findall(match[2]), NAME.findall(match[3])


def check_row(tree, line, header, types, functions):
    path = f"include/hocket/{header}"
    if path not in tree.texts:
        yield Finding(PAGE, line, f"there is no {path}")
        return
    code = tree.code(path)
    for name, is_type in [*((name, True) for name in types), *((name, False) for name in functions)]:
        if not declares(code, name, is_type):
            yield Finding(PAGE, line, f"{header} declares no {'type' if is_type else 'function'} {name}")


def check_table(tree):
    types, functions = [], []
    for line, header, own_types, own_functions in rows(tree):
        yield from check_row(tree, line, header, own_types, own_functions)
        types += own_types
        functions += own_functions
    for names, most, kind in ((types, MOST_TYPES, "types"), (functions, MOST_FUNCTIONS, "functions")):
        if len(names) > most:
            yield Finding(PAGE, 0, f"{len(names)} {kind}, at most {most}: merge some, or say in the decision why, and raise the limit")
        for name in {name for name in names if names.count(name) > 1}:
            yield Finding(PAGE, 0, f"{name} is there twice")


def check_fiber(tree):
    for path in tree.paths("include", "src", endings=(".hpp", ".cpp", ".h")):
        if FIBER.match(path):
            for number, text in enumerate(tree.lines(path), 1):
                if word := WORDS.search(text):
                    yield Finding(path, number, f"layer fiber has the word {word[0]}: it knows of no extension")


def check(tree):
    return [*check_table(tree), *check_fiber(tree)]
