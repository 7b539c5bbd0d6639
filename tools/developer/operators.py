"""Mutation operators: what `./dev mutants --sample` changes in a condition, a statement or a returned value.

Each operator takes the text of one site and gives its variants. They imitate faults that reviews and strangers' programs
found in hocket: a condition negated, a bound moved by one, a statement dropped, another errno, an early return, another unit
of time, a flag of a system call left out, an order weakened. (Offutt et al., "An experimental determination of sufficient
mutant operators", 1996, has the general set; universalmutator has rules for C++.)
"""
import re

ERRNO = re.compile(r"\bE(?:AGAIN|WOULDBLOCK|INTR|INPROGRESS|ALREADY|PIPE|CONN\w+|NOBUFS|NOMEM|MFILE|NFILE|BADF|INVAL|PERM|EXIST"
                   r"|NOENT|TIMEDOUT|CANCELED|HOST\w+|NET\w+|PROTO|MSGSIZE|NOTCONN|ISCONN|CHILD|SRCH|OPNOTSUPP)\b")
FIRST_FLAG = re.compile(r"\b[A-Z][A-Z0-9_]{3,} \| ")
LATER_FLAG = re.compile(r" \| [A-Z][A-Z0-9_]{3,}\b")
UNITS = {"nanoseconds": "microseconds", "microseconds": "milliseconds", "milliseconds": "seconds", "seconds": "milliseconds",
         "minutes": "seconds", "1'000'000": "1'000", "1000000": "1000"}
UNIT = re.compile(r"\b(?:" + "|".join(UNITS) + r")\b")
WORD_OPERATORS = {" < ": " <= ", " <= ": " < ", " > ": " >= ", " >= ": " > "}
ORDER = re.compile(r"memory_order(_|::)(?:acquire|release|acq_rel|seq_cst)\b")
RETURN = re.compile(r"((?:(?:co_)?return\s+)?)(.*)", re.S)
NUMBER = re.compile(r"(?<![\w.'#])(\d+)(?![\w.'x])")


def each(pattern, text, replacement):
    """A variant for each match."""
    for match in re.finditer(pattern, text):
        new = replacement(match) if callable(replacement) else replacement
        yield text[:match.start()] + new + text[match.end():]


def negated(text):
    keyword, expression = RETURN.match(text).groups()
    yield f"{keyword}!({expression})"


def moved_bound(text):
    for old, new in WORD_OPERATORS.items():
        yield from each(re.escape(old), text, new)
    yield from each(r" ([+-]) 1\b(?!['\d.])", text, "")


def other_number(text):
    yield from each(NUMBER, text, lambda match: str(int(match.group(1)) + 1))


def other_logic(text):
    yield from each(r" && ", text, " || ")
    yield from each(r" \|\| ", text, " && ")
    yield from each(r" == ", text, " != ")


def other_errno(text):
    yield from each(ERRNO, text, lambda match: "EINTR" if match.group() != "EINTR" else "EAGAIN")


def flag_left_out(text):
    yield from each(FIRST_FLAG, text, "")
    yield from each(LATER_FLAG, text, "")


def other_unit(text):
    yield from each(UNIT, text, lambda match: UNITS[match.group()])


def weaker_order(text):
    yield from each(ORDER, text, lambda match: f"memory_order{match.group(1)}relaxed")


def dropped(_):
    yield ""


def early_return(_):
    yield "return"


IN_TEXT = {"bound": moved_bound, "number": other_number, "logic": other_logic, "errno": other_errno, "flag": flag_left_out,
           "unit": other_unit, "order": weaker_order}
OF_KIND = {
    "condition": {"negated": negated, **IN_TEXT},
    "statement": {"dropped": dropped, **IN_TEXT},
    "void_statement": {"dropped": dropped, "early_return": early_return, **IN_TEXT},
    "returned": IN_TEXT,
    "returned_bool": {"negated": negated, **IN_TEXT},
}


def variants(kind, text):
    """(operator, changed text) of everything that the operators make of a site."""
    return [(name, variant) for name, operator in OF_KIND[kind].items() for variant in operator(text) if variant != text]
