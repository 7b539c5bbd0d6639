"""Doors: docs/headers.md lists the public headers and the public names, of the library and of its extensions.

A header outside of the folders `seam` and `detail` is public, and so is a name in namespace hocket outside of the namespaces
`detail`. Each public name has a comment, or the opening comment of its header names it. The number of the library's
public headers is limited. The names of hocket::primitive are the protocol for authors of primitives: at most ten types.
"""
import re

from .tree import Finding

FAST = True
PAGE = "docs/headers.md"
# 19 headers are HTTP's: the umbrella, base/metrics.hpp, and 17 of one noun each, which a service includes by itself.
MOST_HEADERS, MOST_TYPES_FOR_AUTHORS = 145, 10
OPEN = re.compile(r"(?:inline )?namespace ([\w:]*) ?\{ ?")
LIBRARY = "hocket::HOCKET_ABI"
TYPE = re.compile(r"(?:class|struct|union|enum(?: class| struct)?)(?: alignas\([^)]*\)| \[\[.*?\]\](?= ))* (\w+)")
NAMED = re.compile(r"(?:using (\w+) =|concept (\w+) =|(?:inline )?constexpr (?:[\w:]+ )*?(\w+)(?: =|\{|;|<)|extern .*?(\w+);)")
FUNCTION = re.compile(r"^(?!namespace|static_assert|template class|using|extern template)[^=(]*?\b(?<!::)(?<!~)(\w+)\(")
FORWARD = re.compile(r"(?:class|struct|enum class) \w+(?: : [\w:]+)?;")
ROW = re.compile(r"^\| `([^`]+)` \|([^|]*)\|")


def in_namespaces(code):
    """(number, line, names of the namespaces around it) of each line that begins outside of all other braces."""
    stack, depth = [], 0  # of namespaces: (name, depth outside of it)
    for number, line in enumerate(code.splitlines(), 1):
        opened = OPEN.match(line)
        if not opened and depth == len(stack):
            yield number, line, [name for name, _ in stack]
        while opened:
            stack.append((opened.group(1), depth))
            depth += 1
            line = line[opened.end():]
            opened = OPEN.match(line)
        depth += line.count("{") - line.count("}")
        while stack and depth <= stack[-1][1]:
            stack.pop()


def space_of(stack):
    """The namespace below the library's own, "" for its top; None elsewhere."""
    path = "::".join(stack)
    if not path.startswith(LIBRARY):
        return None
    return path.removeprefix(LIBRARY).removeprefix("::")


def name_in(line):
    """(name, whether it is a type) of what a line in column 0 declares, or None."""
    line = re.sub(r"^(?:\[\[.*?\]\] )+", "", re.sub(r"^friend ", "", line))
    if not line or line[0] in " }#/" or line.startswith(("template <", "requires", "public:", "private:", "static_assert")):
        return None
    found = TYPE.match(line)
    if found:
        return found.group(1), True
    found = NAMED.match(line)
    if found:
        return next(group for group in found.groups() if group), line.startswith("using")
    found = FUNCTION.match(line)
    if found and "operator" not in line and not line.startswith(found.group(1)):
        return found.group(1), False
    return None


def public_names(tree, path):
    """{(namespace, name): (line, whether it is a type)} of what the header declares outside of detail."""
    names = {}
    for number, line, stack in in_namespaces(tree.code(path)):
        space = space_of(stack)
        if space is not None and not re.search(r"\bdetail\b", space) and not FORWARD.match(line):
            found = name_in(line)
            if found:
                names.setdefault((space, found[0]), (number, found[1]))
    return names


def documented(tree, path, name, line):
    """Whether a comment stands above the declaration, or the essay names it."""
    lines = tree.lines(path)
    essay = tree.texts[path].partition("#pragma once")[0]
    if re.search(rf"\b(?:{name}|{name.removeprefix('basic_')})\b", essay):
        return True
    above = line - 2
    while above >= 0 and (lines[above].startswith(("template <", "[[")) or lines[above].startswith("  requires")):
        above -= 1
    while above >= 0 and lines[above] and not lines[above].startswith(("//", "}", "namespace", "#")):
        above -= 1  # one comment for several declarations without an empty line between them
    return above >= 0 and lines[above].startswith("//")


def spelled(space, name):
    return f"{space}::{name}" if space else name


def file_of(tree, header):
    """The file that <hocket/HEADER> includes, in the library or in an extension; the library's path if there is none."""
    files = [f"{root}hocket/{header}" for root in ("include/", *tree.extension_roots)]
    return next((file for file in files if file in tree.texts), files[0])


def rows(tree):
    """{path of a header: (line, names)} of the page."""
    found = {}
    for number, line in enumerate(tree.lines(PAGE) if PAGE in tree.texts else [], 1):
        row = ROW.match(line)
        if row:
            found[file_of(tree, row.group(1))] = number, set(re.findall(r"`([^`]+)`", row.group(2)))
    return found


def is_public(path):
    return not {"detail", "seam"}.intersection(path.split("/"))


def declared_by(tree, path):
    """{name: (line, whether it is a type)} of a header, with the namespace below hocket."""
    return {spelled(*key): value for key, value in public_names(tree, path).items()}


def check_header(tree, path, listed, everywhere):
    number, names = listed.get(path, (0, set()))
    if not number:
        yield Finding(path, 1, f"no row in {PAGE}: list it there, or move it to a folder seam or detail")
    for name in sorted(set(declared_by(tree, path)) - names):
        yield Finding(path, declared_by(tree, path)[name][0],
                      f"{name} is public and not in the row of {PAGE}: list it there, or move it to hocket::detail")
    for name in sorted(names - everywhere):
        yield Finding(PAGE, number, f"{name} does not exist")


def headers(tree):
    return [*tree.public_headers(), *tree.extension_headers()]


def check_names(tree, listed):
    """In detail headers, too: a public name may be defined there, but a row of a public header must list it."""
    offered = set().union(*(names for _, names in listed.values())) if listed else set()
    for path in headers(tree):
        for (space, name), (line, _) in public_names(tree, path).items():
            if spelled(space, name) not in offered and not is_public(path):
                yield Finding(path, line, f"{spelled(space, name)} is public and no row of {PAGE} has it: list it, or move it "
                                          "to hocket::detail")
            if not documented(tree, path, name, line):
                yield Finding(path, line, f"{spelled(space, name)} is public and has no comment")


def types_for_authors(tree):
    return {name for path in tree.public_headers()
            for (space, name), (_, is_type) in public_names(tree, path).items() if space == "primitive" and is_type}


def check(tree):
    listed = rows(tree)
    everywhere = {name for path in headers(tree) for name in declared_by(tree, path)}
    findings = [finding for path in filter(is_public, headers(tree))
                for finding in check_header(tree, path, listed, everywhere)]
    findings += [Finding(PAGE, number, f"{path} does not exist") for path, (number, _) in listed.items()
                 if path not in tree.texts]
    findings += check_names(tree, listed)
    count = sum(map(is_public, tree.public_headers()))
    if count > MOST_HEADERS:
        findings.append(Finding(PAGE, 0, f"{count} public headers, at most {MOST_HEADERS}: move some to detail"))
    if len(types_for_authors(tree)) > MOST_TYPES_FOR_AUTHORS:
        findings.append(Finding(PAGE, 0, f"hocket::primitive has {len(types_for_authors(tree))} types, at most "
                                         f"{MOST_TYPES_FOR_AUTHORS}"))
    return findings
