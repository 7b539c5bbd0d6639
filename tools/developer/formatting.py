"""clang-format over our C++ files, at the pinned version."""
from check.tree import tracked_or_new

from .install import VENV, ensure_venv
from .shell import ROOT, Stop, must

PROGRAM = VENV / "bin/clang-format"
FOLDERS = ["include", "src", "tests", "lab", "ext"]


def files():
    return [path for path in tracked_or_new(ROOT, *FOLDERS) if path.endswith((".hpp", ".cpp"))]


def fmt(check):
    if not ensure_venv():
        raise Stop("clang-format is missing: run `./dev setup`")
    if found := files():
        must(str(PROGRAM), *(["--dry-run", "--Werror"] if check else ["-i"]), *found)
