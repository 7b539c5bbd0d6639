"""Formatting: C++ files are as clang-format 23.1.5 writes them (./dev fmt). Left out, by name, where it is missing."""
import re

from .tools import find, in_parallel, output
from .tree import Finding

FAST = True


def check(tree):
    program = find("clang-format")
    command = [program, f"--style=file:{tree.root / '.clang-format'}", "--dry-run"]
    paths = tree.paths("include", "src", "tests", "lab", "ext", endings=(".hpp", ".cpp"))

    def first_faults(some):
        _, text = output([*command, *(str(tree.root / path) for path in some)]) if some else (0, "")
        for path in some:
            if match := re.search(re.escape(path) + r":(\d+):\d+: warning", text):
                yield Finding(path, int(match[1]), "not formatted: run ./dev fmt")

    halves = in_parallel(lambda some: list(first_faults(some)), [paths[::2], paths[1::2]])
    return [finding for half in halves for finding in half]
