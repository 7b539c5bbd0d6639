"""docs/renames.tsv: each public name and header that has changed; and the same changes in programs outside of the tree.

The columns are old, new, kind and remark. Rows are applied in their order, so `a -> b` and a later `b -> c` give `c`.

| kind | which tokens of a program |
|---|---|
| name | an identifier that is no member access and that can mean the name of namespace hocket: see below |
| member | after `.` or `->`; no designator |
| awaited | the same, in the operand of `co_await`, `await(` or `sync_wait(`: of a member that another type has, too, and that blocks there |
| field | the designator `.x =` of an initialiser, and after `.` or `->` where no call follows |
| include | the path of an #include line |

A name is written without `hocket::` (`tcp::connect`, `stack_kind::own`). It is renamed
- behind `hocket::`, a namespace alias of it, or the alias of a namespace within it;
- behind nothing, or a part of its qualifiers, if one of the files has the using-directive, the using-declaration or a base
  class that makes this spelling mean it, or opens the namespace.

Comments and strings stay. A program that uses one of these words for a member of its own, too, gets a warning with the
place. The tool knows no types: if the standard library has a member of the same name (`size`, `join`), then the use stays
and is printed, unless --common is set. If a later row gives an old name of an earlier row a new meaning, then the table may be applied once only.
"""
import collections
import pathlib
import re

from . import cpp_tokens
from .shell import Stop

Row = collections.namedtuple("Row", "old new kind remark")

PATH = "docs/renames.tsv"
HEAD = "\t".join(Row._fields) + "\n"
KINDS = ("name", "member", "field", "include", "awaited")
COMMON = frozenset("""address append assign at back begin c_str cancel capacity clear close code compare contains count data
detach done emplace emplace_back empty end erase error exchange expired extract fill find first flush front get
get_token good has_value hash id ignore insert join joinable length load lock max merge message min name native_handle
notify_all notify_one open owns_lock pop pop_back pop_front promise push push_back push_front put read ready
release remove replace request_stop reserve reset resize resume second seekg shrink_to_fit size splice start stop
stop_possible stop_requested store str substr swap test token try_lock unlock use_count valid value value_or view wait
wait_for wait_until what write""".split())
USING_NAMESPACE = re.compile(r"\busing\s+namespace\s+(?:::\s*)?([\w:]+)\s*;")
USING = re.compile(r"\busing\s+(?:::\s*)?([\w:]+)::(\w+)\s*;")
ALIAS = re.compile(r"\bnamespace\s+(\w+)\s*=\s*(?:::\s*)?([\w:]+)\s*;")
OPENED = re.compile(r"\bnamespace\s+([\w:]+)\s*\{")
STATEMENTS = frozenset("case class co_await co_return co_yield delete else enum goto namespace new return struct throw".split())
BASE = re.compile(r"(?::|,|\bpublic|\bprivate|\bprotected|\bvirtual)\s+(?:::\s*)?([\w:]+)::(\w+)(?=[\s<,{])")


def read(path):
    lines = path.read_text().splitlines()
    if not lines or lines[0] + "\n" != HEAD:
        raise Stop(f"{path}: the first line must be {HEAD!r}")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        cells = line.split("\t")
        if len(cells) != len(Row._fields) or cells[2] not in KINDS:
            raise Stop(f"{path}:{number}: expected old, new, kind and remark with tabs between them; "
                       f"a kind is one of {', '.join(KINDS)}")
        rows.append(Row(*cells))
    return rows


def append(root, row):
    path = root / PATH
    if not path.exists():
        path.parent.mkdir(exist_ok=True)
        path.write_text(HEAD)
    if row not in read(path)[-1:]:
        with path.open("a") as file:
            file.write("\t".join(row) + "\n")


class Spellings:
    """What the programs' using-directives, aliases and base classes make of names without `hocket::`."""

    def __init__(self, texts):
        code = ["".join(blank(token) for token in with_spaces(text)) for text in texts]
        self.aliases = {"hocket": ("hocket",)}
        for path in [match for text in code for match in ALIAS.findall(text)]:
            self.aliases[path[0]] = self.expand(path[1].split("::"))
        self.opened = {self.expand(path.split("::")) for text in code
                       for path in [*USING_NAMESPACE.findall(text), *OPENED.findall(text)]}
        self.used = {(*self.expand(path.split("::")), name) for text in code
                     for path, name in [*USING.findall(text), *BASE.findall(text)]}

    def expand(self, path):
        return (*self.aliases.get(path[0], path[:1]), *path[1:])

    def means(self, chain, row_path):
        """Whether `chain` of an identifier can spell the name; row_path: with hocket in front."""
        if not chain:
            return row_path[:-1] in self.opened or row_path in self.used
        if chain[0] == "":  # the global namespace
            return (*chain[1:], row_path[-1]) == row_path
        path = (*self.expand(chain), row_path[-1])
        if path == row_path:
            return True
        missing = row_path[:len(row_path) - len(path)]
        return row_path[len(missing):] == path and (missing in self.opened or (*missing, path[0]) in self.used)


def with_spaces(text):
    """The tokens of the code, with a space for what lies between two of them."""
    last = 0
    for token in cpp_tokens.in_code(cpp_tokens.tokenise(text)):
        if token.start > last:
            yield cpp_tokens.Token("space", " ", last)
        yield token
        last = token.start + len(token.text)


def blank(token):
    return '""' if token.kind in cpp_tokens.TEXTS else token.text


def starts_of(row, text, spellings, common):
    """(starts that change, starts to look at) of one row in one text."""
    word = row.old.split("::")[-1]
    found = cpp_tokens.names(text, word)
    if row.kind == "name":
        path = ("hocket", *row.old.split("::"))
        return [name for name in found if not name.access and spellings.means(name.chain, path)], []
    if row.kind == "awaited":
        operand = re.compile(rf"(?:\bco_await\s+|\b(?:await|sync_wait)\s*\(\s*)(?:\w+(?:\(\))?\s*(?:\.|->)\s*)+{word}(?=\s*\()")
        ends = {match.end() - len(word) for match in operand.finditer(text)}
        return [name for name in found if name.access and name.start in ends], []
    is_field = row.kind == "field"
    accesses = [name for name in found if name.access and not name.designator and not (is_field and name.is_called)]
    designators = [name for name in found if name.designator and is_field]
    if word in COMMON and not common:
        return designators, accesses
    return accesses + designators, []


def replaced_name(row, text, name):
    """(start, end, new text) of a name. New qualifiers replace the old ones, as far as the program spells them."""
    old, new = row.old.split("::"), row.new.split("::")
    end = name.start + len(name.text)
    if old[:-1] == new[:-1]:
        return name.start, end, new[-1]
    root = "".join(f"{part}::" for part in name.chain[:name.chain.index("hocket") + 1]) if "hocket" in name.chain else ""
    return name.chain_start, end, root + row.new


def apply_row(row, text, spellings, common):
    """(new text, number of changes, offsets to look at)"""
    if row.kind == "include":
        pattern = rf'(?m)^([ \t]*#[ \t]*include[ \t]*[<"]){re.escape(row.old)}(?=[>"])'
        changed, number = re.subn(pattern, lambda match: match.group(1) + row.new, text)
        return changed, number, []
    changes, doubtful = starts_of(row, text, spellings, common)
    for name in sorted(changes, reverse=True, key=lambda name: name.start):
        start, end, new = replaced_name(row, text, name)
        text = text[:start] + new + text[end:]
    return text, len(changes), [name.start for name in doubtful]


def line_of_own(row, text):
    """Where a program seems to declare a member or variable of the old name; 0: nowhere. Its uses may have changed."""
    for name in cpp_tokens.names(text, row.old.split("::")[-1]):
        follower = text[name.start + len(name.text):].lstrip()[:1]
        has_type = re.match(r"[A-Za-z_]|[>&*]", name.before) and name.before not in STATEMENTS
        if has_type and not name.access and not name.chain and follower in tuple(";={"):
            return cpp_tokens.line_of(text, name.start)
    return 0


def programs(files):
    """The C++ files among paths of files and folders."""
    for path in map(pathlib.Path, files):
        if not path.exists():
            raise Stop(f"{path} does not exist")
        found = sorted(path.rglob("*")) if path.is_dir() else [path]
        yield from (file for file in found if file.is_file() and (file == path or file.name.endswith(cpp_tokens.ENDINGS)))


def apply(rows, files, dry_run=False, common=False):
    """Changes the programs; prints a line for each file and each place to look at. Returns how many files changed."""
    texts = {file: file.read_bytes().decode(errors="surrogateescape") for file in programs(files)}
    originals = dict(texts)
    counts = collections.Counter()
    for row in rows:
        word = row.old.split("::")[-1]
        affected = {file: text for file, text in texts.items() if word in text}
        spellings = Spellings(texts.values()) if affected and row.kind == "name" else None
        for file, text in affected.items():
            if row.kind in ("member", "field") and (line := line_of_own(row, text)):
                print(f"{file}:{line}: declares `{row.old}` itself: look at its uses ({row.kind} {row.old} -> {row.new})")
            texts[file], number, doubtful = apply_row(row, text, spellings, common)
            counts[file] += number
            for offset in doubtful:
                print(f"{file}:{cpp_tokens.line_of(text, offset)}: if this is hocket's `{row.old}`, it is `{row.new}` now")
    for file in [file for file in texts if texts[file] != originals[file]]:
        print(f"{file}: {counts[file]}")
        if not dry_run:
            file.write_bytes(texts[file].encode(errors="surrogateescape"))
    return sum(texts[file] != originals[file] for file in texts)
