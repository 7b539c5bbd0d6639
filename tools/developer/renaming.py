"""One renaming, and which tokens and words of a text it changes (tools/developer/rename.py explains the rules)."""
import re
from dataclasses import dataclass, field

from . import cpp_tokens, python_tokens
from .shell import Stop

KINDS = ("any", "name", "member", "field")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
PLAIN_WORD = re.compile(r"[a-z]+|[A-Z][a-z]+")
FOREIGN = ("std", "asio", "boost", "folly", "absl", "tokio", "cppcoro", "coro", "libco", "")  # roots of qualified names
ENDING = r"\.(?:hpp|cpp|h|c|md|py|txt|cmake|mutant|tsv|json|S)\b"
SPAN = re.compile(r"`[^`\n]+`")
CHANGED, PLACE, IGNORED = "changed", "place", "ignored"


@dataclass(frozen=True)
class Renaming:
    old: str  # the last part, if it is qualified
    new: str
    kind: str = "any"
    qualifier: tuple = ()
    is_python: bool = False
    declared: tuple = ()  # paths of the declarations, for member, field and qualified names

    @property
    def is_plain(self):
        """An English word, as far as a program can know."""
        return bool(PLAIN_WORD.fullmatch(self.old))

    @property
    def is_positional(self):
        """Whether the position of a token decides outside of the declared files."""
        return self.kind in ("member", "field") or bool(self.qualifier)

    def is_declared_in(self, path):
        return is_below(path, self.declared)

    def takes(self, name, path):
        """Whether a C++ identifier in this file is renamed."""
        if is_foreign(name.chain) and tuple(name.chain) != self.qualifier:
            return False
        if self.qualifier:
            is_qualified = tuple(name.chain[-len(self.qualifier):]) == self.qualifier
            return is_qualified or self.is_declared_in(path) and not name.chain and not name.access
        if self.kind == "field":
            return not name.is_called and (self.is_declared_in(path) or name.access)
        if self.kind == "member":
            return self.is_declared_in(path) or name.access and not name.designator
        return not (self.kind == "name" and name.access)

    def judge_word(self, text, start, in_span, path):
        """What becomes of the word at `start` of a comment, string or document."""
        before, after = text[max(0, start - 200):start], text[start + len(self.old):]
        run = re.search(r"[\w./-]*$", before).group() + self.old + re.match(r"[\w./-]*", after).group()
        if re.search(ENDING, run):
            return IGNORED
        chain = tuple(re.search(r"((?:\w*::)*)$", before).group(1).split("::")[:-1])
        if is_foreign(chain) or re.match(r"\(\d\)", after):
            return IGNORED
        access = re.search(r"[\w)\]](?:\.|->)$" + (r"|[{,] ?\.$" if self.kind == "field" else ""), before)
        if self.is_positional and not self.is_declared_in(path):
            fits = chain[-len(self.qualifier):] == self.qualifier if self.qualifier else bool(access)
            return CHANGED if fits and (self.qualifier or not self.is_plain or in_span or after[:1] == "(") else PLACE
        if self.kind == "name" and access:
            return IGNORED
        if "/" in (before[-1:], after[:1]) or "-" in (before[-1:], after[:1]):
            return PLACE
        if is_of_others(path, text, start) and self.is_plain:
            return PLACE
        return CHANGED if not self.is_plain or in_span or chain or re.match(r"\(|::|<[\w:]", after) else PLACE


def is_of_others(path, text, start):
    """Whether the word probably is another library's: the guides for its users have our names in the last column alone."""
    if path == "lab/README.md":
        return True
    line = text[text.rfind("\n", 0, start) + 1:(text + "\n").index("\n", start)]
    column = start - text.rfind("\n", 0, start) - 1
    return path.startswith("docs/from-") and line.startswith("|") and column < line.rstrip(" |").rfind("|")


@dataclass
class Result:
    """A changed text. places: offsets of words in the text before the change that a reader should look at."""
    text: str = ""
    tokens: int = 0
    words: int = 0
    places: list = field(default_factory=list)

    def append(self, other, offset):
        self.text += other.text
        self.tokens += other.tokens
        self.words += other.words
        self.places += [offset + place for place in other.places]


def make(old, new, **options):
    *qualifier, last = old.split("::")
    *new_qualifier, new_last = new.split("::")
    for word in (*qualifier, last, *new_qualifier, new_last):
        if not IDENTIFIER.fullmatch(word) or word in cpp_tokens.KEYWORDS:
            raise Stop(f"`{word}` is no identifier")
    if new_qualifier and new_qualifier != qualifier:
        raise Stop(f"{new} has another qualifier than {old}: only the last name changes")
    if last == new_last:
        raise Stop("both names are equal")
    return Renaming(last, new_last, qualifier=tuple(qualifier), **options)


def word(old):
    """The expression of a whole word; also behind the flag that defines a macro."""
    return rf"(?:(?<!\w)|(?<=-D)){old}(?!\w)"


def is_foreign(chain):
    return bool(chain) and chain[0] in FOREIGN and tuple(chain[:2]) != ("", "hocket")


def is_below(path, folders):
    return any(path == folder or path.startswith(folder.rstrip("/") + "/") for folder in folders)


def replace(text, starts, old, new):
    pieces, last = [], 0
    for start in starts:
        pieces += [text[last:start], new]
        last = start + len(old)
    return "".join([*pieces, text[last:]])


def in_words(text, renaming, path, changes=True):
    """A comment, string or document. changes: False only finds the places."""
    spans = [match.span() for match in SPAN.finditer(text) if not match.group().startswith("`./")]
    starts, places = [], []
    for match in re.finditer(word(renaming.old), text):
        in_span = any(first <= match.start() < last for first, last in spans)
        verdict = renaming.judge_word(text, match.start(), in_span, path)
        if verdict == CHANGED and changes:
            starts.append(match.start())
        elif verdict != IGNORED:
            places.append(match.start())
    return Result(replace(text, starts, renaming.old, renaming.new), words=len(starts), places=places)


def only_places(text, renaming):
    return Result(text, places=[match.start() for match in re.finditer(word(renaming.old), text)])


def in_tokens(text, tokens, renaming, path, starts, texts):
    """The text with the identifiers at `starts` renamed, and the words in the tokens of kinds `texts`."""
    result, last = Result(), 0
    for token in tokens:
        result.text += text[last:token.start]
        last = token.start + len(token.text)
        if token.start in starts:
            result.append(Result(renaming.new, tokens=1), token.start)
        elif token.kind in texts and renaming.old in token.text:
            result.append(in_words(token.text, renaming, path), token.start)
        else:
            result.text += token.text
    result.text += text[last:]
    return result


def in_cpp(text, renaming, path):
    if renaming.is_python:
        return Result(text)
    found = cpp_tokens.names(text, renaming.old)
    starts = {name.start for name in found if renaming.takes(name, path)}
    result = in_tokens(text, cpp_tokens.tokenise(text), renaming, path, starts, cpp_tokens.TEXTS)
    if renaming.kind in ("member", "field"):  # free names are declarations of other classes, perhaps
        result.places += [name.start for name in found if name.start not in starts and not is_foreign(name.chain)]
    return result


def python_starts(text, renaming, path):
    tokens = [token for token in python_tokens.tokenise(text) if token.kind != "comment"]
    starts = set()
    for before, token in zip([python_tokens.Token("mark", "", 0), *tokens], tokens):
        if token.kind == "name" and token.text == renaming.old:
            access = before.text == "."
            if renaming.kind == "any" or renaming.is_declared_in(path) or access == (renaming.kind != "name"):
                starts.add(token.start)
    return starts


def in_python(text, renaming, path):
    starts = python_starts(text, renaming, path)
    if renaming.is_python:
        return in_tokens(text, python_tokens.tokenise(text), renaming, path, starts, ("comment", "string"))
    result = in_tokens(text, python_tokens.tokenise(text), renaming, path, set(), ("comment", "string"))
    result.places = sorted([*result.places, *starts])
    return result


def in_part(part, renaming):
    """A Result for one part of a file."""
    if part.kind == "fixed" or renaming.old not in part.text:
        return Result(part.text)
    if part.kind == "cpp":
        return in_cpp(part.text, renaming, part.path)
    if part.kind == "python":
        return in_python(part.text, renaming, part.path)
    if part.kind in ("prose", "data", "test") or part.kind == "build" and renaming.old.isupper():
        return in_words(part.text, renaming, part.path)
    if part.kind == "build" or not renaming.is_plain:
        return only_places(part.text, renaming)
    return Result(part.text)
