"""README's programs, outside of the tree, by README's own lines: in each way that it names, with static and shared libraries.

    find_package       its ```cmake block with find_package, on the installed package
    add_subdirectory   its block with add_subdirectory
    FetchContent       its block with FetchContent, whose repository is one made here of this tree
    pkg-config         its ```sh line with pkg-config, on the installed package
"""
import pathlib
import re
import shutil
import subprocess

PROJECT = """cmake_minimum_required(VERSION 3.25)
project(app LANGUAGES C CXX)
{targets}
{lines}
"""


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def block_with(text, language, word):
    """README's block that holds the word: there is exactly one."""
    found = [block for block in blocks(text, language) if word in block]
    if len(found) != 1:
        raise SystemExit(f"README.md has {len(found)} ```{language} blocks with {word}, not one")
    return found[0]


def for_each_target(block, targets):
    """The block, its line that links `app` once for each target."""
    lines = []
    for line in block.splitlines():
        lines += [line.replace("(app ", f"({name} ") for name in targets] if "(app " in line else [line]
    return "\n".join(lines)


class Readme:
    def __init__(self, source, folder, configure, must):
        self.source, self.folder, self.must = pathlib.Path(source), pathlib.Path(folder), must
        self.configure_options = configure
        self.text = (self.source / "README.md").read_text()
        self.programs = {f"program_{i}": block for i, block in enumerate(
            block for block in blocks(self.text, "cpp") if re.search(r"\bint\s+main\s*\(", block))}
        # A program that waits for clients: README says so above it, as for tests/snippets.
        self.endless = {name for name, block in self.programs.items()
                        if f"<!-- compile: -->\n```cpp\n{block}" in self.text}
        self.write_programs()

    def write_programs(self):
        (self.folder / "sources").mkdir(parents=True)
        for name, block in self.programs.items():
            (self.folder / f"sources/{name}.cpp").write_text(block)

    def run_all(self, where):
        for name in self.programs.keys() - self.endless:
            self.must(where / name)

    def by_cmake(self, way, block, *options):
        """Configures, builds and runs a project of all programs. Its CMakeLists.txt ends with the block."""
        project = self.folder / way
        project.mkdir()
        targets = "\n".join(f"add_executable({name} ../sources/{name}.cpp)" for name in self.programs)
        (project / "CMakeLists.txt").write_text(
            PROJECT.format(targets=targets, lines=for_each_target(block, self.programs)))
        if "add_subdirectory" in block:
            (project / "hocket").symlink_to(self.source)
        self.must(*self.configure_options, "-S", project, "-B", project / "build", *options)
        self.must("cmake", "--build", project / "build")
        self.run_all(project / "build")

    def by_find_package(self, kind, prefix):
        self.by_cmake(f"package_{kind}", block_with(self.text, "cmake", "find_package"), f"-DCMAKE_PREFIX_PATH={prefix}")

    def by_subdirectory(self, kind, *options):
        self.by_cmake(f"subdirectory_{kind}", block_with(self.text, "cmake", "add_subdirectory"), *options)

    def by_fetch(self, kind, *options):
        block = block_with(self.text, "cmake", "FetchContent")
        repository = self.folder / f"repository_{kind}"
        self.make_repository(repository)
        block, replaced = re.subn(r"GIT_REPOSITORY \S+", f"GIT_REPOSITORY file://{repository}", block)
        if replaced != 1:
            raise SystemExit("README's FetchContent block names no GIT_REPOSITORY")
        self.by_cmake(f"fetch_{kind}", block, *options)

    def make_repository(self, folder):
        """A repository. Its branch main holds this tree in its present state."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=self.source, capture_output=True,
                                text=True, check=True).stdout.splitlines()
        for name in listed:
            if (self.source / name).is_file():
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(self.source / name, folder / name)
        git = ("git", "-C", folder, "-c", "user.name=test", "-c", "user.email=test@example.org")
        self.must(*git, "init", "-q", "-b", "main")
        self.must(*git, "add", "-A")
        self.must(*git, "commit", "-q", "-m", "the tree")

    def by_pkg_config(self, kind, compiler, libraries):
        """README's line, with this build's compiler, for each program."""
        line = next(line for line in block_with(self.text, "sh", "pkg-config").splitlines() if "pkg-config" in line)
        where = self.folder / f"pkg_config_{kind}"
        where.mkdir()
        for name in self.programs:
            command = line.replace("g++", compiler, 1).replace("app.cpp", str(self.folder / f"sources/{name}.cpp"))
            command = command.replace("-o app", f"-Wl,-rpath,{libraries} -o {where / name}")
            self.must("sh", "-ec", command, env={"PKG_CONFIG_PATH": f"{libraries}/pkgconfig"})
        self.run_all(where)
