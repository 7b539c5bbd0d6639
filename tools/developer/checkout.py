"""The files that git tracks, read and written without a change of their bytes."""
import pathlib
import re
import subprocess

from check.tree import git_files


class Checkout:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.texts = {}
        self.paths = [path for path in git_files(root) if not (self.root / path).is_symlink()]

    def git(self, *arguments):
        return subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True, check=True).stdout

    def read(self, path):
        """The text; "" of a binary file."""
        if path not in self.texts:
            data = (self.root / path).read_bytes()
            self.texts[path] = "" if b"\0" in data else data.decode(errors="surrogateescape")
        return self.texts[path]

    def write(self, path, text):
        (self.root / path).write_bytes(text.encode(errors="surrogateescape"))
        self.texts[path] = text

    def untracked_with(self, word):
        """The new files that have the word: nothing changes them."""
        return [path for path in git_files(self.root, "-o", "--exclude-standard")
                if re.search(rf"\b{re.escape(word)}\b", self.read(path))]

    def changed_files(self):
        """How many tracked files differ from the last commit."""
        return len(self.git("status", "--porcelain", "-uno").splitlines())
