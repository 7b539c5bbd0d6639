"""Names: the field's words, in C++ and Python. tools/check/names.tsv has how many findings each file still has.

Findings are identifiers that are one of WORDS as a whole (a trailing underscore aside), at each place, and functions,
declared or defined, whose first word is one of VERBS. In C++ a pointer to a function and a std::function are functions, too.
Go, Rust, Java and JavaScript have other customs: their names are not read. tools/check/field_words.txt has the names of the field and of
libraries that are no findings. Neither is the declaration `const char* what() const noexcept`, from std::exception.
"""
import ast
import re

from .ratchet import Figure, Ratchet
from .tree import table

FAST = True
FIELD_WORDS = "tools/check/field_words.txt"
WORDS = ("one what how of here gone made told said whom who whose these those them got heard asked wanted given kept "
         "left").split()
VERBS = "tell go let keep look stay note come stand want".split()

WORD = re.compile(rf"\b({'|'.join(WORDS)})_?\b")
VERB = re.compile(rf"_*({'|'.join(VERBS)})(_|$)")
CALLED = re.compile(rf"\b((?:{'|'.join(VERBS)})(?:_\w*)?)(?=\s*\()")
LAMBDA = re.compile(rf"\bauto ((?:{'|'.join(VERBS)})(?:_\w*)?) = \[")
POINTER = re.compile(rf"(?<=[\w>*&]) \((?:\w+::)*[*&](?:const )?((?:{'|'.join(VERBS)})(?:_\w*)?)\)(?=\s*\()")
VARIABLE = re.compile(rf"(?<=[\s&*>])((?:{'|'.join(VERBS)})(?:_\w*)?)(?=\s*[;={{,)])")
FUNCTION = re.compile(r"\b(?:\w+_)?function(?:_ref)?<.*>[\s&*]*$", re.S)
WHAT = re.compile(r"\bconst char\* (?:\w+::)*(what)\(\) const noexcept\b")  # as std::exception declares it
CAUGHT = re.compile(r"\bcatch \([^()]*\b(\w+)\)")
QUALIFIER = re.compile(r"(?:\w+(?:<[^<>()]*>)?::)*$")
SPECIFIERS = set("inline static constexpr consteval virtual explicit friend extern typename template public private "
                 "protected".split())
OPERATORS = tuple("(,=!?+-|./<")
NO_TYPES = set("return co_return co_await co_yield throw new delete else case goto not and or do using".split())


def text_before(code, end):
    """(text, mark): the text before `end` that can be a type, and the mark before that text."""
    at, depth = end, 0
    while at > 0:
        mark = code[at - 1]
        if mark == ">":
            depth += 1
        elif mark == "<":
            depth -= 1
        if depth < 0 or not (depth or mark.isalnum() or mark in "_ \n:&*<>") or mark == ";":
            break
        at -= 1
    return code[at:end], code[at - 1:at]


def without_arguments(text):
    """A type without its template arguments."""
    while (shorter := re.sub(r"<[^<>]*>", "", text)) != text:
        text = shorter
    return text


def is_declared(code, start):
    """Whether the name at `start`, which a parenthesis follows, has a type before it: a call has none."""
    start -= len(QUALIFIER.search(code, max(0, start - 120), start).group())
    text, mark = text_before(code, start)
    words = set(re.findall(r"\w+", without_arguments(text)))
    if mark in OPERATORS or not words - SPECIFIERS or words & NO_TYPES:
        return False
    return not text.rstrip().endswith(("->", "::")) and not re.search(r"\s[&*>]+\s*$|:\s*$", text)


def is_pointer(code, start):
    """Whether the declarator `(*name)` at `start` has a type before it: a call through the pointer has none."""
    words = set(re.findall(r"\w+", without_arguments(text_before(code, start)[0])))
    return bool(words - SPECIFIERS) and not words & NO_TYPES


def verbs_in_cpp(code):
    """The matches of functions, and of variables that hold one."""
    yield from (match for match in CALLED.finditer(code) if is_declared(code, match.start()))
    yield from LAMBDA.finditer(code)
    yield from (match for match in POINTER.finditer(code) if is_pointer(code, match.start()))
    yield from (match for match in VARIABLE.finditer(code) if FUNCTION.search(text_before(code, match.start())[0]))


def in_cpp(tree, path):
    """(line, word) of each finding in a C++ file."""
    code = tree.code(path)
    caught = {match.group(1) + "." for match in CAUGHT.finditer(code)}

    declared = {match.start(1) for match in WHAT.finditer(code)}

    def is_of_library(match):  # what() of a caught exception, or declared as in std::exception
        object_before = re.search(r"\w*\.?$", code[max(0, match.start() - 40):match.start()]).group()
        return match.group() == "what" and (object_before in caught or match.start() in declared)

    found = [match for match in WORD.finditer(code) if not is_of_library(match)]
    found += verbs_in_cpp(code)
    return [(tree.line_of(path, match.start(1)), match.group(1)) for match in found]


def names_of(node):
    """The names that a node of a Python program spells, and whether it defines a function."""
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return [node.name], True
    spelled = [getattr(node, field, None) for field in ("id", "attr", "arg", "asname", "rest")]
    if isinstance(node, (ast.ClassDef, ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        spelled.append(node.name)
    elif isinstance(node, (ast.Global, ast.Nonlocal)):
        spelled += node.names
    elif isinstance(node, ast.MatchClass):
        spelled += node.kwd_attrs
    elif isinstance(node, (ast.alias, ast.ImportFrom)):
        spelled += (getattr(node, "name", None) or getattr(node, "module", None) or "").split(".")
    return [name for name in spelled if isinstance(name, str)], False


def in_python(tree, path):
    found = []
    for node in ast.walk(tree.syntax(path)):
        names, is_function = names_of(node)
        for name in names:
            if name.rstrip("_") in WORDS or is_function and VERB.match(name):
                found.append((getattr(node, "lineno", 1), name))
    return found


def names_in(tree, path):
    readers = {"C++": in_cpp, "Python": in_python}
    language = tree.language(path)
    return readers[language](tree, path) if language in readers else []


def figures(tree):
    field_words, counts = {name for _, name, _ in table(tree, FIELD_WORDS, 2)}, {}
    for path in tree.texts:
        places = sorted(place for place in names_in(tree, path) if place[1] not in field_words)
        if places:
            counts[(path,)] = Figure(len(places), 0, places)
    return counts


RATCHET = Ratchet("tools/check/names.tsv", 1, "everyday words as names", figures)
check = RATCHET.check
