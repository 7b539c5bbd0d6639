"""Blocks: where the functions, classes and variables of a C++ file begin and end.

The names and braces decide: no types are known. A function body is one block, whatever is in it. A name is a tuple,
`("hocket", "detail", "inbox", "post")`, and the same for a body in its class and for one outside.
"""
import dataclasses
import re

from .tree import TOKENS, blank

BRACKETS = {"(": ")", "{": "}"}
PAIRS = {opening: re.compile(f"[{opening}{BRACKETS[opening]}]") for opening in BRACKETS}
OPENING = re.compile(r"[({]")
ANGLE = re.compile(r"->|<|>")
AFTER_NAME = re.compile(r"\w\s*$(?<!operator)")
NO_BLANK = re.compile(r"\S")
PUNCTUATION = re.compile(r"[({};]")
NO_NEWLINE = re.compile(r"[^\n]")
DIRECTIVE = re.compile(r"(?m)^[ \t]*#(?:[^\n]*\\\n)*[^\n]*$")
NOISE = re.compile(r"(?s)\[\[.*?\]\]|\b(?:public|protected|private)\s*:(?!:)|\balignas\s*\([^()]*\)")
NO_SPACE = re.compile(r"\s")
# Of `extern "C"` the string is blank.
SCOPE = re.compile(r"\s*(?:inline\s+)?(?:namespace\b(?P<name>[\w\s:]*)|extern\s*)$")
CLASS = re.compile(r"\b(?:class|struct|union|enum)\s+(?:\w+\s+)*?(?P<name>[\w:]+)\s*(?:final\s*)?(?::(?!:)|$)")
OPERATOR = re.compile(r"(?P<name>(?:[\w:]+::\s*)?operator\s*(?:\(\s*\)|[^\s\w(]+|[\w\s:*&]+?))\s*\(")
CALL = re.compile(r"(?P<name>~?[A-Za-z_][~\w:]*)\s*\(")
NO_NAME = {"alignas", "decltype", "explicit", "noexcept", "requires", "__attribute__", "__declspec", "asm", "__asm__"}
# An expression, not the clause behind the parameters of a function.
REQUIREMENT = re.compile(r"(?:^|=|[^)\s]\s*&&|\|\||!|\brequires)\s*requires\s*(?:\(\))?\s*$")
ASSIGNED = re.compile(r"(?<![=<>!+\-*/|&^])=(?!=)")
INITIALIZERS = re.compile(r"\)[^:]*:")
VARIABLE = re.compile(r"(?P<name>[A-Za-z_][\w:]*)\s*(?:\[[^\]]*\]\s*)*$")


@dataclasses.dataclass(frozen=True)
class Block:
    kind: str  # function, class, variable
    name: tuple
    begin: int
    end: int
    body: int = 0  # of a function: the offset of the brace that opens its body


def code_of(text):
    """The text with comments, strings and directives blanked: offsets stay."""
    code = TOKENS.sub(lambda match: blank(match, False), text)
    return DIRECTIVE.sub(lambda match: NO_NEWLINE.sub(" ", match.group()), code)


def closing(code, opening):
    """The offset behind what matches the bracket at `opening`."""
    depth = 0
    for match in PAIRS[code[opening]].finditer(code, opening):
        depth += 1 if match.group() == code[opening] else -1
        if depth == 0:
            return match.end()
    return len(code)


def without_arguments(head):
    """Without the arguments of templates: `<` after a name, up to its `>`."""
    text, depth, at = "", 0, 0
    for match in ANGLE.finditer(head):
        between, at = head[at:match.start()], match.end()
        text += "" if depth else between
        angle = match.group()
        if angle == "<" and (depth or AFTER_NAME.search(text)):
            depth += 1
        elif angle == ">" and depth:
            depth -= 1
        elif not depth:
            text += angle
    return head if depth else re.sub(r"\btemplate\b", "", text + head[at:])


def outside_brackets(head):
    text, at = "", 0
    while match := OPENING.search(head, at):
        text += head[at:match.start()] + match.group() + BRACKETS[match.group()]
        at = closing(head, match.start())
    return text + head[at:]


def parts(name):
    """What a name consists of; the macros that name the layout are no part of it."""
    operator = re.search(r"(?s)\boperator\b.*", name)
    scopes = name[:operator.start()] if operator else name
    names = [part for part in NO_SPACE.sub("", scopes).split("::") if part and not part.startswith("HOCKET_")]
    return (*names, NO_SPACE.sub("", operator.group())) if operator else tuple(names)


def function_name(head):
    if match := OPERATOR.search(head):
        return parts(match.group("name"))
    plain = outside_brackets(head)
    for match in CALL.finditer(plain):
        if match.group("name") not in NO_NAME:
            return parts(match.group("name"))
    return None


def variable_name(head):
    match = VARIABLE.search(head)
    return parts(match.group("name")) if match else ()


def block_of(head):
    """(kind, name) of what a brace behind `head` opens; kind "" if the brace belongs to the head, as `{1}` in a list of
    initializers does."""
    head = without_arguments(re.sub(r"\s+", " ", NOISE.sub(" ", head)))
    plain = outside_brackets(head)
    if match := SCOPE.match(plain):
        return "scope", parts(re.sub(r"\binline\b", "", match.group("name") or ""))
    assigned = ASSIGNED.search(plain)
    if assigned and "operator" not in plain:
        return "variable", variable_name(plain[:assigned.start()])
    if REQUIREMENT.search(plain):
        return "", ()
    if match := CLASS.search(plain):
        return "class", parts(match.group("name"))
    name = function_name(head)
    if name is None:
        return "variable", variable_name(plain)
    has_list = INITIALIZERS.search(plain.replace("::", "  "))
    return ("", ()) if has_list and re.search(r"[\w>]\s*$", plain) else ("function", name)


class Scan:
    """One walk over a file, from bracket to bracket; what is in parentheses or in a function is stepped over."""

    def __init__(self, text):
        self.code = code_of(text)
        self.blocks = []
        self.open = []      # (kind, name, begin) of namespaces and classes, each with its whole name
        self.head = self.at = 0
        steps = {"(": self.step_over, "{": self.enter, "}": self.leave, ";": self.begin_head}
        while match := PUNCTUATION.search(self.code, self.at):
            self.at = match.end()
            steps[match.group()](match.start())

    def step_over(self, opening):
        self.at = closing(self.code, opening)

    def begin_head(self, _):
        self.head = self.at

    def begin_of_head(self):
        return NO_BLANK.search(self.code, self.head).start()

    def enter(self, opening):
        kind, name = block_of(self.code[self.head:opening])
        whole = (self.open[-1][1] if self.open else ()) + name
        if kind in ("scope", "class"):
            self.open.append((kind, whole, self.begin_of_head()))
            self.head = self.at
            return
        self.step_over(opening)
        if name == ("catch",) and self.blocks:  # of the function before it
            self.blocks[-1] = dataclasses.replace(self.blocks[-1], end=self.at)
        elif kind:
            self.blocks.append(Block(kind, whole, self.begin_of_head(), self.at, opening))
        if kind == "function":
            self.head = self.at

    def leave(self, _):
        kind, name, begin = self.open.pop() if self.open else ("scope", (), 0)
        if kind == "class":
            self.blocks.append(Block(kind, name, begin, self.at))
        self.head = self.at


def blocks(text):
    return Scan(text).blocks


def innermost(text_blocks, begin, end):
    """The smallest block around a range; None: there is none."""
    around = [block for block in text_blocks if block.begin <= begin and end <= block.end]
    return min(around, key=lambda block: block.end - block.begin, default=None)
