"""Runs the rules over the checkout and prints what they find.

A rule is a module with FAST and check(tree); left_out(tree), if there is one, says what this machine cannot check.
"""
import importlib
import pathlib
import sys
import time

from .tools import Unavailable
from .tree import Tree

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ("layers", "cycles", "namespaces", "restricted", "size", "orderings", "public_includes", "doors", "seams", "collisions",
         "workplace", "links", "debugger", "errors", "extension_interface", "sleeps", "executables", "options", "lazy_views", "formatting", "names", "prose", "spelling",
         "ctags", "headers", "weight")


def rule(name):
    return importlib.import_module(f"{__package__}.{name}")


def ratchets():
    """The names of the rules with a list that may only shrink."""
    return [name for name in RULES if hasattr(rule(name), "RATCHET")]


def shrink():
    """Lowers the figures of all lists to the truth."""
    tree = Tree.checkout(ROOT)
    for name in ratchets():
        rule(name).RATCHET.shrink(tree)
    return 0


def run_rule(name, tree):
    """Prints one line per rule and per finding; returns the number of findings."""
    start = time.monotonic()
    try:
        findings = rule(name).check(tree)
    except Unavailable as reason:
        print(f"{name:16} left out: {reason}")
        return 0
    verdict = "ok" if not findings else f"{len(findings)} found"
    print(f"{name:16} {verdict} ({time.monotonic() - start:.1f} s)", flush=True)
    for path, line, text in sorted(findings):
        print(f"  {path}:{line}: {text}")
    for text in getattr(rule(name), "left_out", lambda _: [])(tree):
        print(f"  left out: {text}")
    return len(findings)


def main(fast, only=None):
    if only and only not in RULES:
        print(f"no rule named {only}; there are: {' '.join(RULES)}", file=sys.stderr)
        return 2
    tree = Tree.checkout(ROOT)
    chosen = [only] if only else [name for name in RULES if rule(name).FAST or not fast]
    found = sum(run_rule(name, tree) for name in chosen)
    print(f"{len(chosen)} rules, {found} findings")
    return 1 if found else 0
