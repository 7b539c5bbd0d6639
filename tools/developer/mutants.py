"""./dev mutants: faults of tests/mutants, planted one by one in a copy of the tree. One test must find each.

A mutant is a file NAME.patch: a header, then a unified diff of our sources as `git diff` writes it.

    # target: model_runtime
    # test: what is posted from outside is taken
    # why: without the fence the poster overlooks a worker that falls asleep

`target` is a test program. `test` is the name of one test case of it. The mutant is killed if that test passes without
the patch, and fails with it. A test that does not end fails its mutant, too: a red run must name its test.

The copy is in build/mutants. It keeps its build folder, so that only what a patch touches is compiled again. What a run
leaves behind (interrupted, or with a patch applied), the next run repairs.
"""
import os
import pathlib
import re
import shutil
import subprocess
import time
from dataclasses import dataclass

from . import install
from .shell import BUILD, ROOT, Stop

PRESET = "dev"
FOLDER = "tests/mutants"
CASE_SECONDS = 40  # after which a test case ends its program and says its name (tests/support/deadline.cpp)
PROGRAM_SECONDS = 60
FIELDS = ("target", "test", "why")
SOURCES = ("src/", "include/", "ext/", "examples/")


@dataclass(frozen=True)
class Mutant:
    name: str
    patch: pathlib.Path
    target: str
    test: str
    why: str


def read(patch):
    text = patch.read_text()
    header = text.partition("\n--- ")[0]
    fields = dict(re.findall(r"^# (\w+): (.+)$", header, re.M))
    if missing := [field for field in FIELDS if field not in fields]:
        raise Stop(f"{patch.name} has no line `# {missing[0]}: ...`")
    for path in re.findall(r"^\+\+\+ b/(\S+)", text, re.M):
        if not path.startswith(SOURCES):
            raise Stop(f"{patch.name} changes {path}: a mutant is one of {', '.join(SOURCES)}")
    return Mutant(patch.stem, patch, *(fields[field] for field in FIELDS))


def read_all(root):
    """In the order in which they run: those of one program together."""
    return sorted((read(patch) for patch in (root / FOLDER).glob("*.patch")), key=lambda m: (m.target, m.name))


def named(mutants, names):
    known = {mutant.name: mutant for mutant in mutants}
    if unknown := [name for name in names if name not in known]:
        raise Stop(f"no mutant named {unknown[0]}; `./dev mutants --list` names them")
    return [known[name] for name in names]


def slice_of(mutants, number, parts):
    """Part `number`, from 0 and round again, of so many of equal length."""
    part = number % parts
    return mutants[len(mutants) * part // parts:len(mutants) * (part + 1) // parts]


def programs(build):
    return {path.name: str(path) for path in build.rglob("*") if path.is_file() and os.access(path, os.X_OK)}


def only(test):
    """doctest parts its filters at commas; a question mark stands for any character."""
    return f"--test-case={test.replace(',', '?')}"


class Copy:
    """A copy of the checkout with a build folder of its own."""

    def __init__(self, root, folder):
        self.root = root
        self.tree = folder / "tree"
        self.logs = folder / "logs"
        self.build_folder = self.tree / "build" / PRESET
        self.tree.mkdir(parents=True, exist_ok=True)
        self.logs.mkdir(parents=True, exist_ok=True)
        # The copy is no part of the checkout's repository: git looks no further up than here. The compiler's cache is
        # read and not written: what a run leaves there that ended while a source changed would be found by all others.
        self.environment = {**os.environ, "GIT_CEILING_DIRECTORIES": str(folder), "CCACHE_READONLY": "1",
                            "HOCKET_TEST_DEADLINE": str(CASE_SECONDS)}

    def synchronise(self):
        """Writes only what differs: what is the same is not compiled again."""
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=self.root, capture_output=True,
                                text=True, check=True).stdout.splitlines()
        wanted = {path for path in listed if (self.root / path).is_file()}
        for path in wanted:
            ours, theirs = self.root / path, self.tree / path
            if not theirs.is_file() or theirs.read_bytes() != ours.read_bytes():
                theirs.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ours, theirs)
        for folder, folders, files in os.walk(self.tree):
            if pathlib.Path(folder) == self.tree and "build" in folders:
                folders.remove("build")
            for file in files:
                path = pathlib.Path(folder) / file
                if str(path.relative_to(self.tree)) not in wanted:
                    path.unlink()

    def run(self, *command, log, seconds=None):
        """The exit code; None: it did not end in time. The output goes to a file."""
        with (self.logs / log).open("w") as out:
            try:
                return subprocess.run(command, cwd=self.tree, env=self.environment, stdin=subprocess.DEVNULL,
                                      stdout=out, stderr=subprocess.STDOUT, timeout=seconds).returncode
            except subprocess.TimeoutExpired:
                return None

    def configure(self):
        if self.run("cmake", "--preset", PRESET, "-DHOCKET_TEST_HOUSE=OFF", log="configure.log") != 0:
            raise Stop(f"the copy cannot be configured: {self.logs / 'configure.log'}")

    def build(self, target, log):
        return self.run("cmake", "--build", str(self.build_folder), "-j", str(os.cpu_count()), "--target", target,
                        log=log) == 0

    def test(self, mutant, log):
        """The exit code of the mutant's test; None: it hung."""
        return self.run(programs(self.build_folder)[mutant.target], only(mutant.test), log=log, seconds=PROGRAM_SECONDS)

    def apply(self, mutant, *options):
        return self.run("git", "apply", *options, str(mutant.patch), log=f"{mutant.name}.apply.log") == 0


def is_sound(copy, mutant, known):
    """Why the test says nothing of the mutant: it does not pass without it. None: it does."""
    key = (mutant.target, mutant.test)
    if key not in known:
        known[key] = why_unsound(copy, mutant)
    return known[key]


def why_unsound(copy, mutant):
    log = f"{mutant.name}.without.log"
    if not copy.build(mutant.target, log):
        return f"{mutant.target} cannot be built without it"
    if copy.test(mutant, log) != 0:
        return "the test fails without it"
    if not re.search(r"test cases: +[1-9]", (copy.logs / log).read_text(errors="replace")):
        return f"{mutant.target} has no test of this name"
    return None


def why_alive(copy, mutant):
    """With the patch applied. None: it is killed."""
    log = f"{mutant.name}.log"
    if not copy.build(mutant.target, log):
        return "does not compile"
    code = copy.test(mutant, log)
    if code is None:
        return f"the test hangs: no end within {PROGRAM_SECONDS} s"
    return "SURVIVES" if code == 0 else None


def judge(copy, mutant, known):
    """Why the mutant is not killed; None: it is."""
    if reason := is_sound(copy, mutant, known):
        return reason
    if not copy.apply(mutant):
        return "does not apply any more"
    try:
        return why_alive(copy, mutant)
    finally:
        if not copy.apply(mutant, "-R"):
            raise Stop(f"{mutant.name} cannot be taken back; the next run repairs the copy")


def run(mutants, root=ROOT, folder=BUILD / "mutants"):
    copy = Copy(root, folder)
    copy.synchronise()
    copy.configure()
    known, alive = {}, []
    for mutant in mutants:
        start = time.monotonic()
        reason = judge(copy, mutant, known)
        print(f"{time.monotonic() - start:7.1f} s  {mutant.name:34} {reason or 'killed'}"
              f"  [{mutant.target}: {mutant.test}]", flush=True)
        if reason:
            alive.append(mutant.name)
    print(f"{len(mutants) - len(alive)} of {len(mutants)} mutants killed")
    if alive:
        print(f"not killed: {' '.join(alive)}. Output of the tests: {copy.logs}")
    return 1 if alive else 0


def misfit(mutant, root, built):
    """Why it cannot be planted in the checkout, or no test of the programs that are built there would find it. None: it
    fits."""
    if subprocess.run(["git", "apply", "--check", str(mutant.patch)], cwd=root, capture_output=True).returncode != 0:
        return "does not apply any more"
    whole, _, noun = mutant.target.partition(".")   # a program of one file is a part of that one, and built on request
    if whole not in built:
        return f"there is no program {whole}"
    command = [built[whole], "--count", only(mutant.test), f"--source-file=*{noun}_test.*" if noun else "--source-file=*"]
    counted = subprocess.run(command, capture_output=True, text=True)
    return None if re.search(r"filters: +[1-9]", counted.stdout) else f"{mutant.target} has no test of this name"


def check(mutants, build, root=ROOT):
    built = programs(build)
    found = [(mutant, reason) for mutant in mutants if (reason := misfit(mutant, root, built))]
    for mutant, reason in found:
        print(f"{mutant.patch.name}: {reason}  [{mutant.test}]")
    print(f"{len(mutants) - len(found)} of {len(mutants)} mutants fit")
    return 1 if found else 0


def add_arguments(parser):
    parser.add_argument("name", nargs="*", help="these mutants alone")
    parser.add_argument("--check", type=pathlib.Path, metavar="BUILD",
                        help="run none: does each apply, and name a test of a program in this build folder?")
    parser.add_argument("--list", action="store_true", help="name them, and run none")
    parser.add_argument("--slice", type=int, default=0, metavar="N", help="part N of the parts; counts round and round")
    parser.add_argument("--of", type=int, default=1, metavar="M", help="how many parts of equal length there are")


def main(options):
    mutants = read_all(ROOT)
    chosen = named(mutants, options.name) if options.name else slice_of(mutants, options.slice, options.of)
    if options.list:
        for mutant in chosen:
            print(f"{mutant.name:34} [{mutant.target}: {mutant.test}] {mutant.why}")
        return 0
    if options.check:
        return check(chosen, options.check)
    install.ensure_packages("build", "debug", "extensions")
    return run(chosen)
