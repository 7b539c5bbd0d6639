"""Editors can read the tree: Universal Ctags finds each class, concept and macro, and a tag in each file with a function.

.ctags.d/hocket.ctags has the patterns for definitions that ctags misses by itself; tools/check/unread.txt lists the rest, with
reasons.
"""
import json
import re
import shutil
import subprocess

from .size import cpp_functions
from .tools import Unavailable, output
from .tree import Finding, table

FAST = False
LIST = "tools/check/unread.txt"
OPTIONS = ".ctags.d/hocket.ctags"
TYPE = re.compile(r"^ *(?:template <[^\n]*> )?(?:class|struct|union|enum(?: class| struct)?)"
                  r"(?: \[\[[^\n]*?\]\]| alignas\([^\n]*?\))* (?:\w+::)*(\w+)(?: final)?(?: :[^;{()]*)? ?\{", re.M)
CONCEPT = re.compile(r"^ *concept (\w+) =", re.M)
MACRO = re.compile(r"^ *# *define (\w+)", re.M)
ANY = "any tag"


def names_in(tree, path):
    """[(line, name)] of the types, concepts and macros, and the first function under the name ANY."""
    code = tree.code(path)
    found = [(tree.line_of(path, match.start(1)), match.group(1))
             for pattern in (TYPE, CONCEPT, MACRO) for match in pattern.finditer(code)]
    functions = list(cpp_functions(code))[:1]
    return found + [(first, ANY) for _, first, _ in functions]


def ensure_ctags():
    if not shutil.which("ctags"):
        raise Unavailable("ctags is not installed (Debian package universal-ctags)")
    _, version = output(["ctags", "--version"])
    _, features = output(["ctags", "--list-features"])
    if "Universal Ctags" not in version or not re.search(r"^json\b", features, re.M):
        raise Unavailable("ctags is not Universal Ctags with JSON output (Debian package universal-ctags)")


def run_ctags(tree, paths):
    """(output, faults): the lines of JSON, and what ctags says against its options or files."""
    options = [f"--options={tree.root / OPTIONS}"] if OPTIONS in tree.texts else []
    run = subprocess.run(["ctags", "--options=NONE", *options, "--language-force=C++", "--output-format=json", "-L", "-"],
                         cwd=tree.root, input="\n".join(paths) + "\n", capture_output=True, text=True)
    faults = [line for line in run.stderr.splitlines() if line.startswith("ctags: ") and "Notice:" not in line]
    return run.stdout, faults or ([f"ctags: exit code {run.returncode}"] if run.returncode else [])


def tags_of(text, paths):
    """{path: names} of all that ctags finds but namespaces."""
    tags = {path: set() for path in paths}
    for tag in map(json.loads, text.splitlines()):
        if tag.get("kind") != "namespace":
            tags[tag["path"]].update((tag["name"].split("::")[-1], ANY))
    return tags


def check(tree):
    paths = [path for path in tree.texts if tree.language(path) == "C++"]
    ensure_ctags()
    text, faults = run_ctags(tree, paths)
    if faults:
        return [Finding(OPTIONS, 0, fault) for fault in faults]
    tags, findings, needed = tags_of(text, paths), [], set()
    reasons = {(path, name): (number, reason) for number, path, name, reason in table(tree, LIST, 3)}
    for path in paths:
        for line, name in names_in(tree, path):
            if name not in tags[path]:
                needed.add((path, name))
                if not reasons.get((path, name), (0, ""))[1]:
                    findings.append(Finding(path, line, f"ctags does not find {name}: see {OPTIONS}, or give a reason in "
                                                        f"{LIST}"))
    findings += [Finding(LIST, number, f"{path} | {name}: ctags finds it, or it is gone")
                 for (path, name), (number, _) in reasons.items() if (path, name) not in needed]
    return findings
