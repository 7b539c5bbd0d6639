"""Prose: plain English in comments and documents. tools/check/prose.tsv has the figures of the files above a limit.

A group of expressions, in all forms of its words, has a limit per 1,000 words of a file; one finding is allowed in any file:

    group      limit  in tokio
    relative   3      1.6       `whoever, whom, who, whose, those, that of, such a, whichever`
    what-is    1      0.02      `what is, what has`
    nobody     0.5    0.01      `nobody, somebody`
    come       1      0.1
    tell       1      0.05
    stand      1      0.02
    one-that   1      0.02
    go-on      1      0

"the same" is allowed. Prose is the comments of programs in all languages of the tree (docstrings of Python, too), CMake, shell,
YAML and TOML, the line `why:` of a mutant, and Markdown without code and addresses of links. Spans of code in comments are no prose. The decisions up to 038 are exempt.
"""
import bisect
import io
import re
import tokenize

from .ratchet import Figure, Ratchet
from .tree import TOKENS

FAST = True
LAST_EXEMPT_DECISION = 38
DECISION = re.compile(r"docs/decisions/(\d+)-")
LIMITS = {"relative": 3, "what-is": 1, "nobody": 0.5, "come": 1, "tell": 1, "stand": 1, "one-that": 1, "go-on": 1}
GROUPS = {
    "relative": r"who(?:ever|m|se)?|those|that\s+of|such\s+an?|whichever",
    "what-is": r"what(?:\s+(?:is|are|was|were|has|have|had)|'s)",
    "nobody": r"nobody|somebody",
    "come": r"comes?|came|coming",
    "tell": r"tells?|told|telling",
    "stand": r"stands?|stood|standing",
    "one-that": r"ones?\s+that",
    "go-on": r"(?:go|goes|went|going|gone)\s+on",
}
FINDING = re.compile(r"\b(?<!-)(?:" + "|".join(f"(?P<{name.replace('-', '_')}>{words})" for name, words in GROUPS.items())
                     + r")(?![\w-])", re.I)
WORD = re.compile(r"[A-Za-z][\w'-]*")
GAP = "\0"  # between two pieces of prose: no expression spans it
FENCE = re.compile(r" *(?:```|~~~)")
LIST_ITEM = re.compile(r" {0,3}(?:[-*+]|\d+\.) ")
HASH_COMMENT = re.compile(r"(?:^|(?<=\s))#(?!!)[^\n]*", re.M)
WHY = re.compile(r"^why: ([^\n]*)", re.M)
CHARACTER = r"'(?:\\.[^'\n]*|[^'\\\n])'"  # a quote alone opens a lifetime of Rust
# What hides a comment beside "strings".
STRINGS = {"Go": r"`[^`]*`|" + CHARACTER, "Rust": r'r(#*)".*?"\1|' + CHARACTER, "Java": r'"""(?:\\.|.)*?"""|' + CHARACTER,
           "JavaScript": r"`(?:\\.|[^`\\])*`|'(?:\\.|[^'\\\n])*'"}
CODE = re.compile(r"(`+)[^`\0]{1,300}?\1|\]\([^)\s]*\)|https?://[^\s>)]*")
OPENING = (tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, None)  # a string after one of these is a docstring


def comments_among(tokens):
    """A reader of the comments that begin with a slash, among the matches of an expression."""
    return lambda text: [(match.start(), "  " + match.group()[2:]) for match in tokens.finditer(text)
                         if match.group().startswith("/")]


def comments_beside(strings):
    return comments_among(re.compile(strings + r'|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.S))


def comments_of_python(text):
    starts, pieces, last = [0], [], None
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT or token.type == tokenize.STRING and last in OPENING:
            pieces.append((starts[token.start[0] - 1] + token.start[1], token.string.replace("#", " ", 1)))
        if token.type not in (tokenize.COMMENT, tokenize.NL):
            last = token.type
    return [piece for piece in pieces if not piece[1].startswith(" !")]


def comments_after_hash(text):
    return [(match.start(), " " + match.group()[1:]) for match in HASH_COMMENT.finditer(text)]


def reason_of_mutant(text):
    return [(match.start(1), match.group(1)) for match in WHY.finditer(text.partition("\n--- find\n")[0])]


def lines_of_markdown(text):
    """Markdown without its blocks of code, fenced or indented."""
    offset, is_fenced, is_code, is_list, is_after_blank = 0, False, False, False, True
    for line in text.splitlines(keepends=True):
        fence, indented, blank = FENCE.match(line), line.startswith(("    ", "\t")), not line.strip()
        if LIST_ITEM.match(line):
            is_list = True
        elif is_after_blank and not blank and not line.startswith(" "):
            is_list = False
        is_code = (is_code or is_after_blank and not is_list) and (indented or is_code and blank)
        if not (fence or is_fenced or is_code):
            yield offset, line
        is_fenced, is_after_blank, offset = is_fenced != bool(fence), blank, offset + len(line)


# Each gives (offset, text): pieces of prose, as long as in the file.
PIECES = {"C++": comments_among(TOKENS), "assembly": comments_among(TOKENS), "Python": comments_of_python,
          "CSS": comments_among(re.compile(r"/\*.*?\*/", re.S)),
          **{language: comments_beside(strings) for language, strings in STRINGS.items()},
          **dict.fromkeys(("CMake", "shell", "YAML", "TOML"), comments_after_hash),
          "mutant": reason_of_mutant, "Markdown": lambda text: list(lines_of_markdown(text))}


class Prose:
    """The prose of a file in one string, without spans of code, and the way back to its lines."""

    def __init__(self, tree, path):
        text, parts, length, end = tree.texts[path], [], 0, 0
        self.tree, self.path, self.origins, self.starts = tree, path, [], []  # of the pieces: in the file, in the prose
        for offset, piece in PIECES[tree.language(path)](text):
            parts += [GAP if text[end:offset].strip() else "\n", piece]
            self.origins.append(offset)
            self.starts.append(length + 1)
            length, end = length + 1 + len(piece), offset + len(piece)
        self.text = CODE.sub(lambda match: " " * len(match.group()), "".join(parts))

    def line_of(self, offset):
        piece = bisect.bisect_right(self.starts, offset) - 1
        return self.tree.line_of(self.path, self.origins[piece] + offset - self.starts[piece])

    def findings(self):
        """{group: [(line, expression)]}"""
        found = {}
        for match in FINDING.finditer(self.text):
            words = " ".join(match.group().split())
            found.setdefault(match.lastgroup.replace("_", "-"), []).append((self.line_of(match.start()), words))
        return found

    def limits(self):
        """{group: how many findings the file may have}"""
        words = len(WORD.findall(self.text))
        return {group: max(1, int(limit * words / 1000)) for group, limit in LIMITS.items()}


def is_exempt(path):
    decision = DECISION.match(path)
    return decision is not None and int(decision.group(1)) <= LAST_EXEMPT_DECISION


def figures(tree):
    counts = {}
    for path in tree.texts:
        if tree.language(path) in PIECES and not is_exempt(path):
            prose = Prose(tree, path)
            found = prose.findings()
            limits = prose.limits() if found else {}
            for group, places in found.items():
                counts[path, group] = Figure(len(places), limits[group], places)
    return counts


RATCHET = Ratchet("tools/check/prose.tsv", 2, "expressions", figures)
check = RATCHET.check
