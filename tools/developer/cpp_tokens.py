"""C++ text as tokens, and the position of an identifier among its neighbours.

The tokeniser knows what check.tree knows (comments, raw strings, strings, characters), #include lines and the text of #error.
It runs no preprocessor and knows no types. The text may be a fragment.
"""
import collections
import re

from check.tree import LITERALS

Token = collections.namedtuple("Token", "kind text start")
# An identifier. access: after `.` or `->`. designator: `.x =` of an initialiser. chain: the names before `::`, outermost
# first; "" is the global namespace, "?" is an expression. chain_start: where the chain begins. before: the token there.
Name = collections.namedtuple("Name", "text start access designator is_called chain chain_start before")

ENDINGS = (".hpp", ".cpp", ".h", ".c", ".S", ".cc", ".cxx", ".hh", ".hxx", ".ipp", ".inl", ".tpp", ".cppm")
TOKENS = re.compile(LITERALS + r"""
| (?P<include>^[ \t]*\#[ \t]*include[ \t]*[<"][^>"\n]+[>"]|__has_include[ ]*\([ ]*[<"][^>"\n]+[>"])
| (?P<message>^[ \t]*\#[ \t]*(?:error|warning)\b[^\n]*)
| (?P<number>\.?\d(?:[eEpP][+-]|'(?=\w)|[\w.])*)
| (?P<name>[A-Za-z_]\w*)
| (?P<mark>->\*|->|::|\.\.\.|\.\*|\S)
""", re.S | re.M | re.X)
TEXTS = ("comment", "message", "raw", "string")  # for readers; the compiler sees no names in them
KEYWORDS = frozenset("""alignas alignof asm auto bool break case catch char class co_await co_return co_yield concept const
consteval constexpr constinit const_cast continue decltype default delete do double dynamic_cast else enum explicit export
extern false float for friend goto if inline int long mutable namespace new noexcept nullptr operator private protected public
register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template this
throw true try typedef typeid typename union unsigned using virtual void volatile while""".split())
TEST_CASE = re.compile(r"\w*TEST_CASE\w*")


def tokenise(text):
    return [Token(match.lastgroup if match.lastgroup != "delimiter" else "raw", match.group(), match.start())
            for match in TOKENS.finditer(text)]


def in_code(tokens):
    return [token for token in tokens if token.kind != "comment"]


def before_template_arguments(code, last):
    """The index before the `<` that the `>` at `last` closes."""
    depth = 0
    for index in range(last, -1, -1):
        depth += (code[index].text == ">") - (code[index].text == "<")
        if depth == 0:
            return index - 1
    return -1


def chain_before(code, index):
    """The qualifiers of the name at `index`, and the index of the first token of the whole."""
    chain = []
    while index >= 1 and code[index - 1].text == "::":
        first = index - 2
        if first >= 0 and code[first].text == ">":
            first = before_template_arguments(code, first)
        if first >= 0 and code[first].kind == "name" and code[first].text not in KEYWORDS:
            chain.insert(0, code[first].text)
            index = first
        else:
            is_expression = first >= 0 and code[first].text == ")"
            return ["?" if is_expression else "", *chain], index - 1
    return chain, index


def position(code, index):
    """The Name at an index of the code's tokens."""
    chain, first = chain_before(code, index)
    last = first - 1
    if last >= 1 and code[last].text == "template":
        last -= 1
    before = code[last].text if last >= 0 else ""
    access = before in (".", "->")
    opener = code[last - 1].text if last >= 1 else "{"
    follower = code[index + 1].text if index + 1 < len(code) else ""
    designator = before == "." and opener in ("{", ",") and follower in ("=", "{")
    return Name(code[index].text, code[index].start, access, designator, follower == "(", chain, code[first].start, before)


def names(text, word):
    """Each place of the code where the identifier is."""
    if word not in text:
        return []
    code = in_code(tokenise(text))
    return [position(code, index) for index, token in enumerate(code) if token.kind == "name" and token.text == word]


def test_names(text):
    """The names of the test cases, in order: adjacent strings are one."""
    if "TEST_CASE" not in text:
        return []
    code, found = in_code(tokenise(text)), []
    for index, token in enumerate(code):
        if token.kind == "name" and TEST_CASE.fullmatch(token.text):
            strings = []
            for follower in code[index + 1:]:
                if follower.kind == "string":
                    strings.append(follower.text[1:-1])
                elif strings or follower.text in (")", ";"):
                    break
            found.append("".join(strings).replace('\\"', '"'))
    return found


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1
