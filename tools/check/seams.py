"""Seams: each layer has three circles of headers.

`<layer>/` is for users, `<layer>/seam/` for other layers and our extensions, `<layer>/detail/` for its layer alone. A part of
core counts as a layer here, and so does each extension, with what lies below its folder. The extensions outside of the tree
(tests/install/outside) are one more. <hocket/primitive.hpp> is of core/wait, and a user of what it includes.

- An include into the detail of another layer is an error, in include, src and ext without tests; in the lab and in examples
  each include of a detail is one.
- A seam header that no other layer includes is an error, and so is a name in it that no other layer uses. A name counts as
  used if the declaration of a used name has it: a parameter, a base, a public member. tools/check/seam_names.txt has the
  exceptions, each with a reason.
- At most MOST_HEADERS seam headers serve other layers. The headers of base are not counted, because base
  serves all layers, nor are headers of core that only other parts of core include.
- docs/seams.md has a row for each seam header: its names, its users, the rule for its use.
"""
import collections
import pathlib
import re

from . import doors, layers, outline
from .tree import Finding, table

FAST = True
OUTSIDE = "tests/install/outside/"
PAGE, EXCEPTIONS = "docs/seams.md", "tools/check/seam_names.txt"
MOST_HEADERS, MOST_USERS, FREE = 50, 6, "base"
CIRCLE = re.compile(r"(?:^include/|^ext/.*/include/)hocket/(?:.+/)?(?P<circle>detail|seam)/")
MACRO = re.compile(r"#\s*define (\w+)")
DEFAULT = re.compile(r"#\s*ifndef (\w+)\n\s*#\s*define \1\b")
ROW = re.compile(r"^\| `([^`]+)` \|([^|]*)\|([^|]*)\|([^|]*)\|$")
WORD = re.compile(r"\w+")
INCLUDE = re.compile(r"^\s*#\s*include\b.*$", re.M)


def circle_of(path):
    """`detail`, `seam`, or None for all other files."""
    match = CIRCLE.match(path)
    return match.group("circle") if match else None


def owner_of(path, lattice):
    """The layer, part of a layer or extension of a file; `outside` for extensions outside of the tree, `umbrella` for the headers of include/hocket."""
    if path.startswith(OUTSIDE):
        return "outside"
    if path.startswith("ext/"):
        return "/".join(path.split("/")[:2])
    return layers.part_of(path, lattice) if layers.layer_of(path) else "umbrella"


def sources(tree):
    """The files that the rule is about: without tests and examples, but with the extensions outside of the tree."""
    inside = [path for path in tree.paths("include", "src", "ext") if not re.search(r"/(?:tests|examples)/", path)]
    return inside + [path for path in tree.paths("tests") if path.startswith(OUTSIDE)]


def layer_part(owner):
    """The layer of a part; an extension is one."""
    return owner if owner.startswith("ext/") else owner.partition("/")[0]


class Seams:
    """The users of each seam header, and the words of each layer."""

    def __init__(self, tree):
        self.tree, self.lattice = tree, layers.read(tree)
        self.owners = {path: owner_of(path, self.lattice) for path in sources(tree)}
        self.headers = [path for path in self.owners if circle_of(path) == "seam"]
        self.users = collections.defaultdict(set)  # of a seam header: the other layers, parts and extensions
        self.words = collections.defaultdict(set)
        for path, owner in self.owners.items():
            self.words[owner].update(WORD.findall(INCLUDE.sub("", tree.code(path))))
            for _, name in tree.includes(path):
                target = tree.resolve(path, name)
                if target in self.owners and self.owners[target] != owner:
                    self.users[target].add(owner)
        for header in layers.INTERFACES:
            for _, name in tree.includes(header) if header in tree.texts else []:
                self.users[tree.resolve(header, name)].add(header)

    def outside(self, header):
        """The words of all other layers, parts and extensions."""
        return set().union(*(words for owner, words in self.words.items() if owner != self.owners[header]))

    def is_counted(self, header):
        own = layer_part(self.owners[header])
        others = {user for user in self.users[header] if user not in layers.INTERFACES and layer_part(user) != own}
        return own != FREE and bool(others)


def is_wrong(target, owner, owners, lattice):
    return circle_of(target) == "detail" and owners.get(target, owner_of(target, lattice)) != owner


def check_details(tree, seams):
    for path, owner in seams.owners.items():
        for line, name in tree.includes(path):
            target = tree.resolve(path, name)
            if target and is_wrong(target, owner, seams.owners, seams.lattice):
                other = seams.owners[target]
                yield Finding(path, line, f"{owner} includes a detail of {other}: {name}. Move what {owner} needs to the seam of {other}")
    for path in [path for path in tree.paths("lab", "examples", "ext") if not path.startswith("ext/") or "/examples/" in path]:
        for line, name in tree.includes(path):
            if circle_of(tree.resolve(path, name) or f"include/{name}") == "detail":
                yield Finding(path, line, f"{name} is a detail: the lab and the examples include public headers and seams alone")


def declared(tree, path):
    """{name: line} of the namespaces of hocket and of macros; a macro with a default is the build's."""
    code, names = tree.code(path), {}
    defaults = set(DEFAULT.findall(code))
    for number, line, stack in doors.in_namespaces(code):
        macro = MACRO.match(line)
        found = macro.groups() if macro and macro.group(1) not in defaults else doors.name_in(line)
        if found and (macro or stack and not doors.FORWARD.match(line)):
            names.setdefault(found[0], number)
    return names


def interfaces(tree, path):
    """{name: words of what a user of the name sees}: the heads of its declarations and of its public members."""
    seen = collections.defaultdict(set)
    for item in outline.declarations(tree.code(path)):
        if item.public:
            kind, function = outline.type_of(item), outline.function_of(item)
            names = {*item.scopes, *([kind[1]] if kind else []), *([function[1]] if function else [])}
            found = doors.name_in(outline.bare(item.head) + ";")
            for name in names | ({found[0]} if found else set()):
                seen[name].update(WORD.findall(item.head))
    return seen


def public_names(tree):
    """The names that docs/headers.md lists, without their namespaces: programs use them."""
    return {name.rpartition("::")[2] for _, names in doors.rows(tree).values() for name in names}


def used_names(tree, header, outside):
    """The names of a seam header that other layers use, themselves or by the declaration of another name."""
    names, seen = declared(tree, header), interfaces(tree, header)
    used, pending = set(), [name for name in names if name in outside]
    while pending:
        name = pending.pop()
        if name not in used:
            used.add(name)
            pending += [other for other in names if other in seen[name]]
    return used


def check_names(tree, seams):
    exceptions = {(header, name): number for number, header, name, _ in table(tree, EXCEPTIONS, 3)}
    for number, header, name, reason in table(tree, EXCEPTIONS, 3):
        if not reason:
            yield Finding(EXCEPTIONS, number, f"{name}: no reason")
    needed, public = set(), public_names(tree)
    for header in seams.headers:
        names = declared(tree, header)
        for name in sorted(set(names) - used_names(tree, header, seams.outside(header) | public)):
            needed.add((header, name))
            if (header, name) not in exceptions:
                yield Finding(header, names[name], f"no other layer than {seams.owners[header]} uses {name}: move it to detail")
    for key in exceptions.keys() - needed:
        yield Finding(EXCEPTIONS, exceptions[key], f"{key[1]} of {key[0]} needs no exception: take the line out")


def check_headers(seams):
    for header in seams.headers:
        if not seams.users[header]:
            yield Finding(header, 1, f"no other layer than {seams.owners[header]} includes this seam header: move it to detail")
    counted = [header for header in seams.headers if seams.is_counted(header)]
    if len(counted) > MOST_HEADERS:
        yield Finding(PAGE, 0, f"{len(counted)} seam headers serve other layers, at most {MOST_HEADERS}: join some, or lift what "
                               "is needed into others")


def names_of(tree, header):
    """The names of a header; of a header without names, the names of the detail headers that it includes."""
    names = set(declared(tree, header))
    if not names:
        targets = [tree.resolve(header, name) for _, name in tree.includes(header)]
        names.update(*(declared(tree, target) for target in targets if target and circle_of(target) == "detail"))
    return names


def row_of(tree, seams, header, rule):
    """The row of a header in the page."""
    names = " ".join(f"`{name}`" for name in sorted(names_of(tree, header)))
    return f"| `{header.partition('include/hocket/')[2]}` | {names} | {users_of(seams, header)} | {rule} |"


def users_of(seams, header):
    """The other layers and the other parts of its own layer that include a header."""
    own = layer_part(seams.owners[header])
    users = {pathlib.PurePosixPath(user).name if user in layers.INTERFACES else user if layer_part(user) == own else layer_part(user)
             for user in seams.users[header]}
    return ", ".join(sorted(users)) if len(users) <= MOST_USERS else "most layers"


def rows_of(tree):
    """{path of a header: (line, rule, text)} of the page."""
    lines = enumerate(tree.lines(PAGE) if PAGE in tree.texts else [], 1)
    rows = [(number, line, match) for number, line in lines if (match := ROW.match(line))]
    return {doors.file_of(tree, match.group(1)): (number, match.group(4).strip(), line) for number, line, match in rows}


def check_page(tree, seams):
    rows = rows_of(tree)
    for header in seams.headers:
        if header not in rows:
            yield Finding(header, 1, f"no row in {PAGE}")
    for header, (number, rule, line) in rows.items():
        if header not in seams.headers:
            yield Finding(PAGE, number, f"{header} is no seam header: take the row out")
        elif not rule:
            yield Finding(PAGE, number, f"{header}: say the rule for its use")
        elif line != row_of(tree, seams, header, rule):
            yield Finding(PAGE, number, f"the tree says {row_of(tree, seams, header, rule)} (PYTHONPATH=tools python3 -m check.seams)")


def write_page(tree):
    """Writes the names and the users of each row anew, which a merge may need. Rows come and go by hand."""
    seams, lines = Seams(tree), tree.lines(PAGE)
    for header, (number, rule, _) in rows_of(tree).items():
        if header in seams.headers:
            lines[number - 1] = row_of(tree, seams, header, rule)
    (tree.root / PAGE).write_text("\n".join(lines) + "\n")


def check(tree):
    seams = Seams(tree)
    return [*check_details(tree, seams), *check_headers(seams), *check_names(tree, seams), *check_page(tree, seams)]


if __name__ == "__main__":
    from . import runner  # not above: runner imports the rules, which import this module
    write_page(runner.Tree.checkout(runner.ROOT))
