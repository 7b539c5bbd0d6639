"""Debugger: each command of gdb that a document names exists in tools/gdb/hocket.py.

A document names a command where a line about gdb has a code span that begins with `hocket-` or `hocket `.
"""
import re

from .tree import Finding

FAST = True
COMMANDS = "tools/gdb/hocket.py"
DEFINED = re.compile(r'super\(\).__init__\("([\w-]+)"')
NAMED = re.compile(r"`(hocket[- ][\w-]+)[^`]*`")


def check(tree):
    defined = set(DEFINED.findall(tree.texts.get(COMMANDS, "")))
    return [Finding(path, number, f"gdb has no command {name}: {COMMANDS} has {', '.join(sorted(defined))}")
            for path in tree.texts if path.endswith(".md")
            for number, line in enumerate(tree.lines(path), 1) if re.search(r"\bgdb\b", line)
            for name in NAMED.findall(line) if name not in defined]
