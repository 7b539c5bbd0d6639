"""clang-format over our C++ files, at the pinned version."""
import subprocess

from .install import VENV, ensure_venv
from .shell import ROOT, Stop, must

PROGRAM = VENV / "bin/clang-format"
FOLDERS = ["include", "src", "tests", "lab", "ext"]


def files():
    listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "--", *FOLDERS], cwd=ROOT,
                            capture_output=True, text=True, check=True).stdout
    return [path for path in listed.splitlines() if path.endswith((".hpp", ".cpp")) and (ROOT / path).exists()]


def fmt(check):
    if not ensure_venv():
        raise Stop("clang-format is missing: run `./dev setup`")
    if found := files():
        must(str(PROGRAM), *(["--dry-run", "--Werror"] if check else ["-i"]), *found)
