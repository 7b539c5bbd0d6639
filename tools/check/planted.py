"""Planted trees for the tests of the rules: path -> text."""
LAYERS = "base:\ncore: base\ncontext: base\nfiber: base core context\n"
PARTS = "base:\ncore: base\ncore/low: base | a.hpp\ncore/high: base core/low | b.hpp\nfiber: base core\n"
ONCE = "#pragma once\n"
EXTENSION = {"ext/gc/include/hocket/gc/a.hpp": ONCE}


def header(layer, text, name="a"):
    return {f"include/hocket/{layer}/{name}.hpp": ONCE + text}


def source(text, layer="core"):
    return {f"src/{layer}/a.cpp": text}


def parts():
    """A layer with two parts, a public header of each, and another header of each."""
    return {"layers.txt": PARTS, **header("core", ""), **header("core", "", "b"), **header("core/low/detail", ""),
            **header("core/high/detail", "")}


def row(name, text):
    return {f"tools/check/{name}": text + "\n"}


def public(text, space="", path="core/a.hpp"):
    """A header whose names are in hocket, or in a namespace below it."""
    opened, closed = (f" namespace {space} {{", "}}}") if space else ("", "}}")
    return {f"include/hocket/{path}": f"{ONCE}namespace hocket {{ inline namespace HOCKET_ABI {{{opened}\n{text}{closed}\n"}


def page(*rows):
    return {"docs/headers.md": "".join(f"| `{path}` | {', '.join(f'`{name}`' for name in names)} | x |\n" for path, *names in rows)}
