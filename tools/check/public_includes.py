"""Public headers: `#pragma once`, no heavy standard header, no private one, none of an extension, no relative path.

<iostream>, <regex> and <functional> cost every user of a header more than they give; weight.py measures the rest.
"""
from .tree import Finding

FAST = True
HEAVY = {"iostream", "ostream", "istream", "sstream", "fstream", "iomanip", "regex", "functional", "locale",
         "filesystem"}


def check_include(tree, path, line, name):
    if name in HEAVY:
        return Finding(path, line, f"<{name}> in a public header")
    target = tree.resolve(path, name)
    if target and target.startswith("ext/"):
        return Finding(path, line, f"{name} is of an extension: a public header of the library cannot need it")
    if target and not target.startswith("include/"):
        return Finding(path, line, f"{name} is not installed: a public header cannot need it")
    if "../" in name or (target and not name.startswith("hocket/")):
        return Finding(path, line, f"{name}: include <hocket/...>, from the root of include/")
    return None


def check(tree):
    findings = []
    for path in tree.public_headers():
        if "#pragma once" not in tree.code(path):
            findings.append(Finding(path, 1, "no #pragma once"))
        found = (check_include(tree, path, line, name) for line, name in tree.includes(path))
        findings += [finding for finding in found if finding]
    return findings
