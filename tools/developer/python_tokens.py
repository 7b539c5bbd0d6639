"""Python text as tokens: comments, strings, the expressions in f-strings, identifiers."""
import re

from .cpp_tokens import Token

TOKENS = re.compile(r"""
  (?P<comment>\#[^\n]*)
| (?P<string>(?:[rRbBuUfF]{1,2})?(?:(?P<long>\"\"\"|''').*?(?P=long)|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'))
| (?P<number>\.?\d(?:[eE][+-]|[\w.])*)
| (?P<name>[A-Za-z_]\w*)
| (?P<mark>\S)
""", re.S | re.X)
EXPRESSION = re.compile(r"\{\{|\}\}|\{(?P<code>(?:[^{}]|\{[^{}]*\})*)\}", re.S)


def pieces_of_string(text, start):
    """An f-string as its text and the tokens of its expressions."""
    opener = text[:min(text.find(quote) for quote in "\"'" if quote in text)]
    if "f" not in opener.lower():
        yield Token("string", text, start)
        return
    last = 0
    for match in EXPRESSION.finditer(text):
        if match.group("code") is not None:
            yield Token("string", text[last:match.start("code")], start + last)
            yield from tokenise(match.group("code"), start + match.start("code"))
            last = match.end("code")
    yield Token("string", text[last:], start + last)


def tokenise(text, start=0):
    tokens = []
    for match in TOKENS.finditer(text):
        if match.group("string"):
            tokens.extend(pieces_of_string(match.group(), start + match.start()))
        else:
            tokens.append(Token(match.lastgroup, match.group(), start + match.start()))
    return tokens
