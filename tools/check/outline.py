"""The declarations of a C++ file, as far as rules need them: types with their access, functions with parameters and body.

A heuristic, which reads the house's own style: it knows no macro and resolves no name.
"""
import collections
import re

# head: the text before the body or the semicolon. body: without its braces, or None. scopes: names of the namespaces and
# classes around it, outermost first. public: whether no class around it hides it.
Declaration = collections.namedtuple("Declaration", "head body offset scopes public")

BRACKETS = {"(": re.compile(r"[()]"), "{": re.compile(r"[{}]"), "[": re.compile(r"[\[\]]"), "<": re.compile(r"<|(?<!-)>")}
MARK = re.compile(r"[;{(]")
ACCESS = re.compile(r"\s*(public|private|protected)\s*:(?!:)")
NAMESPACE = re.compile(r"\s*(?:inline )?namespace\b\s*([\w:]*)")
TYPE = re.compile(r"\b(class|struct|union)\s+(?:alignas\([^)]*\)\s*)?([\w:]+)\s*(?:<.*>\s*)?(?:final\b\s*)?(?::(?!:).*)?$", re.S)
NO_NAMES = {"requires", "noexcept", "decltype", "alignas", "explicit", "sizeof", "if", "for", "while", "switch", "return"}


def closed(text, start):
    """The index behind the bracket that closes the one at `start`. The angle of an `->` closes nothing."""
    depth = 0
    for match in BRACKETS[text[start]].finditer(text, start):
        depth += 1 if match.group() == text[start] else -1
        if depth == 0:
            return match.end()
    return len(text)


def bare(head):
    """Without attributes, and without the template's parameters and constraints."""
    head = re.sub(r"\[\[.*?\]\]", "", head, flags=re.S).strip()
    while match := re.match(r"template\s*(?=<)", head):
        head = head[closed(head, match.end()):].strip()
    while match := re.match(r"requires\s*(?:requires\s*)?(?=\()", head):
        head = head[closed(head, match.end()):].strip()
    return head


def split(text):
    """The parts between the commas outside of brackets."""
    parts, depth, begin = [], 0, 0
    for at, letter in enumerate(text):
        depth += (letter in "([{<") - (letter in ")]}" or letter == ">" and text[at - 1] != "-")
        if letter == "," and depth == 0:
            parts.append(text[begin:at])
            begin = at + 1
    return [part.strip() for part in [*parts, text[begin:]] if part.strip()]


def type_of(declaration):
    """(class, struct or union; name) of a declaration that defines a type, or None."""
    match = TYPE.search(bare(declaration.head)) if declaration.body is not None else None
    return (match.group(1), match.group(2)) if match and "(" not in match.group(2) else None


def function_of(declaration):
    """(text before the name, name, parameters) of a function, or None."""
    head = bare(declaration.head)
    for match in re.finditer(r"([\w:~]+)\s*\(", head):
        if match.group(1) not in NO_NAMES:
            end = closed(head, match.end() - 1)
            before = head[:match.start()]
            if re.search(r"[=.]\s*$|\busing\b|\btypedef\b|\breturn\b", before):
                return None
            return before, match.group(1), split(head[match.end():end - 1])
    return None


def next_mark(code, at, end):
    """The next semicolon or opening brace outside of parentheses."""
    while (match := MARK.search(code, at, end)) and match.group() == "(":
        at = closed(code, match.start())
    return match.start() if match else end


def declarations(code, begin=0, end=None, scopes=(), access="public", public=True):
    """Of all namespaces and classes of a text without comments and strings; bodies of functions stay closed."""
    end = len(code) if end is None else end
    at = begin
    while at < end:
        while match := ACCESS.match(code, at, end):
            access, at = match.group(1), match.end()
        mark = next_mark(code, at, end)
        if mark >= end:
            return
        head = re.sub(r"(?m)^\s*#.*$", "", code[at:mark])
        visible = public and access == "public"
        last = closed(code, mark) if code[mark] == "{" else mark + 1
        body = code[mark + 1:last - 1] if code[mark] == "{" else None
        found = Declaration(head, body, at + len(code[at:mark]) - len(code[at:mark].lstrip()), scopes, visible)
        yield from nested(code, found, mark + 1, last - 1, visible)
        at = last


def nested(code, found, begin, end, visible):
    """The declaration, and what it holds."""
    space = NAMESPACE.match(found.head)
    if space and found.body is not None:
        yield from declarations(code, begin, end, (*found.scopes, *space.group(1).split("::")), "public", visible)
        return
    if found.head.strip() or found.body is not None:
        yield found
    if kind := type_of(found):
        inner = "private" if kind[0] == "class" else "public"
        yield from declarations(code, begin, end, (*found.scopes, kind[1]), inner, visible)


def without_lambdas(body):
    """A function's own statements."""
    opening = re.compile(r"\[[^\[\]]*\]\s*(?:<[^<>]*>\s*)?(?:\([^()]*(?:\([^()]*\)[^()]*)*\)\s*)?"
                         r"(?:mutable\s*|noexcept\s*)*(?:->\s*[^{;=]*?)?\{")
    while match := opening.search(body):
        body = body[:match.start()] + body[closed(body, match.end() - 1):]
    return body


def is_coroutine(body):
    return bool(re.search(r"\bco_(await|return|yield)\b", without_lambdas(body)))
