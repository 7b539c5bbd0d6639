"""Headers compile alone, with each compiler and without a warning: each as C++20, and as C++23 without RTTI the umbrellas,
and what these do not include. If a header opens the namespace HOCKET_ABI, then the macro is defined after it: without
<hocket/base/seam/platform/config.hpp> the namespace would have that word as its name.

What lies in a folder named after another architecture is compiled for that one, by its cross compilers.
"""
import pathlib
import platform
import shutil

from .tree import Finding
from .tools import compilers, in_parallel, output

CONFIG = "include/hocket/base/seam/platform/config.hpp"
FAST = False
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wold-style-cast", "-Werror"]
ALONE, TOGETHER = ["-std=c++20"], ["-std=c++23", "-fno-rtti"]
DEFINITIONS = ["-DHOCKET_CHECKS=2", "-DHOCKET_CONFORMING=0"]
ARCHITECTURES = {"aarch64", "riscv64", "x86_64"}


def unit_of(path):
    """A translation unit that is the header alone, twice: an include guard that fails shows too."""
    line = f"#include <{path.removeprefix('include/')}>\n"
    return line + line


def parts_of_config(tree):
    """Headers that config.hpp includes: the macro is defined before them there, and no other header includes them."""
    return {tree.resolve(CONFIG, name) for _, name in tree.includes(CONFIG)} if CONFIG in tree.texts else set()


def layout_check(tree, path):
    if "HOCKET_ABI" not in tree.texts[path] or path in parts_of_config(tree):
        return ""
    return f"#ifndef HOCKET_ABI\n#error include <{CONFIG.removeprefix('include/')}>\n#endif\n"


def included_by_umbrellas(tree):
    """The headers that some umbrella (include/hocket/*.hpp) includes, itself or through others.

    A file in a folder `platform` chooses between headers: what it includes does not count.
    """
    reached, pending = set(), [path for path in tree.public_headers() if path.count("/") == 2]
    while pending:
        path = pending.pop()
        if "platform" in pathlib.PurePosixPath(path).parts:
            continue
        found = {tree.resolve(path, name) for _, name in tree.includes(path)} - reached - {None}
        reached |= found
        pending += found
    return reached


def foreign_target(path):
    """The target of a header that lies in a folder of another architecture, else None."""
    foreign = ARCHITECTURES.intersection(pathlib.PurePosixPath(path).parts) - {platform.machine()}
    return foreign.pop() + "-linux-gnu" if foreign else None


def commands_for(path):
    """The compilers that can know the registers which the header names; none, if they are not installed."""
    target = foreign_target(path)
    if not target:
        return [[compiler] for compiler in compilers()]
    if not shutil.which(f"{target}-g++"):  # clang uses that one's libraries
        return []
    return [[f"{target}-g++"] if compiler == "g++" else [compiler, f"--target={target}"] for compiler in compilers()]


def left_out(tree):
    """What this machine cannot compile, and what it lacks for that."""
    return [f"{path}: {foreign_target(path)}-g++ is not installed" for path in tree.public_headers()
            if not commands_for(path)]


def compile_alone(tree, path, compiler, mode):
    include = ["-I", str(tree.root / "include")]
    code, text = output([*compiler, *mode, *DEFINITIONS, *WARNINGS, "-fsyntax-only", *include, "-x", "c++", "-"],
                        unit_of(path) + layout_check(tree, path))
    if code == 0:
        return None
    error = next((line for line in text.splitlines() if "error" in line), text[:200])
    return Finding(path, 1, f"alone with {' '.join(compiler)} {' '.join(mode)}: {error}")


def check(tree):
    included = included_by_umbrellas(tree)
    jobs = [(path, compiler, mode) for path in tree.public_headers() for compiler in commands_for(path)
            for mode in ([ALONE] if path in included else [ALONE, TOGETHER])]
    return [finding for finding in in_parallel(lambda job: compile_alone(tree, *job), jobs) if finding]
