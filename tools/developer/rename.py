"""./dev rename: another name for an identifier, in every file that git tracks; for a header; in programs outside.

    ./dev rename OLD NEW [--member | --field | --name] [--in PATH]... [--declared PATH]...
    ./dev rename --header OLD NEW
    ./dev rename --table FILES...

**Which tokens.** Sources, tests, lab, mutants and C++ blocks of documents are read as tokens (cpp_tokens.py).
- Without a kind, every token OLD changes: declarations, uses, members.
- `--name` excludes tokens behind `.` or `->`.
- `--member` changes tokens behind `.` or `->`. `--field` changes the designators `.x =`, too; it prints calls `.x()` and
  does not change them. The declaration is a free token: `--declared PATH` names the files of the class (header, source; they may be
  several), where every token OLD changes. Free tokens elsewhere are printed: another class may declare the same member.
- OLD may be qualified: `stack_kind::own` changes behind `stack_kind::`, and as a free token in the declared files.
- `std::OLD`, `::OLD` and names of other libraries' namespaces stay. So do #include paths.
- `--in PATH` changes these files alone, and the parts of mutants that change these files.

**Which words.** Comments, strings, documents and lists hold names, too. A word OLD changes there
- if it is no plain English word (it has an underscore, a digit or mixed case),
- or if it is qualified, is followed by `(`, or is in a `code span`.
All other words are printed as places to look at. With a positional kind, words outside of the declared files change only
behind `.`, `->` or the qualifier. Paths of files stay. CMake files change for macros alone, the rest there is printed.

**Names of tests.** They are strings of C++. The line `test:` of a mutant follows the string of its TEST_CASE.

**Mutants.** A block of a mutant follows the rules of the file that it changes, so it still applies, and a line `in:` follows its
function or class. If a block begins behind a `.` of its source or within a comment, it may miss the change, and after a merge
its text may be there twice: such mutants are printed. So are files with OLD that git does not track.

**Python.** A name that some C++ code has is a C++ name: the same identifiers of Python stay and are printed, strings and
comments follow the rule of words (the scripts of gdb name our types in strings). With --python, and if no C++ code has OLD
or NEW, the identifiers of Python change, also in the expressions of f-strings, and C++ stays.

**Collisions.** If code of the files in question has NEW already, nothing changes, unless --merge is set.

**The table.** A name that docs/headers.md lists, or that a public header of ext/ declares, is public: its rename adds a
row to docs/renames.tsv (rename_table.py). So does a member or field with a public header in --declared. `--record KIND` adds
a row for all other cases, `--no-record` none.

**Limits.** There are no types: a member of a common name is renamed behind every object, unless --in excludes the files.
A free use of a member (in a derived class in another file) is not found; the compiler finds it. Two names cannot change
places in one step. Lines become longer or shorter: run `./dev fmt`, then `./dev mutants --check`.
"""
import argparse
import pathlib
import re

from check import doors
from check.tree import Tree

from . import cpp_tokens, parts, python_tokens, rename_header, rename_table, renaming
from .checkout import Checkout
from .mutant_file import Misfit, parse, planted, renamed_place
from .shell import ROOT, Stop

SHOWN = 40


class Plan:
    """What a renaming changes, file by file, before anything is written."""

    def __init__(self, checkout, change, paths=()):
        self.checkout, self.change, self.paths = checkout, change, paths
        self.tests = {}  # names of test cases that change: old, new
        self.results = {}
        for path in sorted(checkout.paths, key=lambda path: parts.kind_of(path) == "mutant"):
            text = checkout.read(path)
            if change.old in text or parts.kind_of(path) == "mutant":
                self.add(path, text)

    def add(self, path, text):
        result, offset = renaming.Result(), 0
        for part in parts.split(path, text):
            result.append(self.in_part(part), offset)
            offset += len(part.text)
        if path.endswith(".cpp") and result.words:
            pairs = zip(cpp_tokens.test_names(text), cpp_tokens.test_names(result.text))
            self.tests.update((old, new) for old, new in pairs if old != new)
        if result.text != text or result.places:
            self.results[path] = result

    def in_part(self, part):
        if part.kind == "test":
            return self.in_name_of_test(part)
        if part.kind == "place":
            return self.in_place(part)
        if not self.covers(part.path):
            return renaming.Result(part.text)
        return renaming.in_part(part, self.change)

    def in_place(self, part):
        """Of a mutant: it follows the name of its function or class, which it may spell without the outer names."""
        if part.path not in self.results or self.change.old not in part.text:
            return renaming.Result(part.text)
        place = renamed_place(part.text, self.checkout.read(part.path), self.new_text(part.path))
        return renaming.Result(place, tokens=int(place != part.text))

    def in_name_of_test(self, part):
        """Of a mutant. The types of a test case that is a template follow its name: `name<type>`."""
        ends = [match.start() for match in re.finditer("<", part.text)] if part.text.endswith(">") else []
        for end in [len(part.text), *ends]:
            if part.text[:end] in self.tests:
                types = renaming.in_cpp(part.text[end:], self.change, part.path)
                return renaming.Result(self.tests[part.text[:end]] + types.text, words=1)
        if self.paths:
            return renaming.Result(part.text)
        return renaming.in_words(part.text, self.change, part.path)

    def covers(self, path):
        return not self.paths or renaming.is_below(path, self.paths)

    def changed(self):
        return [path for path, result in self.results.items() if result.text != self.checkout.read(path)]

    def collisions(self):
        """(path, line) of the code that has the new name already."""
        for path in self.checkout.paths:
            if self.covers(path) and self.change.new in (text := self.checkout.read(path)):
                yield from ((path, cpp_tokens.line_of(text, start)) for start in self.starts_of_new(path, text))

    def starts_of_new(self, path, text):
        inverse = renaming.Renaming(self.change.new, self.change.old, self.change.kind, self.change.qualifier,
                                    self.change.is_python, self.change.declared)
        kind = parts.kind_of(path)
        if kind == "python" and self.change.is_python:
            return sorted(renaming.python_starts(text, inverse, path))
        if kind == "cpp" and not self.change.is_python:
            return [name.start for name in cpp_tokens.names(text, self.change.new) if inverse.takes(name, path)]
        return []

    def new_text(self, path):
        return self.results[path].text if path in self.results else self.checkout.read(path)

    def why_misfit(self, path, text, text_of):
        """Why a mutant of this text cannot be planted in these sources; None: it can."""
        tracked = set(self.checkout.paths)
        try:
            planted(parse(pathlib.Path(path), text), lambda file: text_of(file) if file in tracked else None)
        except (Misfit, Stop) as reason:
            return str(reason)
        return None

    def misfits(self):
        """(path, reason) of the mutants that fitted before, and fit no more."""
        changed = set(self.changed())
        for path in [path for path in self.checkout.paths if path.endswith(".mutant")]:
            old, new = self.checkout.read(path), self.new_text(path)
            sources = {part.path for part in parts.split(path, old)}
            if old == new and not sources & changed or self.why_misfit(path, old, self.checkout.read):
                continue
            if reason := self.why_misfit(path, new, self.new_text):
                yield path, reason

    def write(self):
        for path in self.changed():
            self.checkout.write(path, self.results[path].text)


def is_python_name(checkout, old, new):
    """Whether Python code has the name, and no C++ code has the old or the new one."""
    if any(cpp_tokens.names(checkout.read(path), word) for path in checkout.paths if parts.kind_of(path) == "cpp"
           for word in (old, new)):
        return False
    sources = [checkout.read(path) for path in checkout.paths if parts.kind_of(path) == "python"]
    return any(token.kind == "name" and token.text == old
               for text in sources if old in text for token in python_tokens.tokenise(text))


def public_names(checkout, paths):
    """{spelled name: header} of what these files declare outside of detail, as docs/headers.md spells it."""
    found = {}
    tree = Tree(checkout.root, {path: checkout.read(path) for path in [*paths, doors.PAGE] if path in checkout.paths})
    for path in paths:
        if path.endswith((".hpp", ".h")) and doors.is_public(path) and re.match(r"include/|ext/(?:\w+/)+include/", path):
            found.update((doors.spelled(*key), path) for key in doors.public_names(tree, path))
    for path, (_, listed) in doors.rows(tree).items():
        if path in paths:
            found.update((name, path) for name in listed)
    return found


def rows_of(plan, options):
    """The rows of docs/renames.tsv that this renaming adds."""
    change = plan.change
    if options.no_record or change.is_python:
        return []
    if options.record:
        return [rename_table.Row(options.old, spelled(options.old, change.new), options.record, options.remark)]
    if change.kind in ("member", "field"):
        public = [path for path in change.declared if re.match(r"(?:include|ext/\w+/include)/", path) and doors.is_public(path)]
        return [rename_table.Row(change.old, change.new, change.kind, options.remark or public[0])] if public else []
    suffix = [*change.qualifier, change.old]
    return [rename_table.Row(name, spelled(name, change.new), "name", options.remark or path)
            for name, path in sorted(public_names(plan.checkout, plan.changed()).items())
            if name.split("::")[-len(suffix):] == suffix]


def spelled(old, new):
    """The new name with the qualifiers of the old one."""
    return "::".join([*old.split("::")[:-1], new.split("::")[-1]])


def report(plan, verbose):
    change, changed = plan.change, plan.changed()
    tokens, words = (sum(getattr(plan.results[path], key) for path in changed) for key in ("tokens", "words"))
    print(f"{change.old} -> {change.new}: {tokens} identifiers and {words} words of text in {len(changed)} files")
    for path in changed:
        print(f"  {path}: {plan.results[path].tokens} + {plan.results[path].words}")
    places = [(path, offset) for path, result in plan.results.items() for offset in result.places]
    if places:
        print(f"not changed, look at them ({len(places)}):")
    for path, offset in places if verbose else places[:SHOWN]:
        text = plan.checkout.read(path)
        line = cpp_tokens.line_of(text, offset)
        print(f"  {path}:{line}: {text.splitlines()[line - 1].strip()[:100]}")
    if len(places) > SHOWN and not verbose:
        print(f"  ... and {len(places) - SHOWN} more: --verbose")
    for path, reason in plan.misfits():
        print(f"{path}: does not fit any more: {reason}")
    for path in plan.checkout.untracked_with(change.old):
        print(f"{path}: git does not track it: not changed, look at it")
    if files := [path for path in plan.checkout.paths if re.search(rf"/{change.old}(_test)?\.\w+$", path)]:
        print("files of this name (./dev rename --header):", " ".join(files))


def rename(options, root=ROOT):
    checkout = Checkout(root)
    old = options.old.split("::")[-1]
    change = renaming.make(options.old, options.new, kind=options.kind, declared=tuple(options.declared),
                           is_python=options.python or is_python_name(checkout, old, options.new.split("::")[-1]))
    for path in [*options.paths, *options.declared]:
        if not (root / path).exists():
            raise Stop(f"{path} does not exist")
    plan = Plan(checkout, change, tuple(options.paths))
    if not plan.changed():
        raise Stop(f"nothing to rename: no code has `{options.old}` there")
    collisions = [f"  {path}:{line}" for path, line in plan.collisions()]
    if collisions and not options.merge:
        shown = "\n".join(collisions[:SHOWN])
        raise Stop(f"{len(collisions)} places have `{change.new}` already; --merge renames nevertheless:\n{shown}")
    if dirty := checkout.changed_files():
        print(f"{dirty} files already differ from the last commit")
    rows = rows_of(plan, options)
    report(plan, options.verbose)
    for row in rows:
        print(f"{rename_table.PATH}: {' '.join(row)}")
    if not options.dry_run:
        plan.write()
        for row in rows:
            rename_table.append(root, row)
    return 0


def parser(command=argparse.ArgumentParser):
    p = command(prog="./dev rename", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("words", nargs="+", metavar="OLD NEW | FILES")
    p.add_argument("--header", action="store_true", help="OLD and NEW are paths: moves the file, changes its #include lines")
    p.add_argument("--table", action="store_true", help="applies docs/renames.tsv to C++ programs: files and folders")
    kinds = p.add_mutually_exclusive_group()
    for kind in renaming.KINDS[1:]:
        kinds.add_argument(f"--{kind}", dest="kind", action="store_const", const=kind, default="any")
    p.add_argument("--in", dest="paths", action="append", default=[], metavar="PATH", help="these files and folders alone")
    p.add_argument("--declared", action="append", default=[], metavar="PATH", help="files of the declaration")
    p.add_argument("--python", action="store_true", help="the name is one of Python code")
    p.add_argument("--merge", action="store_true", help="also if the new name exists already")
    p.add_argument("--record", choices=rename_table.KINDS[:3], metavar="KIND", help="adds a row to docs/renames.tsv")
    p.add_argument("--no-record", action="store_true", help="adds no row")
    p.add_argument("--remark", default="", help="of the row")
    p.add_argument("--common", action="store_true", help="with --table: also members that the standard library has, too")
    p.add_argument("--dry-run", action="store_true", help="prints the counts for each file, changes nothing")
    p.add_argument("--verbose", action="store_true", help="prints every place")
    return p


def main(arguments, root=ROOT):
    options = parser().parse_args(arguments)
    if options.table:
        rows = rename_table.read(root / rename_table.PATH)
        rename_table.apply(rows, options.words, options.dry_run, options.common)
        return 0
    if len(options.words) != 2:
        raise Stop("expected OLD and NEW")
    options.old, options.new = options.words
    return rename_header.rename(options, root) if options.header else rename(options, root)
