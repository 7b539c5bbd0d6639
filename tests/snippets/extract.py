"""extract.py <root> <folder> <layers>: turns the ```cpp blocks of README.md and docs/ into sources to compile.

A block that holds `int main` is a program: compiled as it stands, linked and run. Any other block is a part and needs
a line directly above it that says how to compile it:

    <!-- compile: hocket/coro/task.hpp chrono -->      declarations, after these headers and `using namespace hocket`
    <!-- compile in a function: hocket/coro/task.hpp -->    statements, the same, inside a function
    <!-- run: hocket/coro/task.hpp => half(8) == 4 -->    declarations, and a program that fails unless that is true
    <!-- not compiled: the reason -->                  left out; the reason is required

A program that would not end by itself, as a server, has `<!-- compile: -->` above it and is compiled only.

A block of any language may show a piece of a file that is built and tested elsewhere:

    <!-- from: examples/tutorial/hello.cpp -->

The pieces of a file in one document, in their order, are the whole file; blank lines do not count.

A block whose headers belong to a layer that is not built (stackless) is left out. Errors name the document's own line.
"""
import pathlib
import re
import sys

FENCE = re.compile(r"^```cpp[^\n]*\n(.*?)^```", re.S | re.M)
PIECE = re.compile(r"^<!--\s*from\s*:\s*(\S+)\s*-->\n```[^\n]*\n(.*?)^```", re.S | re.M)
DIRECTIVE = re.compile(r"<!--\s*(compile in a function|compile|run|not compiled|from)\s*:\s*(.*?)\s*-->\s*$")
MAIN = re.compile(r"\bint\s+main\s*\(")
HOCKET_HEADER = re.compile(r"hocket/(?:(\w+)/|(\w+)\.hpp)")
STACKLESS_UMBRELLAS = {"stackless", "fwd", "net", "http"}


class Mistake(Exception):
    """A block that nobody said how to compile."""


def directive_above(text, start):
    above = text[:start].rstrip("\n").rpartition("\n")[2].strip()
    match = DIRECTIVE.match(above)
    return (match[1], match[2]) if match else (None, "")


def is_built(block_and_headers, layers):
    """Whether every layer that the headers belong to is there; hocket.hpp stands for all of them."""
    for layer, umbrella in HOCKET_HEADER.findall(block_and_headers):
        if layer and layer not in layers or umbrella and umbrella not in STACKLESS_UMBRELLAS and "fiber" not in layers:
            return False
    return True


def wrap(block, headers, in_function, place):
    lines = [f"#include <{name}>" for name in [*headers.split(), "chrono"]]  # chrono: for the literals
    lines += ["using namespace hocket;", "using namespace std::literals;"]
    if in_function:
        lines += ["[[maybe_unused]] static void snippet() {", place, block + "}"]
    else:
        lines += [place, block]
    return "\n".join(lines) + "\n"


def snippets(document, text, layers):
    """(kind, line, source) of each block that is compiled."""
    for match in FENCE.finditer(text):
        block, line = match[1], text.count("\n", 0, match.start()) + 2
        kind, rest = directive_above(text, match.start())
        place = f'#line {line} "{document}"'
        if kind == "not compiled":
            if not rest:
                raise Mistake(f"{document}:{line}: `not compiled` without a reason")
            continue
        if kind == "from" or not is_built(block + rest, layers):
            continue
        if MAIN.search(block):
            yield "part" if kind == "compile" else "program", line, f"{place}\n{block}"
        elif kind == "run":
            headers, arrow, claim = rest.partition("=>")
            if not arrow:
                raise Mistake(f"{document}:{line}: `run` without `=> what is true then`")
            main = f"int main() {{ return ({claim.strip()}) ? 0 : 1; }}\n"
            yield "program", line, wrap(block, headers, False, place) + main
        elif kind is None:
            raise Mistake(f"{document}:{line}: no main in this block: put <!-- compile: headers --> above it "
                          "(or <!-- not compiled: reason -->)")
        else:
            yield "part", line, wrap(block, rest, kind == "compile in a function", place)


def numbered_lines(text, first):
    """(number, line) of each line that is not blank."""
    return [(number, line) for number, line in enumerate(text.splitlines(), first) if line.strip()]


def compare_pieces(document, text, read):
    """Fails unless the pieces of each file are the file. `read` gives the text of a file."""
    rests = {}
    for match in PIECE.finditer(text):
        file = match[1]
        rest = rests.setdefault(file, numbered_lines(read(file), 1))
        for number, line in numbered_lines(match[2], text.count("\n", 0, match.start()) + 3):
            if not rest or rest[0][1] != line:
                expected = f"{rest[0][0]}: {rest[0][1]}" if rest else "its end"
                raise Mistake(f"{document}:{number}: not the next line of {file}, which is {expected}")
            rest.pop(0)
    for file, rest in rests.items():
        if rest:
            raise Mistake(f"{document}: no piece shows {file}:{rest[0][0]}: {rest[0][1]}")


def write_if_changed(path, text):
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def main(root, folder, layers):
    root, folder = pathlib.Path(root), pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    written = set()
    for document in [root / "README.md", *sorted((root / "docs").rglob("*.md"))]:
        if not document.exists():
            continue
        text = document.read_text()
        compare_pieces(str(document), text, lambda file: (root / file).read_text())
        stem = re.sub(r"\W+", "_", str(document.relative_to(root).with_suffix("")))
        for kind, line, source in snippets(str(document), text, layers.split(";")):
            path = folder / f"{kind}_{stem}_{line}.cpp"
            write_if_changed(path, source)
            written.add(path)
    for stale in set(folder.glob("*.cpp")) - written:
        stale.unlink()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Mistake as mistake:
        sys.exit(str(mistake))
