"""Spelling: codespell over every tracked text. Words that are right as they are stand in tools/check/words.txt."""
import re

from .tools import find, output
from .tree import Finding

FAST = False
LIST = "tools/check/words.txt"
NOT_PROSE = (".lock", ".sum", ".svg")


def check(tree):
    program = find("codespell")
    paths = [path for path in tree.texts if not path.endswith(NOT_PROSE) and path not in (LIST, "LICENSE")]
    if not paths:
        return []
    words = ["--ignore-words", str(tree.root / LIST)] if LIST in tree.texts else []
    _, text = output([program, *words, *(str(tree.root / path) for path in paths)])
    found = (re.match(r"(.+?):(\d+): (.+)", line) for line in text.splitlines())
    return [Finding(match[1].removeprefix(str(tree.root) + "/"), int(match[2]), match[3]) for match in found if match]
