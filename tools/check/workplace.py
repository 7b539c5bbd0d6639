"""Nobody's workplace: a tracked file names no path of one machine, no package host, nothing about who typed it.

A clone must work anywhere and read as the project's own. The patterns are written so that this file does not match.
"""
import re

from .tree import Finding

FAST = True
PATTERNS = {
    r"(?<![\w.~-])/(?:[w]ork|[h]ome|[r]oot|[U]sers)/[\w.]": "an absolute path of one machine",
    r"(?<![\w.])/[t]mp/[\w.]": "an absolute path: ask for a temporary folder",
    r"https?://[\w.:-]*(?:re\x67istry|[p]roxy|[m]irror|[a]rtifactory|[n]exus)[\w.:-]*": "a package host",
    r"\b(?:[s]ubagents?|[h]elper session|[b]ash_jobs|lan\x67uage model|as an [A]I)\b": "how the text was made",
    r"\b(?:AKIA[0-9A-Z]{16}|-----BEGIN [A-Z ]*[P]RIVATE KEY)": "a secret",
}


def check(tree):
    findings = []
    for path, text in tree.texts.items():
        for pattern, meaning in PATTERNS.items():
            findings += [Finding(path, tree.line_of(path, match.start()), f"{meaning}: {match.group()}")
                         for match in re.finditer(pattern, text)]
    return findings
