"""./dev rename --header OLD NEW: moves a file with `git mv`, and changes what names it.

OLD and NEW are paths in the tree, or paths of #include lines (`hocket/io/file.hpp`). Three kinds of text change:
- #include lines that mean the file: beside the including file, or below include/, src/, tests/ and ext/*/include/;
- paths in documents, comments, strings, mutants and lists, if they have a folder and mean this file alone;
- in CMake files, paths below their own folder.
A bare file name elsewhere, and the noun in a list of CMake, are printed. A test or source of the same noun is a file of its
own: move it by another command. A public header adds a row `include` to docs/renames.tsv.
"""
import os.path
import posixpath
import re

from check import doors

from . import cpp_tokens, parts, rename_table
from .checkout import Checkout
from .shell import Stop

ROOTS = re.compile(r"(?:(?:ext/\w+/)?include|src|tests)/")
INCLUDE = re.compile(r'(?m)^([ \t]*#[ \t]*include[ \t]*[<"])([^>"\n]+)(?=[>"])')
PATH = re.compile(r"(?<![\w./-])[\w.-]+(?:/[\w.-]+)*\.\w+")


class Move:
    def __init__(self, checkout, old, new):
        self.checkout = checkout
        self.paths = set(checkout.paths)
        self.old = next((path for path in (old, "include/" + old) if path in self.paths), None)
        if not self.old:
            raise Stop(f"git tracks no file {old}")
        self.new = "include/" + new if self.old == "include/" + old else new
        if (checkout.root / self.new).exists():
            raise Stop(f"{self.new} exists already")

    def include_line(self, path, name):
        """The new path of an #include in the file `path`; None: it means another file."""
        beside = posixpath.normpath(posixpath.join(posixpath.dirname(path), name))
        if beside == self.old:
            return os.path.relpath(self.new, posixpath.dirname(self.new if path == self.old else path) or ".")
        if path == self.old and beside in self.paths and posixpath.dirname(self.new) != posixpath.dirname(path):
            return os.path.relpath(beside, posixpath.dirname(self.new) or ".")
        if beside in self.paths or not self.old.endswith("/" + name):
            return None
        folder = self.old[:-len(name)]
        if not ROOTS.fullmatch(folder):
            return None
        if self.new.startswith(folder):
            return self.new[len(folder):]
        return self.new[ROOTS.match(self.new).end():] if ROOTS.match(self.new) else None

    def word(self, path, name):
        """The new form of a path in a text; None: it means another file, or nothing."""
        in_folder = posixpath.dirname(path)
        if parts.kind_of(path) == "build" and posixpath.join(in_folder, name) == self.old:
            return os.path.relpath(self.new, in_folder or ".")
        if "/" not in name or not (self.old == name or self.old.endswith("/" + name)):
            return None
        if sum(other.endswith("/" + name) for other in self.paths) > 1:
            return None
        folder = self.old[:len(self.old) - len(name)]
        return self.new[len(folder):] if self.new.startswith(folder) else self.new

    def change(self, path, text):
        """(text, number of changes)"""
        counts = [0]

        def put(match, prefix, name, new):
            counts[0] += new is not None
            return match.group() if new is None else prefix + new

        text = INCLUDE.sub(lambda match: put(match, match.group(1), "", self.include_line(path, match.group(2))), text)
        text = PATH.sub(lambda match: put(match, "", match.group(), self.word(path, match.group())), text)
        return text, counts[0]

    def places(self, path, text):
        """Lines that name the file without a folder, or its noun in a list of CMake."""
        words = [re.escape(posixpath.basename(self.old))]
        if path.endswith((".cmake", "CMakeLists.txt")):
            words.append(re.escape(posixpath.basename(self.old).split(".")[0]) + r"(?![\w./])")
        pattern = rf"(?<![\w/.-])(?:{'|'.join(words)})(?!\w)"
        return sorted({cpp_tokens.line_of(text, match.start()) for match in re.finditer(pattern, text)})


def row_of(move):
    """The row of docs/renames.tsv, if programs may include the header."""
    headers = [re.fullmatch(r"(?:ext/\w+/)?include/(.+\.h(?:pp)?)", path) for path in (move.old, move.new)]
    if all(headers) and doors.is_public(move.old):
        return rename_table.Row(headers[0].group(1), headers[1].group(1), "include", "")
    return None


def rename(options, root):
    checkout = Checkout(root)
    move = Move(checkout, options.old, options.new)
    changes, places = {}, []
    for path in checkout.paths:
        if parts.kind_of(path) != "fixed":
            text, number = move.change(path, checkout.read(path))
            if number:
                changes[path] = text, number
            places += [f"  {path}:{line}" for line in move.places(path, text)]
    row = None if options.no_record else row_of(move)
    print(f"{move.old} -> {move.new}: {sum(number for _, number in changes.values())} places in {len(changes)} files")
    for path, (_, number) in changes.items():
        print(f"  {path}: {number}")
    for path in checkout.untracked_with(posixpath.basename(move.old)):
        print(f"{path}: git does not track it: not changed, look at it")
    if places:
        print("not changed, look at them:", *places, sep="\n")
    if not options.dry_run:
        write(checkout, move, changes)
        if row:
            rename_table.append(root, row._replace(remark=options.remark))
    return 0


def write(checkout, move, changes):
    for path, (text, _) in changes.items():
        checkout.write(path, text)
    (checkout.root / move.new).parent.mkdir(parents=True, exist_ok=True)
    checkout.git("mv", move.old, move.new)
