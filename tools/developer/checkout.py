"""The files that git tracks, read and written without a change of their bytes."""
import pathlib
import subprocess


class Checkout:
    def __init__(self, root):
        self.root = pathlib.Path(root)
        self.texts = {}
        self.paths = [path for path in self.git("ls-files", "-z").split("\0")
                      if path and (self.root / path).is_file() and not (self.root / path).is_symlink()]

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

    def changed_files(self):
        """How many tracked files differ from the last commit."""
        return len(self.git("status", "--porcelain", "-uno").splitlines())
