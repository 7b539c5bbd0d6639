"""Errors: docs/waits.md has a row for each errc, with the std::errc that it equals and its text, as the source has them."""
import re

from .tree import Finding

FAST = True
PAGE, HEADER, SOURCE = "docs/waits.md", "include/hocket/base/error.hpp", "src/base/error.cpp"
VALUE = re.compile(r"^  (\w+) = \d+,", re.M)
TEXT = re.compile(r'case errc::(\w+): return "([^"]*)"')
EQUAL = re.compile(r"case errc::(\w+): return std::errc::(\w+);")
ROW = re.compile(r"^\| `errc::(\w+)` \| `(?:std::errc::)?(\w+)` \| ([^|]*?) \|", re.M)


def check(tree):
    if HEADER not in tree.texts:
        return []
    source = tree.texts.get(SOURCE, "")
    texts, equal = dict(TEXT.findall(source)), dict(EQUAL.findall(source))
    expected = {name: (equal.get(name), texts.get(name)) for name in VALUE.findall(tree.texts[HEADER])}
    page = tree.texts.get(PAGE, "")
    rows = {match[1]: (match.start(), (match[2], match[3])) for match in ROW.finditer(page)}
    findings = [Finding(PAGE, 0, f"no row for errc::{name}") for name in expected.keys() - rows.keys()]
    for name, (place, row) in rows.items():
        if row != expected.get(name):
            findings.append(Finding(PAGE, page.count("\n", 0, place) + 1, f"errc::{name} is {expected.get(name)}, not {row}"))
    return findings
