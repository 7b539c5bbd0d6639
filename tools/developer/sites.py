"""The places of a C++ source that mutation operators change: conditions, expression statements, returned values.

A site is a range of characters inside a function's body. Sites do not overlap, so that each can be rewritten alone:

    condition     if (C)           if (sampled(7) ? (M) : (C))
    statement     S;               { if (sampled(7)) { M; } else { S; } }
    returned      return E;        { if (sampled(7)) return M; return E; }

A declaration is no site, because a block would end its name's life. Neither is what a constant expression needs (if constexpr,
static_assert), nor a condition that awaits (g++ 12 destroys temporaries of a conditional operator around co_await twice).
"""
import re
from dataclasses import dataclass

from check.blocks import blocks, closing, code_of

KEYWORD = re.compile(r"(?:if|while|for|switch|catch)\b")
NO_STATEMENT = re.compile(r"(?:using|typedef|static_assert|goto|case|default|public|private|protected|template|friend|throw|"
                          r"debug_expects|struct|class|enum|asm|extern|break|else|do|union)\b|\[\[|#")
QUALIFIERS = r"(?:(?:const|static|constexpr|unsigned|volatile|thread_local|mutable|typename|struct|inline|constinit)\s+)*"
DECLARATION = re.compile(QUALIFIERS + r"(?:auto|[A-Za-z_]\w*(?:::\w+)*(?:<[^;=]*>)?(?:::\w+)*)\s*(?:const\s*)?"
                         r"(?:[&*]+\s*(?:const\s+)?|\s)\s*(?:\w+|\[[\w, ]+\])\s*(?:[={(;,]|\[|$)")
NOT_A_TYPE = re.compile(r"(?:co_await|co_yield|delete|new|return|co_return|throw)\b")
RETURN = re.compile(r"(?:co_)?return\s+(?=\S)")
AWAITS = re.compile(r"\bco_await\b|\bco_yield\b|\bawait\s*\(")


@dataclass(frozen=True)
class Site:
    kind: str
    begin: int
    end: int  # of the text; the semicolon of a statement or return is behind it

    def end_of_place(self):
        return self.end if self.kind == "condition" else self.end + 1


def bodies(code):
    """(head, begin, end) of the function bodies."""
    for block in blocks(code):
        head = code[block.begin:block.body]
        if block.kind == "function" and not re.search(r"\bconsteval\b", head):
            yield head, block.body + 1, block.end - 1


def skip_space(code, at):
    while at < len(code) and code[at].isspace():
        at += 1
    return at


class Body:
    """Walks the statements of one function."""

    def __init__(self, code, head, begin, end):
        self.code, self.end, self.begin = code, end, begin
        self.is_void = re.search(r"\bvoid\s+[\w:~]+\s*\(", head) is not None
        self.is_bool = re.search(r"\bbool\s+[\w:~]+\s*\(", head) is not None
        self.sites = []

    def walk(self):
        at = self.begin
        while (at := skip_space(self.code, at)) < self.end:
            at = self.step(at)
        return self.sites

    def step(self, at):
        """The index behind the statement, or behind the part of it that opens another one."""
        code = self.code
        if code[at] in "{};":
            return at + 1
        if keyword := KEYWORD.match(code, at):
            return self.header(keyword.group(), skip_space(code, keyword.end()))
        if (word := re.match(r"(?:else|do|try)\b|(?:case\b[^:;{]*(?:::[^:;{]*)*|default\s*|\w+\s*):(?!:)|\[\[.*?\]\]", code[at:self.end])):
            return at + word.end()
        return self.statement(at)

    def header(self, keyword, opening):
        if self.code.startswith("constexpr", opening):
            opening = self.code.find("(", opening)
            keyword = "constant"
        if self.code[opening] != "(":
            return opening + 1
        end = closing(self.code, opening)
        if keyword in ("if", "while"):
            self.condition(opening + 1, end - 1)
        return end

    def condition(self, begin, end):
        text = self.code[begin:end]
        if ";" in text or "{" in text or AWAITS.search(text) or (DECLARATION.match(text) and re.search(r"[^=!<>]=[^=]", text)):
            return
        self.sites.append(Site("condition", begin, end))

    def statement(self, at):
        end = self.end_of_statement(at)
        text = self.code[at:end]
        if "{" in text and not text.rstrip().endswith((")", "}")):
            return end + 1
        if RETURN.match(text):
            if not AWAITS.search(text) and "{" not in text:
                self.sites.append(Site("returned_bool" if self.is_bool else "returned", at, end))
        elif self.is_expression(text):
            self.sites.append(Site("void_statement" if self.is_void and not AWAITS.search(text) else "statement", at, end))
        return end + 1

    def end_of_statement(self, at):
        while at < self.end and self.code[at] != ";":
            at = closing(self.code, at) if self.code[at] in "({" else at + 1
        return at

    def is_expression(self, text):
        if NO_STATEMENT.match(text) or "{" in text or "#" in text:
            return False
        return bool(NOT_A_TYPE.match(text) or not DECLARATION.match(text)) and bool(re.search(r"[(=]|\+\+|--", text))


def sites(code):
    """The sites of a source, of which comments and strings are blank."""
    code = code_of(code)
    found = []
    for head, begin, end in bodies(code):
        found += Body(code, head, begin, end).walk()
    return found


def planted(site, text, variant, number):
    """The text that takes the place of a site's text: a run-time switch chooses the variant."""
    chosen = f"::hocket_sampled({number})"
    if site.kind == "condition":
        return f"{chosen} ? bool({variant}) : bool({text})"
    if site.kind.startswith("returned"):
        return f"{{ if ({chosen}) {{ {variant}; }} {text}; }}"
    if not variant:
        return f"{{ if (!{chosen}) {{ {text}; }} }}"
    return f"{{ if ({chosen}) {{ {variant}; }} else {{ {text}; }} }}"
