"""Namespaces: hocket's own are opened and closed in one spelling, which Universal Ctags reads and a search finds.

    namespace hocket { inline namespace HOCKET_ABI { namespace detail {
    ...
    }}}  // namespace hocket::detail

The braces of such a line close together, in column 0, and the comment names the namespaces without the inline and the
anonymous ones. The innermost may close before, each by a brace of its own: clang-format puts namespaces that open in a row
on one line.
"""
import re

from .tree import Finding

FAST = True
OPENING = re.compile(r"^namespace hocket \{ inline namespace HOCKET_(?:HOST_)?ABI \{((?: namespace (?:[\w:]+ )?\{)*)$")
OTHERWISE = re.compile(r"(?<!using )\bnamespace (?:hocket\b(?!\s*[=;])[^\n]*|[\w: ]*\binline\b)|\binline\s+namespace\b")


def check_openings(tree, path):
    code = tree.code(path)
    for match in OTHERWISE.finditer(code):
        start = code.rfind("\n", 0, match.start()) + 1
        end = code.find("\n", start)
        if not OPENING.match(code[start:end if end >= 0 else None].rstrip()):
            yield Finding(path, tree.line_of(path, start), "open it by `namespace hocket { inline namespace HOCKET_ABI {`, "
                                                           "on one line")


def closing(names):
    """The line that closes what an opening line opened, of which `names` are the namespaces below the library's."""
    return "}" * (len(names) + 2) + "  // namespace " + "::".join(["hocket", *filter(None, names)])


def check_closings(tree, path):
    names, depth, opened, lines = None, 0, 0, tree.lines(path)
    for number, line in enumerate(tree.code(path).splitlines(), 1):
        opening = OPENING.match(line.rstrip()) if names is None else None
        if opening:
            names, depth, opened = re.findall(r"namespace ([\w:]*)", opening.group(1)), 0, number
        elif names is not None:
            depth += line.count("{") - line.count("}")
            if depth == -1 and names and lines[number - 1] == f"}}  // namespace {names[-1]}".rstrip():
                names, depth = names[:-1], 0
            elif depth < 0:
                if lines[number - 1] != closing(names) or depth != -len(names) - 2:
                    yield Finding(path, number, f"close it by `{closing(names)}`")
                names = None
    if names is not None:
        yield Finding(path, opened, f"it is not closed: close it by `{closing(names)}`")


def check(tree):
    findings = []
    for path in tree.paths():
        if re.search(r"namespace hocket\b|inline", tree.texts[path]) and not path.endswith(".S"):
            findings += [*check_openings(tree, path), *check_closings(tree, path)]
    return findings
