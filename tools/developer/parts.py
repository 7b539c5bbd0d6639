"""A file of the tree as parts: C++, Python, prose, the lines of a mutant. A part has the path whose rules it follows.

The blocks of a mutant follow the file that the mutant changes, so that a rename in this file changes them, too.
"""
import collections
import re

from . import cpp_tokens

# kind: cpp, python, prose, data, build, foreign, test (the name of a test case), fixed (never changed)
Part = collections.namedtuple("Part", "kind text path")

PYTHON_PROGRAMS = ("dev", "tools/compiler_check/hocket-compiler-check")
DATA = (".txt", ".json", ".supp", ".list", ".sh")
BUILD = (".cmake", ".in", "CMakeLists.txt")
FOREIGN = (".go", ".rs", ".java", ".js", ".css", ".toml")
FENCE = re.compile(r"(^[ \t]*```(\w*)[^\n]*\n)(.*?)(?=^[ \t]*```)", re.S | re.M)
FIELD = re.compile(r"(?:# )?(\w+): (.*)")
DIFFED = re.compile(r"\+\+\+ b/(\S+)")
FIXED_FILES = ("LICENSE", "docs/renames.tsv")


def kind_of(path):
    if path in FIXED_FILES:
        return "fixed"
    if path in PYTHON_PROGRAMS or path.endswith(".py"):
        return "python"
    for kind, endings in (("cpp", cpp_tokens.ENDINGS), ("build", BUILD), ("data", DATA), ("foreign", FOREIGN),
                          ("markdown", (".md",)), ("mutant", (".mutant", ".patch"))):
        if path.endswith(endings):
            return kind
    return "fixed"


def split(path, text):
    """The parts, which give the text if they are joined."""
    kind = kind_of(path)
    if kind == "markdown":
        return list(markdown(path, text))
    if kind == "mutant":
        return list(diff(path, text) if path.endswith(".patch") else mutant(path, text))
    return [Part(kind, text, path)]


def markdown(path, text):
    last = 0
    for match in FENCE.finditer(text):
        yield Part("prose", text[last:match.start(3)], path)
        yield Part("cpp" if match.group(2) in ("cpp", "c++") else "data", match.group(3), path)
        last = match.end(3)
    yield Part("prose", text[last:], path)


def header_line(line, source):
    """The parts of a line `field: text`."""
    match = FIELD.match(line)
    if not match:
        return [Part("fixed", line, source)]
    kind = {"test": "test", "why": "prose", "in": "cpp"}.get(match.group(1), "fixed")
    return [Part("fixed", line[:match.start(2)], source), Part(kind, match.group(2), source),
            Part("fixed", line[match.end(2):], source)]


def diff(path, text):
    """A header, and the hunks of a unified diff."""
    header, separator, hunks = text.partition("\n--- ")
    sources = DIFFED.findall(text) or [path]
    for line in header.splitlines(keepends=True):
        yield from header_line(line, sources[0])
    source, block = sources[0], ""
    for line in (separator + hunks).splitlines(keepends=True):
        if line.startswith(("--- ", "+++ ", "@@ ", "diff ", "index ")):
            yield Part("cpp", block, source)
            block = ""
            found = DIFFED.match(line)
            source = found.group(1) if found else source
            yield Part("fixed", line, source)
        else:
            block += line
    yield Part("cpp", block, source)


def mutant(path, text):
    """Header lines, and blocks of C++ after `--- find` and `--- replace`. A line `file: PATH`, also between two blocks,
    names the source of what follows."""
    found = re.search(r"^(?:--- )?file: (\S+)", text, re.M)
    source, in_block, block = found.group(1) if found else path, False, ""
    for line in text.splitlines(keepends=True):
        marker = re.match(r"--- |(?:--- )?(?:file|in): ", line)
        if in_block and not marker:
            block += line
            continue
        yield Part("cpp", block, source)
        block, in_block = "", line.startswith(("--- find", "--- replace"))
        named = re.match(r"(?:--- )?file: (\S+)", line)
        source = named.group(1) if named else source
        dashes = "--- " if line.startswith("--- ") else ""
        yield Part("fixed", dashes, source)
        yield from header_line(line.removeprefix(dashes), source)
    yield Part("cpp", block, source)


def texts_to_find(text):
    """(path of the source, text) of each block `--- find` of a mutant."""
    found, source = [], ""
    pieces = re.split(r"(?m)^(--- find|--- replace|file: .+|in: .+)\n", text)[1:]
    for marker, body in zip(pieces[::2], pieces[1::2]):
        source = marker.removeprefix("file: ") if marker.startswith("file: ") else source
        if marker == "--- find":
            found.append((source, body.removesuffix("\n")))
    return found
