"""./dev mutants --sample N: N mutants made by operators, and the share of them that the tests find.

The mutants of tests/mutants are faults that their authors thought of. A sample has no author: a seed, which is printed, chooses
sites (sites.py) and operators (operators.py) in the sources of each layer. All mutants are compiled at once into one copy of
the tree, each behind a run-time switch: the environment variable HOCKET_SAMPLED holds the number of the active mutant. One
run of each test program without a mutant notes which switches it reaches. A mutant then runs the programs that reach it, the
quickest first, until one fails. A mutant that no program notices survives.

A survivor that changes nothing a caller can observe belongs into tests/mutants/equivalent.tsv, with its reason; a sample
does not choose it.
"""
import json
import os
import pathlib
import random
import re
import subprocess
import time
from dataclasses import dataclass, field

from check.tree import Tree

from . import install
from .mutant_copy import Copy
from .operators import variants
from .shell import BUILD, ROOT, Stop, head_commit
from .sites import Site, planted, sites

EQUIVALENT = "tests/mutants/equivalent.tsv"
SPARE = 1.5  # some candidates do not compile
SLOWEST = 180  # seconds of a program that is asked; models with switches in their code take longer
SWITCHES = 4096  # bytes of the file in which a program notes the switches that it reaches
# The sources of a part that is no layer; the programs that test a part beside the ones of its name.
EXTENSIONS = ["hook", "pg", "redis", "gc"]
MORE_PROGRAMS = {"io": ["unit_net", "unit_net_calls", "unit_io_memory"], "net": ["unit_io_memory", "regress_io"],
                 "sync": ["unit_runtime", "unit_runtime_stackful"], "coro": ["unit_runtime"], "core": ["unit_sync", "unit_coro", "unit_runtime"],
                 "fiber": ["unit_runtime_stackful"], "stack": ["unit_fiber"], "time": ["unit_runtime"],
                 "pool": ["ext_redis_scripted", "ext_pg_scripted"], "runtime": ["unit_net_lookup"]}
SCORED = ["io", "net", "pool", "sync", "coro", "manager", "runtime", "hook", "pg", "redis"]
SWITCH_HEADER = "include/hocket/base/detail/sampled.hpp"
SWITCH_SOURCE = "src/base/sampled.cpp"
SWITCH = {
    SWITCH_HEADER: """#pragma once
extern "C" bool hocket_is_sampled(int number) noexcept;
constexpr bool hocket_sampled(int number) noexcept { return !__builtin_is_constant_evaluated() && hocket_is_sampled(number); }
""",
    SWITCH_SOURCE: """#include <hocket/base/detail/sampled.hpp>
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
namespace {
int number_of_environment() noexcept {
  const char* const text = std::getenv("HOCKET_SAMPLED");
  return text ? std::atoi(text) : 0;
}
unsigned char* map_reached() noexcept {
  const char* const path = std::getenv("HOCKET_REACHED");
  const int fd = path ? ::open(path, O_RDWR | O_CLOEXEC) : -1;
  if (fd < 0) return nullptr;
  void* const memory = ::mmap(nullptr, SWITCHES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}
int active = -1;  // until the first call, which may be before the constructors of this program
unsigned char* reached = nullptr;
}
extern "C" bool hocket_is_sampled(int number) noexcept {
  if (active < 0) {
    reached = map_reached();
    active = number_of_environment();
  }
  if (reached) reached[number] = 1;
  return number == active;
}
"""}
# A planted text may compare a boolean or leave a name unused.
QUIET = "".join(f'#pragma GCC diagnostic ignored "-W{name}"\n' for name in (
    "unused-variable", "unused-parameter", "unused-but-set-variable", "parentheses", "bool-compare", "conversion", "sign-compare",
    "implicit-fallthrough", "bool-operation", "int-in-bool-context", "unused-value", "old-style-cast"))


@dataclass(frozen=True)
class Candidate:
    layer: str
    path: str
    site: Site
    operator: str
    text: str
    variant: str

    def line(self, tree):
        return tree.texts[self.path].count("\n", 0, self.site.begin) + 1


@dataclass
class Program:
    name: str
    seconds: float = 0.0
    reached: set = field(default_factory=set)


def folders_of(layer):
    return [f"ext/{layer}/src", f"ext/{layer}/include"] if layer in EXTENSIONS else [f"src/{layer}", f"include/hocket/{layer}"]


def equivalents(tree):
    """(path, text, variant) of the survivors that change nothing: the rows of a file whose columns tabs separate."""
    return {tuple(row.split("\t")[:3]) for row in tree.texts.get(EQUIVALENT, "").splitlines()[1:]}


def squeezed(text):
    return re.sub(r"\s+", " ", text).strip()


def candidates(tree, layer, chance):
    """Sites in an order drawn by `chance`, one mutant for each."""
    left_out = equivalents(tree)
    places = [(path, site) for path in tree.paths(*folders_of(layer), endings=(".cpp", ".hpp")) for site in sites(tree.code(path))]
    chance.shuffle(places)
    for path, site in places:
        text = tree.texts[path][site.begin:site.end]
        by_operator = {}
        for operator, variant in variants(site.kind, text):
            if (path, squeezed(text), squeezed(variant)) not in left_out:
                by_operator.setdefault(operator, []).append(variant)
        if by_operator and "//" not in text:
            operator = chance.choice(sorted(by_operator))
            yield Candidate(layer, path, site, operator, text, chance.choice(by_operator[operator]))


def first_of(items, count):
    return [item for item, _ in zip(items, range(count))]


def shares(layers, count):
    """{layer: mutants}, which differ by one at most."""
    whole, rest = divmod(count, len(layers))
    return {layer: whole + (index < rest) for index, layer in enumerate(layers)}


def draw(tree, layers, count, seed):
    """Mutants by number, from 1; a part for each layer, and some to spare."""
    chance = random.Random(seed)
    drawn = []
    for layer, share in shares(layers, count).items():
        part = first_of(candidates(tree, layer, chance), int(share * SPARE) + 1)
        if not part:
            raise Stop(f"no site in {' '.join(folders_of(layer))}: is {layer} a layer?")
        drawn += part
    if len(drawn) >= SWITCHES:
        raise Stop(f"a sample has at most {int(SWITCHES / SPARE)} mutants")
    return dict(enumerate(drawn, 1))


def planted_texts(tree, mutants):
    """{path: text} of every file that mutants change, and {path: [(first line, last line, number)]} of the planted places."""
    texts, places = {}, {}
    by_path = {}
    for number, mutant in mutants.items():
        by_path.setdefault(mutant.path, []).append((mutant.site.begin, number, mutant))
    for path, rows in by_path.items():
        text, at = f"#include <{SWITCH_HEADER.removeprefix('include/')}>\n{QUIET}", 0
        for begin, number, mutant in sorted(rows, key=lambda row: row[0]):
            text += tree.texts[path][at:begin]
            first = text.count("\n") + 1
            text += planted(mutant.site, mutant.text, mutant.variant, number)
            places.setdefault(path, []).append((first, text.count("\n") + 1, number))
            at = mutant.site.end_of_place()
        texts[path] = text + tree.texts[path][at:]
    return texts, places


def at_fault(output, places, root):
    """The numbers of the mutants with an error of the compiler in their lines."""
    found = set()
    for path, line in re.findall(r"^(\S+?):(\d+):(?:\d+:)? (?:fatal )?error", output, re.M):
        path = path.removeprefix(f"{root}/")
        path = next((known for known in places if path.endswith(known)), path)
        found |= {number for first, last, number in places.get(path, ()) if first - 1 <= int(line) <= last + 1}
    return found


class Sampler:
    def __init__(self, root, folder):
        self.tree = Tree.checkout(root)
        self.copy = Copy(root, folder)
        self.build_folder = self.copy.build_folder

    def configure(self):
        """The copy as it is, and the switch beside it."""
        self.copy.synchronise()
        for path, text in SWITCH.items():
            self.write(path, text.replace("SWITCHES", str(SWITCHES)))
        lists = self.copy.tree / "src/base/CMakeLists.txt"
        lists.write_text(lists.read_text() + "\ntarget_sources(hocket_base PRIVATE sampled.cpp)\n")
        self.copy.configure()

    def write(self, path, text):
        file = self.copy.tree / path
        if not file.is_file() or file.read_text() != text:
            file.write_text(text)

    def programs_of(self, layer):
        listed = subprocess.run(["ctest", "--test-dir", self.build_folder, "-N"], capture_output=True, text=True).stdout
        known = re.findall(r"Test +#\d+: (\w+)$", listed, re.M)
        own = [name for name in known if re.fullmatch(rf"(?:unit|model|regress|ext)_{layer}(?:_\w+)?", name)]
        return own + [name for name in MORE_PROGRAMS.get(layer, []) + ["regress"] if name in known and name not in own]

    def plant(self, mutants):
        texts, self.places = planted_texts(self.tree, mutants)
        for path in {mutant.path for mutant in self.drawn.values()}:
            self.write(path, texts.get(path, self.tree.texts[path]))

    def compile_commands(self):
        """{source: command}; a file that a unity build makes stands for the sources that it includes."""
        commands = {}
        for row in json.loads((self.build_folder / "compile_commands.json").read_text()):
            file, command = pathlib.Path(row["file"]), row["command"].split()
            parts = re.findall(r'#include "(.+)"', file.read_text()) if file.suffix == ".cxx" else [file]
            for part in parts:
                commands.setdefault(str(part).removeprefix(f"{self.copy.tree}/"), command)
        return commands

    def compile_alone(self, path, layer, commands):
        """The compiler's errors in one file. A header is included by a unit with the flags of a source of its layer."""
        command = commands.get(path) or next(command for source, command in commands.items()
                                             if source.startswith(folders_of(layer)[0]))
        flags = command[:command.index("-o")]
        unit = "" if path.endswith(".cpp") else f'#include "{self.copy.tree / path}"\n'
        source = self.copy.tree / path if not unit else "-"
        done = subprocess.run([*flags, "-fsyntax-only", "-x", "c++", source], input=unit, capture_output=True, text=True,
                              cwd=self.build_folder)
        return "" if done.returncode == 0 else done.stdout + done.stderr

    def drop_what_does_not_compile(self, mutants):
        """File by file, which is quicker than the build; sources that this preset leaves out drop, too."""
        commands = self.compile_commands()
        for path in sorted({mutant.path for mutant in mutants.values()}):
            own = {number for number, mutant in mutants.items() if mutant.path == path}
            if path.endswith(".cpp") and path not in commands:
                self.drop(mutants, own, "this preset leaves the source out")
            layer = next(mutant.layer for mutant in self.drawn.values() if mutant.path == path)
            while own & mutants.keys() and (output := self.compile_alone(path, layer, commands)):
                bad = at_fault(output, self.places, self.copy.tree) & own & mutants.keys()
                if not bad and self.fails_without_mutants(path, layer, commands, mutants, own):
                    raise Stop(f"{path} does not compile without a mutant:\n{output[-2000:]}")
                self.drop(mutants, bad or own & mutants.keys(), "does not compile")

    def fails_without_mutants(self, path, layer, commands, mutants, own):
        self.plant({number: mutant for number, mutant in mutants.items() if number not in own})
        output = self.compile_alone(path, layer, commands)
        self.plant(mutants)
        return bool(output)

    def drop(self, mutants, numbers, reason):
        for number in sorted(numbers):
            print(f"  dropped: {reason}: {describe(mutants.pop(number), self.tree)}", flush=True)
        self.plant(mutants)

    def build(self, mutants, targets):
        """Builds all of them; drops the mutants that only an instantiation shows to be wrong."""
        for _ in range(8):
            code = self.copy.run("cmake", "--build", str(self.build_folder), "-j", str(os.cpu_count()), "--target", *targets,
                                 "--", "-k", "0", log="build.log")
            if code == 0:
                return
            output = (self.copy.logs / "build.log").read_text(errors="replace")
            bad = at_fault(output, self.places, self.copy.tree) & mutants.keys()
            if not bad:
                raise Stop(f"the copy does not build: {self.copy.logs / 'build.log'}")
            self.drop(mutants, bad, "does not compile")
        raise Stop("the copy does not build after eight tries")

    def run(self, program, seconds, **environment):
        """Whether the tests of a program pass."""
        command = ["ctest", "--test-dir", str(self.build_folder), "-R", f"^{program}(@.*)?$", "--timeout", str(seconds),
                   "--output-on-failure", "--stop-on-failure"]
        with (self.copy.logs / f"{program}.log").open("w") as out:
            return subprocess.run(command, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT,
                                  env={**self.copy.environment, "HOCKET_TEST_DEADLINE": str(seconds),
                                       **environment}).returncode == 0

    def measure(self, name):
        """One run without a mutant: how long it takes and which switches it reaches. None: it takes too long to be asked."""
        reached = self.copy.logs / f"{name}.reached"
        reached.write_bytes(bytes(SWITCHES))
        start = time.monotonic()
        if not self.run(name, SLOWEST, HOCKET_REACHED=str(reached)):
            if time.monotonic() - start >= SLOWEST:
                print(f"  left out: {name} takes more than {SLOWEST} s", flush=True)
                return None
            raise Stop(f"{name} fails without a mutant: {self.copy.logs / name}.log")
        numbers = {number for number, byte in enumerate(reached.read_bytes()) if byte}
        return Program(name, time.monotonic() - start, numbers)

    def finder(self, number, programs):
        """The program that notices a mutant; None if it survives."""
        for program in programs:
            seconds, case_seconds = int(3 * program.seconds) + 30, str(int(program.seconds) + 30)
            if number in program.reached and not self.run(program.name, seconds, HOCKET_SAMPLED=str(number),
                                                          HOCKET_TEST_DEADLINE=case_seconds):
                if not self.run(program.name, seconds):
                    raise Stop(f"{program.name} fails without a mutant, too: {self.copy.logs / program.name}.log")
                return program.name
        return None


def chosen_of(mutants, layers, count):
    numbers = [number for layer, share in shares(layers, count).items()
               for number in first_of((n for n, mutant in mutants.items() if mutant.layer == layer), share)]
    return {number: mutants[number] for number in numbers}


def describe(mutant, tree):
    return f"{mutant.path}:{mutant.line(tree)} {mutant.operator}: `{squeezed(mutant.text)[:90]}` -> `{squeezed(mutant.variant)[:90]}`"


def report(sampler, verdicts, layers, seed):
    print(f"\nseed {seed}, commit {head_commit(sampler.copy.root)}")
    print(f"{'layer':10} {'sampled':>8} {'found':>6} {'share':>6}")
    for layer in layers:
        rows = [finder for mutant, finder in verdicts if mutant.layer == layer]
        found = sum(finder is not None for finder in rows)
        print(f"{layer:10} {len(rows):8} {found:6} {100 * found // max(1, len(rows)):5}%")


def judge(sampler, mutants, programs):
    """Prints a line for each mutant; returns (mutant, the program that finds it or None)."""
    verdicts = []
    for number, mutant in mutants.items():
        start = time.monotonic()
        finder = sampler.finder(number, programs[mutant.layer])
        reached = any(number in program.reached for program in programs[mutant.layer])
        verdict = f"found by {finder}" if finder else "SURVIVES" if reached else "SURVIVES (no program reaches it)"
        print(f"{time.monotonic() - start:7.1f} s  {number:3} {verdict:34} {describe(mutant, sampler.tree)}", flush=True)
        verdicts.append((mutant, finder))
    return verdicts


def run(count, layers, seed=None, root=ROOT, folder=BUILD / "sample"):
    seed = random.randrange(1 << 30) if seed is None else seed
    print(f"seed {seed}", flush=True)
    sampler = Sampler(root, folder)
    sampler.drawn = draw(sampler.tree, layers, count, seed)
    sampler.configure()
    mutants = dict(sampler.drawn)
    sampler.plant(mutants)
    sampler.drop_what_does_not_compile(mutants)
    mutants = chosen_of(mutants, layers, count)
    sampler.plant(mutants)
    names = {layer: sampler.programs_of(layer) for layer in layers}
    sampler.build(mutants, sorted({name for part in names.values() for name in part}))
    measured = {name: sampler.measure(name) for name in sorted({name for part in names.values() for name in part})}
    programs = {layer: sorted(filter(None, (measured[name] for name in part)), key=lambda program: program.seconds)
                for layer, part in names.items()}
    report(sampler, judge(sampler, mutants, programs), layers, seed)
    return 0


def add_arguments(parser):
    parser.add_argument("--sample", type=int, metavar="N", help="N mutants made by operators, and the share that the tests find")
    parser.add_argument("--layer", metavar="A,B", help="of these layers alone")
    parser.add_argument("--seed", type=int, help="the seed that a former sample printed")


def main(options):
    if options.sample <= 0:
        raise Stop("--sample takes the number of mutants, 1 or more")
    install.ensure_packages("build", "debug", "extensions", "clients")
    return run(options.sample, options.layer.split(",") if options.layer else SCORED, options.seed)
