"""A file of the tree as parts: C++, Python, prose, the lines of a mutant. A part has the path whose rules it follows.

The blocks of a mutant follow the file that the mutant changes, so that a rename in this file changes them, too.
"""
import collections
import re

from . import cpp_tokens
from .mutant_file import MARKER

# kind: cpp, python, prose, data, build, foreign, test (the name of a test case), place (of a mutant), fixed (never changed)
Part = collections.namedtuple("Part", "kind text path")

PYTHON_PROGRAMS = ("dev", "tools/compiler_check/hocket-compiler-check")
DATA = (".txt", ".json", ".supp", ".list", ".sh")
BUILD = (".cmake", ".in", "CMakeLists.txt")
FOREIGN = (".go", ".rs", ".java", ".js", ".css", ".toml")
FENCE = re.compile(r"(^[ \t]*```(\w*)[^\n]*\n)(.*?)(?=^[ \t]*```)", re.S | re.M)
FIELD = re.compile(r"(\w+): (.*)")
FIXED_FILES = ("LICENSE", "docs/renames.tsv")


def kind_of(path):
    if path in FIXED_FILES:
        return "fixed"
    if path in PYTHON_PROGRAMS or path.endswith(".py"):
        return "python"
    for kind, endings in (("cpp", cpp_tokens.ENDINGS), ("build", BUILD), ("data", DATA), ("foreign", FOREIGN),
                          ("markdown", (".md",)), ("mutant", (".mutant",))):
        if path.endswith(endings):
            return kind
    return "fixed"


def split(path, text):
    """The parts, which give the text if they are joined."""
    kind = kind_of(path)
    if kind == "markdown":
        return list(markdown(path, text))
    if kind == "mutant":
        return list(mutant(path, text))
    return [Part(kind, text, path)]


def markdown(path, text):
    last = 0
    for match in FENCE.finditer(text):
        yield Part("prose", text[last:match.start(3)], path)
        yield Part("cpp" if match.group(2) in ("cpp", "c++") else "data", match.group(3), path)
        last = match.end(3)
    yield Part("prose", text[last:], path)


def header_lines(text, source):
    """The parts of lines `field: text`."""
    for line in text.splitlines(keepends=True):
        if match := FIELD.match(line):
            kind = {"test": "test", "why": "prose"}.get(match.group(1), "fixed")
            yield Part("fixed", line[:match.start(2)], source)
            yield Part(kind, match.group(2), source)
            yield Part("fixed", line[match.end(2):], source)
        else:
            yield Part("fixed", line, source)


def mutant(path, text):
    """Header lines, the places of `in:`, and blocks of C++ after `--- find` and `--- replace`. A line `file:` names the source
    of what follows."""
    header, *pieces = MARKER.split(text)
    source = next((marker[len("file: "):] for marker in pieces[::2] if marker.startswith("file: ")), path)
    yield from header_lines(header, source)
    for marker, body in zip(pieces[::2], pieces[1::2]):
        if marker.startswith("--- "):
            yield from (Part("fixed", marker + "\n", source), Part("cpp", body, source))
            continue
        if marker.startswith("file: "):
            source = marker[len("file: "):]
            yield Part("fixed", marker + "\n", source)
        else:
            yield from (Part("fixed", "in: ", source), Part("place", marker[len("in: "):], source), Part("fixed", "\n", source))
        yield from header_lines(body, source)
