"""A mutant as a file NAME.mutant of tests/mutants: places of our sources, and the text that each has instead.

    target: model_runtime
    test: what is posted from outside is taken
    why: without the fence the poster overlooks a worker that falls asleep
    file: src/runtime/inbox.cpp
    in: inbox::post
    --- find
    light_fence();
    --- replace

- `target` is a test program. `test` is the name of one test case of it. `why` is what goes wrong.
- `alive: step 17` replaces `target` and `test` while no test finds the mutant; `kind` says what the tests lack.
- `in` names a function or class of the file, `inbox::post` or shorter. The text to find is there exactly once. Without
  `in` it is exactly once in the file. Several functions of one name are one place.
- Several pairs of find and replace may follow one another. A line `file:` or `in:` between two pairs changes the place
  of the next pair. All texts are looked up in the source as it is.
- A text begins on the line after its marker and ends before the newline that precedes the next one. It is plain source
  text, part of a line or several lines. If the replacement is empty, a line that becomes blank is removed.

The folder has mutants and the two tables, and no other file.
"""
import functools
import pathlib
import re
from dataclasses import dataclass

from check import blocks

from .shell import Stop

FOLDER = "tests/mutants"
SOURCES = ("src/", "include/", "ext/", "examples/")
TABLES = ("killed.tsv", "equivalent.tsv")
KEYS = ("target", "test", "why", "alive", "kind")
STEP = re.compile(r"step \d+")
MARKER = re.compile(r"(?m)^(--- find|--- replace|file: .+|in: .+)\n")
PREVIEW = 60


class Misfit(Exception):
    """The mutant cannot be planted in this tree; the text says why."""


@dataclass(frozen=True)
class Edit:
    file: str
    place: str  # "": the whole file
    find: str
    replace: str


@dataclass(frozen=True)
class Mutant:
    name: str
    path: pathlib.Path
    target: str
    test: str
    why: str
    alive: str  # the step of the plan that will kill it; "" if a test does
    kind: str
    edits: tuple


def fields_of(header, path):
    """{key: text} of the lines `key: text`."""
    fields = {}
    for line in filter(str.strip, header.splitlines()):
        key, colon, text = line.partition(": ")
        if not colon or key not in KEYS or key in fields:
            raise Stop(f"{path.name}: `{line}` is no line of a mutant: each of {', '.join(KEYS)} may have one")
        fields[key] = text
    for key in ("why",) if "alive" in fields else ("target", "test", "why"):
        if not fields.get(key):
            raise Stop(f"{path.name} has no line `{key}: ...`")
    if "alive" in fields and not STEP.fullmatch(fields["alive"]):
        raise Stop(f"{path.name} is alive until `{fields['alive']}`: name the step that will kill it, `step 17`")
    return fields


def edits_of(path, text):
    """The header, and the edits."""
    header, *pieces = MARKER.split(text)
    edits, file, place, find = [], "", "", None
    for marker, body in zip(pieces[::2], pieces[1::2]):
        if (find is None) == (marker == "--- replace"):
            raise Stop(f"{path.name}: a text to find and its replacement follow each other")
        if marker == "--- find":
            find = body.removesuffix("\n")
        elif marker == "--- replace":
            edits.append(Edit(file, place, find, body.removesuffix("\n")))
            find = None
        else:
            file, place = (marker[6:], "") if marker.startswith("file") else (file, marker[4:])
            header += body
    if find is not None or not edits or not all(edit.find.strip() for edit in edits):
        raise Stop(f"{path.name} lacks a `--- find` with a text, or its `--- replace`")
    return header, tuple(edits)


def parse(path, text):
    header, edits = edits_of(path, text if text.endswith("\n") else text + "\n")
    fields = fields_of(header, path)
    for edit in edits:
        if not edit.file.startswith(SOURCES):
            raise Stop(f"{path.name} changes `{edit.file}`: a mutant is one of {', '.join(SOURCES)}")
        if edit.find == edit.replace:
            raise Stop(f"{path.name} replaces a text of {edit.file} by the same text")
    return Mutant(path.stem, path, *(fields.get(key, "") for key in KEYS), edits)


def read_all(root):
    """In the order in which they run: those of one program together."""
    paths = [path for path in sorted((root / FOLDER).glob("*")) if path.name not in TABLES]
    if others := [path for path in paths if path.suffix != ".mutant"]:
        raise Stop(f"{FOLDER}/{others[0].name} is no mutant: a mutant is a file NAME.mutant")
    if not paths:
        raise Stop(f"{FOLDER} has no mutants")
    return sorted((parse(path, path.read_text()) for path in paths), key=lambda m: (m.target, m.name))


@functools.lru_cache(maxsize=None)
def blocks_of(text):
    return blocks.blocks(text)


def numbers_of(text, place):
    """The numbers of the blocks that a place names."""
    name = blocks.parts(place)
    return [number for number, block in enumerate(blocks_of(text)) if block.name[-len(name):] == name]


def spans(text, edit):
    """The ranges of the text that `in:` names."""
    if not edit.place:
        return [(0, len(text))]
    named = [blocks_of(text)[number] for number in numbers_of(text, edit.place)]
    if not named:
        raise Misfit(f"{edit.file} has no function or class {edit.place}")
    return [(block.begin, block.end) for block in named]


def renamed_place(place, before, after):
    """The place in the text `after`, in which names of the text `before` have changed; as it is if its blocks got several."""
    if len(blocks_of(before)) != len(blocks_of(after)):
        return place
    length = len(blocks.parts(place))
    names = {blocks_of(after)[number].name[-length:] for number in numbers_of(before, place)}
    return "::".join(*names) if len(names) == 1 and names != {blocks.parts(place)} else place


def occurrences(text, find):
    at = text.find(find)
    while at >= 0:
        yield at
        at = text.find(find, at + 1)


def located(text, edit):
    """(begin, end) of the text to find."""
    allowed = spans(text, edit)
    places = [at for at in occurrences(text, edit.find)
              if any(begin <= at and at + len(edit.find) <= end for begin, end in allowed)]
    if len(places) == 1:
        return with_blank_line(text, edit, places[0], places[0] + len(edit.find))
    preview = edit.find.strip().partition("\n")[0]
    preview = preview if len(preview) <= PREVIEW else preview[:PREVIEW] + "..."
    count = f"is found {len(places)} times" if places else "is not found"
    raise Misfit(f"`{preview}` {count} in {edit.place or edit.file}")


def with_blank_line(text, edit, begin, end):
    """If nothing replaces it, the rest of its lines goes, too, unless there is more on them than blanks."""
    first = text.rfind("\n", 0, begin) + 1
    behind = text.find("\n", end) + 1 or len(text)
    if edit.replace == "" and not (text[first:begin] + text[end:behind]).strip():
        return first, behind
    return begin, end


def changed_text(text, edits):
    ranges = sorted((*located(text, edit), edit.replace) for edit in edits)
    for (_, end, _), (begin, _, _) in zip(ranges, ranges[1:]):
        if begin < end:
            raise Misfit(f"two of its texts overlap in {edits[0].file}")
    for begin, end, replacement in reversed(ranges):
        text = text[:begin] + replacement + text[end:]
    return text


def planted(mutant, text_of):
    """The text of each file that the mutant changes, by path. text_of(path) is its text now, or None without a file."""
    texts = {}
    for file in dict.fromkeys(edit.file for edit in mutant.edits):
        if (text := text_of(file)) is None:
            raise Misfit(f"there is no file {file}")
        texts[file] = changed_text(text, [edit for edit in mutant.edits if edit.file == file])
    return texts


def changed_files(mutant, root):
    """As planted, in the tree below `root`."""
    return planted(mutant, lambda file: (root / file).read_text() if (root / file).is_file() else None)
