"""Counts how much the coroutines of two targets of one compiler differ, in LLVM's intermediate representation.

Document 000 compares the output of `clang++ -std=c++20 -emit-llvm -S main.cpp` for two targets by diff, and reads the result.
Here the difference is counted. Properties of a target or of a numbering are removed first: names of values, attributes,
metadata, alignments, extensions of parameters. The structure remains: functions, blocks, and instructions with their types.
"""
import difflib
import re

from .attempts import attempt
from .compilers import FOLDER, zig
from .measures import COMPILE_SECONDS

LEVELS = ("-O0", "-O2")
TARGETS = ("x86_64", "aarch64", "riscv64", "s390x", "powerpc64le")
BASE = TARGETS[0]

FUNCTION = re.compile(r'^define .*?@("[^"]+"|[\w.$-]+)\(')
LABEL = re.compile(r'^("[^"]+"|[\w.$-]+):')
PART = re.compile(r"fibonacci")   # the ramp and the parts that the compiler splits from it
NOISE = [
    (re.compile(r";.*$"), ""),
    (re.compile(r",? ![\w.]+(?: ![\w.]+)?(?:\([^)]*\))?"), ""),
    (re.compile(r" #\d+"), ""),
    (re.compile(r"(, )?\balign \d+"), ""),
    (re.compile(r"\b(?:dereferenceable(?:_or_null)?|captures|range|memory|nofpclass)\([^)]*\) ?"), ""),
    (re.compile(r"\b(?:signext|zeroext|noundef|nonnull|noalias|inreg|local_unnamed_addr|unnamed_addr|dso_local|nocapture|"
                r"tail|notail|nuw|nsw|inbounds|comdat(?:\(\S+\))?) ?"), ""),
    (re.compile(r'%(?:"[^"]+"|[\w.$-]+)'), "%"),
]


def normalised(line):
    for pattern, replacement in NOISE:
        line = pattern.sub(replacement, line)
    return " ".join(line.split())


def functions(text):
    """{name: lines} of the functions of the module: normalised instructions, and "label" for each block."""
    found, body = {}, None
    for line in text.splitlines():
        if opened := FUNCTION.match(line):
            body = found.setdefault(opened[1].strip('"'), ["label"])
        elif line == "}":
            body = None
        elif body is not None and LABEL.match(line):
            if len(body) > 1:   # the first block may be named or not
                body.append("label")
        elif body is not None and (code := normalised(line)):
            body.append(code)
    return found


def differing(base, other):
    """The number of lines without an equal line in the other function."""
    blocks = difflib.SequenceMatcher(None, base, other, autojunk=False).get_matching_blocks()
    matched = sum(block.size for block in blocks)
    return max(len(base), len(other)) - matched


def compared(base, other):
    """Counts common and different parts of two modules, of all functions and of the functions of the coroutine."""
    both = sorted(base.keys() & other.keys())
    parts = [name for name in both if PART.search(name)]
    different = {name: differing(base[name], other[name]) for name in both}
    return {
        "both": len(both), "only_one": len(base.keys() ^ other.keys()),
        "different_functions": sum(1 for count in different.values() if count),
        "lines": sum(max(len(base[name]), len(other[name])) for name in both), "different_lines": sum(different.values()),
        "parts": len(parts), "part_blocks": [sum(side[name].count("label") for name in parts) for side in (base, other)],
        "part_lines": [sum(len(side[name]) - side[name].count("label") for name in parts) for side in (base, other)],
        "part_different": sum(different[name] for name in parts),
    }


def compilers():
    """{name: function from a target to the command}"""
    found = {"clang 19": lambda target: ["clang++-19", f"--target={target}-linux-gnu"]}
    if zig():
        found["zig c++"] = lambda target: [zig(), "c++", "-target", f"{target}-linux-musl", "-fno-sanitize=all"]
    return found


def module_of(command, level, folder):
    """(the problem, functions)"""
    path = folder / "control.ll"
    path.unlink(missing_ok=True)
    done = attempt([*command, "-std=c++20", level, "-fno-discard-value-names", "-emit-llvm", "-S", FOLDER / "control.cpp", "-o", path],
                   COMPILE_SECONDS)
    return (done.problem, {}) if done.problem else ("", functions(path.read_text(encoding="utf-8", errors="replace")))


def compare_all(folder):
    folder.mkdir(parents=True, exist_ok=True)
    rows = []
    for name, command in compilers().items():
        for level in LEVELS:
            problem, base = module_of(command(BASE), level, folder)
            for target in TARGETS[1:]:
                own, other = (problem, {}) if problem else module_of(command(target), level, folder)
                rows.append({"compiler": name, "level": level, "target": target, "problem": own,
                             **(compared(base, other) if not own else {})})
    return rows
