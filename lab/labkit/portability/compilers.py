"""The compilers of lab/portability/compilers.json, their commands, and the emulators of their programs."""
import json
import pathlib
import re
import shlex
import shutil

from ..builders import ROOT

FOLDER = ROOT / "lab/portability"
REQUIREMENTS = FOLDER / "requirements.txt"
ZIG_FOLDER = ROOT / ".venv/lib"


def zig():
    """The program of PyPI's ziglang, in .venv or on PATH; None without it."""
    found = sorted(ZIG_FOLDER.glob("python3*/site-packages/ziglang/zig"))
    return str(found[-1]) if found else shutil.which("zig")


class Compiler:
    def __init__(self, entry, targets):
        self.id = entry["id"]
        self.slug = re.sub(r"[^a-z0-9]+", "-", self.id.replace("++", "xx").lower())
        self.target = entry["target"]
        self.needs = entry["needs"]
        self.presets = entry.get("presets", {})   # tests -> the preset that runs them
        self.arguments = entry["command"]
        self.library = entry.get("library")       # a header that it needs, if it takes no other library than its own
        self.run = targets[self.target]["run"]
        self.bits = targets[self.target]["bits"]
        self.suffix = targets[self.target].get("suffix", "")

    def command(self):
        """None if it is not here."""
        if self.library and not pathlib.Path(self.library).exists():
            return None
        first = zig() if self.arguments[0] == "zig" else shutil.which(self.arguments[0])
        return [first, *self.arguments[1:]] if first else None

    def remedy(self):
        """The command that brings it."""
        if self.needs == "zig":
            return f".venv/bin/pip install -r {REQUIREMENTS.relative_to(ROOT)}"
        return f"apt-get install --no-install-recommends {self.needs}"

    def script(self, folder):
        """One program for CMake, which takes no compiler of two words."""
        path = folder / "cxx"
        folder.mkdir(parents=True, exist_ok=True)
        path.write_text(f'#!/bin/sh\nexec {shlex.join(self.command())} "$@"\n', encoding="utf-8")
        path.chmod(0o755)
        return path


def read(path=FOLDER / "compilers.json"):
    data = json.loads(path.read_text(encoding="utf-8"))
    return [Compiler(entry, data["targets"]) for entry in data["compilers"]]
