"""The files that the rules look at: a checkout, or a handful of planted files in the rules' own tests."""
import ast
import bisect
import collections
import functools
import pathlib
import re
import subprocess

Finding = collections.namedtuple("Finding", "path line text")

CPP = (".hpp", ".cpp", ".h", ".S")
LANGUAGES = {".hpp": "C++", ".cpp": "C++", ".h": "C++", ".c": "C++", ".py": "Python", ".md": "Markdown", ".cmake": "CMake",
             ".sh": "shell", ".S": "assembly", ".go": "Go", ".rs": "Rust", ".java": "Java", ".js": "JavaScript", ".css": "CSS",
             ".yml": "YAML", ".yaml": "YAML", ".toml": "TOML", ".mutant": "mutant"}
INTERPRETERS = {"#!/usr/bin/env python3": "Python", "#!/usr/bin/env bash": "shell"}

# Comments, strings, characters and raw strings. A quote between digits (1'000) opens no character. The first line is for
# speed: it rejects most positions.
LITERALS = r"""(?=["'/uULR])(?:
  (?P<comment>//(?:[^\\\n]|\\.)*|/\*.*?\*/)
| (?P<string>(?:(?<!\w)(?:u8|[uUL]))?"(?:\\.|[^"\\\n])*")
| (?:(?<!\w)|(?<=case)|(?<=return))(?P<character>(?:u8|[uUL])?'(?:\\.|[^'\\\n])+')
| (?<!\w)(?P<raw>(?:u8|[uUL])?R"(?P<delimiter>[^(\s\\"]*)\(.*?\)(?P=delimiter)"))"""
TOKENS = re.compile(LITERALS, re.S | re.X)
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.M)

EXTENSION_ROOT = re.compile(r"ext/(?:\w+/)+?include/")


def blank(match, keep_strings):
    text = match.group()
    if keep_strings and not text.startswith("/"):
        return text
    return "".join(c if c == "\n" else " " for c in text)


def git_files(root, *arguments):
    """The files that `git ls-files` lists and that exist, in order."""
    listed = subprocess.run(["git", "ls-files", "-z", *arguments], cwd=root, capture_output=True, text=True, check=True).stdout
    return [path for path in sorted(set(listed.split("\0")) - {""}) if (pathlib.Path(root) / path).is_file()]


def tracked_or_new(root, *folders):
    """What git tracks or would track: new files count before they are added, ignored ones never."""
    return git_files(root, "-co", "--exclude-standard", "--", *folders)


class Tree:
    """Paths relative to the root, in order, and their text."""

    def __init__(self, root, texts):
        self.root = pathlib.Path(root)
        self.texts = texts

    @classmethod
    def checkout(cls, root):
        texts = {}
        for path in tracked_or_new(root):
            if b"\0" not in (data := (pathlib.Path(root) / path).read_bytes()):
                texts[path] = data.decode(errors="replace")
        return cls(root, texts)

    @classmethod
    def planted(cls, root, texts):
        """A tree of the given texts, written below root for the rules that run programs."""
        for path, text in texts.items():
            file = pathlib.Path(root) / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text)
        return cls(root, dict(texts))

    def paths(self, *folders, endings=CPP):
        return [path for path in self.texts if path.endswith(endings)
                and (not folders or path.startswith(tuple(folder + "/" for folder in folders)))]

    def public_headers(self):
        return self.paths("include", endings=(".hpp",))

    def extension_headers(self):
        return [path for path in self.texts if EXTENSION_ROOT.match(path) and path.endswith(".hpp")]

    @functools.lru_cache(maxsize=None)
    def code(self, path, keep_strings=False):
        """The text with comments (and strings) blanked: line numbers and columns stay."""
        return TOKENS.sub(lambda match: blank(match, keep_strings), self.texts[path])

    @functools.lru_cache(maxsize=None)
    def includes(self, path):
        """(line, name) of each #include."""
        code = self.code(path, keep_strings=True)
        return [(code.count("\n", 0, match.start(1)) + 1, match.group(1)) for match in INCLUDE.finditer(code)]

    @functools.cached_property
    def extension_roots(self):
        """The include folders of the extensions."""
        return sorted({match.group() for match in map(EXTENSION_ROOT.match, self.texts) if match})

    @property
    def include_roots(self):
        """The folders from which an #include names a project file: the library's, and the extensions'."""
        return ["include/", "src/", "tests/", *self.extension_roots]

    def resolve(self, path, name):
        """The project file that an #include in `path` means, or None."""
        beside = str(pathlib.PurePosixPath(path).parent / name)
        return next((file for file in (beside, *(root + name for root in self.include_roots)) if file in self.texts), None)

    def language(self, path):
        """By the ending of the name or, without one, by the line that names the interpreter; None for others."""
        file = pathlib.PurePosixPath(path)
        if file.name == "CMakeLists.txt":
            return "CMake"
        if not file.suffix:
            return INTERPRETERS.get(self.texts[path].partition("\n")[0])
        return LANGUAGES.get(file.suffix)

    @functools.lru_cache(maxsize=None)
    def syntax(self, path):
        """The syntax tree of a Python program."""
        return ast.parse(self.texts[path])

    @functools.lru_cache(maxsize=None)
    def line_ends(self, path):
        return [match.start() for match in re.finditer("\n", self.texts[path])]

    def line_of(self, path, offset):
        """The line of an offset into the text, or into the code."""
        return bisect.bisect_left(self.line_ends(path), offset) + 1

    def lines(self, path):
        return self.texts[path].splitlines()


def matches(tree, path, pattern):
    """(line, match) of a pattern in the code of a file."""
    code = tree.code(path)
    for match in re.finditer(pattern, code):
        yield code.count("\n", 0, match.start()) + 1, match


def table(tree, path, columns):
    """Rows of a list file: columns separated by ' | ', comments and empty lines left out. (line, columns...)"""
    rows = []
    for number, line in enumerate(tree.lines(path) if path in tree.texts else [], 1):
        if line.strip() and not line.startswith("#"):
            cells = [cell.strip() for cell in line.split("|", columns - 1)]
            rows.append((number, *cells, *[""] * (columns - len(cells))))
    return rows
