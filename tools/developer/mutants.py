"""./dev mutants: faults of tests/mutants, planted one by one in a copy of the tree. One test must find each.

A mutant is killed if its test passes without the fault and fails with it. A test that does not end fails its mutant, too:
a red run must name its test. What a mutant consists of is in mutant_file.py. Mutants that are alive are listed and checked,
and not run. killed.tsv says when each was killed last.
"""
import pathlib
import re
import subprocess
import time

from . import install
from .kill_table import KillTable
from .mutant_copy import PROGRAM_SECONDS, Copy, only, programs
from .mutant_file import Misfit, changed_files, read_all
from .shell import BUILD, ROOT, Stop


SURVIVES = "SURVIVES"


def killable(mutants):
    return [mutant for mutant in mutants if not mutant.alive]


def named(mutants, names):
    known = {mutant.name: mutant for mutant in mutants}
    if unknown := [name for name in names if name not in known]:
        raise Stop(f"no mutant named {unknown[0]}; `./dev mutants --list` names them")
    return [known[name] for name in names]


def slice_of(mutants, number, parts):
    """Part `number`, from 0 and round again, of so many of equal length."""
    part = number % parts
    return mutants[len(mutants) * part // parts:len(mutants) * (part + 1) // parts]


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
    """With the fault planted. None: the mutant is killed."""
    log = f"{mutant.name}.log"
    if not copy.build(mutant.target, log):
        return "does not compile"
    code = copy.test(mutant, log)
    if code is None:
        return f"the test hangs: no end within {PROGRAM_SECONDS} s"
    return SURVIVES if code == 0 else None


def judge(copy, mutant, known):
    """Why the mutant is not killed; None: it is."""
    try:
        texts = changed_files(mutant, copy.tree)
    except Misfit as reason:
        return str(reason)
    if reason := is_sound(copy, mutant, known):
        return reason
    with copy.fault(texts):
        return why_alive(copy, mutant)


def run(mutants, root=ROOT, folder=BUILD / "mutants", table=None):
    copy = Copy(root, folder)
    copy.synchronise()
    copy.configure()
    known, alive = {}, []
    for mutant in mutants:
        start = time.monotonic()
        reason = judge(copy, mutant, known)
        seconds = time.monotonic() - start
        print(f"{seconds:7.1f} s  {mutant.name:34} {reason or 'killed'}  [{mutant.target}: {mutant.test}]", flush=True)
        if reason:
            alive.append(mutant.name)
        if table is not None and not reason:
            table.record(mutant.name, seconds)
        elif table is not None and reason == SURVIVES:
            table.remove(mutant.name)
    print(f"{len(mutants) - len(alive)} of {len(mutants)} mutants killed")
    if alive:
        print(f"not killed: {' '.join(alive)}. Output of the tests: {copy.logs}")
    return 1 if alive else 0


def why_misfit(mutant, root, built):
    """Why it cannot be planted in the checkout, or no test of the programs that are built there would find it. None: it
    fits."""
    try:
        changed_files(mutant, root)
    except Misfit as reason:
        return str(reason)
    if mutant.alive:
        return None
    whole, _, noun = mutant.target.partition(".")   # a program of one file is a part of that one, and built on request
    if whole not in built:
        return f"there is no program {whole}"
    command = [built[whole], "--count", only(mutant.test), f"--source-file=*{noun}_test.*" if noun else "--source-file=*"]
    counted = subprocess.run(command, capture_output=True, text=True)
    return None if re.search(r"filters: +[1-9]", counted.stdout) else f"{mutant.target} has no test of this name"


def check(mutants, build, root=ROOT):
    built = programs(build)
    misfits = [(mutant, reason) for mutant in mutants if (reason := why_misfit(mutant, root, built))]
    for mutant, reason in misfits:
        print(f"{mutant.path.name}: {reason}  [{mutant.test or mutant.alive}]")
    print(f"{len(mutants) - len(misfits)} of {len(mutants)} mutants fit")
    return 1 if misfits else 0


def check_table(table, mutants):
    unknown = table.rows.keys() - {mutant.name for mutant in mutants if not mutant.alive}
    for name in sorted(unknown):
        print(f"{table.path.name}: there is no mutant {name} that a test kills: remove its row")
    return 1 if unknown else 0


def print_list(mutants):
    for mutant in mutants:
        finder = f"alive: {mutant.alive}" if mutant.alive else f"{mutant.target}: {mutant.test}"
        print(f"{mutant.name:34} [{finder}] {mutant.why}")


def print_alive(mutants):
    for mutant in sorted(mutants, key=lambda mutant: (mutant.alive, mutant.kind)):
        print(f"{mutant.name:38} {mutant.alive}  {mutant.kind}: {mutant.why}")
    print(f"{len(mutants)} mutants are alive")


def add_arguments(parser):
    parser.add_argument("name", nargs="*", help="these mutants alone")
    parser.add_argument("--check", type=pathlib.Path, metavar="BUILD",
                        help="run none: does each apply, and name a test of a program in this build folder?")
    parser.add_argument("--list", action="store_true", help="name them, and run none")
    parser.add_argument("--alive", action="store_true", help="name those that no test kills yet, and run none")
    parser.add_argument("--slice", type=int, default=0, metavar="N", help="part N of the parts; counts round and round")
    parser.add_argument("--of", dest="parts", type=int, default=1, metavar="M", help="how many parts of equal length there are")
    parser.add_argument("--oldest", type=int, metavar="N", help="the N that were killed longest ago, or never")
    parser.add_argument("--record", action="store_true", help="write the kills into tests/mutants/killed.tsv")


def choose(options, mutants, table):
    if options.name:
        return named(mutants, options.name)
    if options.oldest is not None:
        return table.oldest(killable(mutants), options.oldest)
    if options.parts == 1 and (options.check or options.list):
        return mutants
    return slice_of(killable(mutants), options.slice, options.parts)


def main(options):
    mutants, table = read_all(ROOT), KillTable(ROOT)
    chosen = choose(options, mutants, table)
    if options.alive or options.list:
        print_alive([mutant for mutant in mutants if mutant.alive]) if options.alive else print_list(chosen)
        return 0
    if options.check:
        return max(check(chosen, options.check), check_table(table, mutants))
    if alive := [mutant for mutant in chosen if mutant.alive]:
        raise Stop(f"{alive[0].name} is alive until {alive[0].alive}: it names no test")
    install.ensure_packages("build", "debug", "extensions")
    return run(chosen, table=table if options.record else None)
