"""Finds code that is not C++20 in the preprocessed sources of a portable build (HOCKET_PORTABLE), without system headers.

    preprocessed.py <root> <compiler> [flag...]       every source and header of the stackless layers must be clean, and the same
                                                      sources, not portable, must not: otherwise the check finds nothing
    preprocessed.py --self <compiler> [flag...]       each fault, planted, must be found
"""
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import tempfile

MARKER = re.compile(r'# \d+ "([^"]*)"([ \d]*)$')
# What every compiler that is compatible with g++ has, and no function of C++20 replaces.
BUILTINS = {"add_overflow", "mul_overflow", "sub_overflow", "return_address", "source_location", "unreachable", "load_n", "store_n"}
FAULTS = {
    "asm": re.compile(r"\b(?:__)?asm(?:__)?\b(?:\s+(?:volatile|__volatile__|goto))*\s*\("),
    "vendor's attribute": re.compile(r"\b__attribute(?:__)?\b|\b__declspec\b|\[\[[^\]]*\b(?:gnu|clang|gcc|msvc|lcc)\s*::"),
    "pragma": re.compile(r"^\s*#\s*pragma\s+(?!once\b)|\b_Pragma\b"),
    "extension": re.compile(r"\b(?:__extension__|__thread|__int128|__typeof__)\b"),
}
BUILTIN = re.compile(r"\b__(?:builtin|sync|atomic)_(\w+)")
STACKFUL = {"context", "stack", "fiber", "model"}


def own_lines(text):
    """(file, line) of all code outside of system headers: the flag 3 of a line marker stands for a system header."""
    file, system = "", False
    for line in text.splitlines():
        if marker := MARKER.match(line):
            file, system = marker[1], "3" in marker[2].split()
        elif not system and line.strip():
            yield file, line


def faults_in(text):
    found = []
    for file, line in own_lines(text):
        found += [(file, kind, line.strip()) for kind, pattern in FAULTS.items() if pattern.search(line)]
        found += [(file, f"builtin {name}", line.strip()) for name in BUILTIN.findall(line) if name not in BUILTINS]
    return found


def preprocessed(compiler, source, *flags):
    command = [*compiler, "-std=c++20", "-pedantic-errors", *flags, "-E", "-x", "c++", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}\n{done.stderr}")
    return done.stdout


def stackless(folder, ending):
    return sorted(path for path in folder.rglob(f"*{ending}") if not STACKFUL.intersection(path.relative_to(folder).parts[:1]))


def sources_of(root, portable):
    """The sources of a portable build: of two alternative files the one that src/*/CMakeLists.txt takes."""
    others = {"os_thread", "native" if portable else "portable", *(["native"] if portable else ["conforming"])}
    return [path for path in stackless(root / "src", ".cpp") if path.parent.name not in others]


def all_headers(root, folder):
    """A source that includes all headers but the umbrella with stacks."""
    paths = [path.relative_to(root / "include") for path in stackless(root / "include/hocket", ".hpp")]
    source = folder / "headers.cpp"
    source.write_text("".join(f"#include <{path}>\n" for path in paths if path.name != "hocket.hpp"))
    return source


def look(root, compiler, portable):
    """(number of files, faults)"""
    flags = [f"-DHOCKET_PORTABLE={int(portable)}", f"-DHOCKET_CONFORMING={int(portable)}", "-DHOCKET_CHECKS=2",
             f"-I{root / 'include'}", f"-I{root / 'src'}"]
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        sources = [*sources_of(root, portable), all_headers(root, pathlib.Path(folder))]
        found = list(pool.map(lambda source: faults_in(preprocessed(compiler, source, *flags)), sources))
    return len(sources), sorted({fault for faults in found for fault in faults})


PLANTED = {
    'void f() { asm volatile(""); }': "asm",
    "void f() { __asm__ (\"nop\"); }": "asm",
    "[[gnu::cold]] void f();": "vendor's attribute",
    "[[noreturn, clang::musttail]] void f();": "vendor's attribute",
    "__attribute__((cold)) void f();": "vendor's attribute",
    "#pragma GCC optimize(3)": "pragma",
    "__thread int n;": "extension",
    "void f(void* p) { __builtin_prefetch(p); }": "builtin prefetch",
}
CLEAN = "#pragma once\n#include <atomic>\n#include <cstdlib>\n#include <vector>\n[[noreturn]] void assemble(int);\n"


def check_self(compiler):
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder) / "planted.cpp"
        for text, kind in [*PLANTED.items(), (CLEAN, None)]:
            source.write_text(text + "\n")
            kinds = {found for _, found, _ in faults_in(preprocessed(compiler, source))}
            if kinds != ({kind} if kind else set()):
                sys.exit(f"{text}\nfound: {kinds}, not: {kind}")
    print(f"{len(PLANTED)} planted faults found")


def main(arguments):
    if arguments[0] == "--self":
        return check_self(arguments[1:])
    root, compiler = pathlib.Path(arguments[0]), arguments[1:]
    files, faults = look(root, compiler, portable=True)
    print(f"{files} files, {len(faults)} faults")
    for file, kind, line in faults:
        print(f"{file}: {kind}: {line}")
    if faults or files < 100:
        return 1
    control = {kind for _, kind, _ in look(root, compiler, portable=False)[1]}
    print("a build that is not portable has:", *sorted(control))
    return 0 if {"asm", "vendor's attribute"} <= control else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
