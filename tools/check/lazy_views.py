"""Lazy tasks with views: in documents and examples no coroutine that returns a task takes a view or a reference to text.

`auto t = ask(a, make_text()); co_await std::move(t)` reads freed memory, if `ask` is a coroutine with a std::string_view
(docs/traps/temporaries.md). A reader copies an example: it takes std::string by value. Snippets are the ```cpp blocks of
documents, and the code in the comments of headers. A block that says `not compiled: it is the trap` shows the fault.
"""
import re

from .options import BUFFERS, VIEW, line_at
from .outline import bare, closed, is_coroutine, split
from .tree import Finding, TOKENS, blank

FAST = True
FENCE = re.compile(r"^(?P<above>[^\n]*)\n```cpp[^\n]*\n(?P<block>.*?)^```", re.S | re.M)
TRAP = "not compiled: it is the trap"
EXAMPLES = ("examples/", "ext/")
NAMED = re.compile(r"\btask<[^;{}()=]*>\s*(?P<name>[\w:]+)\s*(?=\()")
LAMBDA = re.compile(r"\](?=\s*\()")
# Functions of documents that keep a view or a reference on purpose: document, function, reason.
ON_PURPOSE = {
    ("docs/traps/arguments.md", "length"): "shows that spawn and invoke keep what the parameter refers to",
    ("docs/traps/arguments.md", "length_of"): "shows a lambda that awaits it in one expression",
    ("include/hocket/coro/detail/frame_allocation.hpp", "parse"): "shows where the allocator stands among the parameters",
    ("include/hocket/core/spawn/detail/call_parameters.hpp", "fetch"): "shows what spawn does with such a parameter",
}


def uncommented(text):
    return TOKENS.sub(lambda match: blank(match, False), text)


def snippets(tree):
    """(path, first line, code) of each text that readers copy."""
    for path, text in tree.texts.items():
        if path.endswith(".md"):
            for match in FENCE.finditer(text):
                if TRAP not in match["above"]:
                    yield path, line_at(text, match.start("block")), uncommented(match["block"])
        elif path.startswith(EXAMPLES) and "examples/" in path and path.endswith((".cpp", ".hpp")):
            yield path, 1, tree.code(path)
        elif re.match(r"(include|ext/.*/include)/.*\.hpp$", path):
            lines = [line[2:] if line.startswith("//") else "" for line in text.splitlines()]
            yield path, 1, uncommented("\n".join(lines))


def coroutines(code):
    """(offset, name, parameters) of each function or lambda that gives a task and may be a coroutine."""
    for match in NAMED.finditer(code):
        yield from if_lazy(code, match.start(), match["name"], match.end())
    for match in LAMBDA.finditer(code):
        opening = code.index("(", match.end())
        behind = code[closed(code, opening):].lstrip()
        if re.match(r"(mutable\s*|noexcept\s*)*->\s*(?:[\w:]+::)?task<", behind):
            yield from if_lazy(code, match.start(), "a lambda", opening)


def if_lazy(code, start, name, opening):
    end = closed(code, opening)
    brace = re.compile(r"[^;{}]*\{").match(code, end)
    if not brace or is_coroutine(code[brace.end():closed(code, brace.end() - 1)]):
        yield start, name, split(bare(code[opening + 1:end - 1]))


def is_view(parameter):
    return VIEW.search(parameter) and not any(re.search(buffer, parameter) for buffer in BUFFERS)


def check(tree):
    findings = []
    for path, first, code in snippets(tree):
        for start, name, parameters in coroutines(code):
            for parameter in filter(is_view, parameters):
                if (path, name) not in ON_PURPOSE:
                    findings.append(Finding(path, first + line_at(code, start) - 1,
                                            f"{name} is a lazy task that takes `{parameter}`: take std::string by value, "
                                            "because a reader may await it later (docs/traps/temporaries.md)"))
    return findings
