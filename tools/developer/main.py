"""usage: ./dev <verb> [arguments] [--no-install]

  setup                install what is missing, after saying what it is
  build [preset]       configure and build (default: dev)
  test [name]          build and run the tests with a matching name (default: all)
       --preset P      in that test preset, e.g. clang, asan, tsan
       --only A,B      build and run these test programs alone, e.g. unit_fiber
       --all           in every preset that this machine can do
  lab [arguments]      the comparison: build, measure, report (./dev lab --help)
  lab portability      each compiler that is here, and what it makes of coroutines (--help)
  lab bars, lab costs  write their tables into docs/ from the last report (--help)
  check [--fast]       the house rules; --fast: the rules that need no compiler and no installed tool
       --shrink        lower the figures of the lists that may only shrink
  fmt [--check]        format the C++ files
  mutants [name...]    plants each fault of tests/mutants in a copy of the tree: one test must find it
       --list          names them
       --alive         names the ones that no test finds yet
       --slice N --of M  one part of them
       --oldest N      the N with the oldest kill, or without one
       --record        writes the kills into tests/mutants/killed.tsv
       --sample N      N mutants by operators in src/ and include/, the share that the tests find, the survivors
       --layer A,B     of these layers (default: all that have a score in tests/README.md)
  rename OLD NEW       another name for an identifier in every file that git tracks (--help: kinds, limits)
       --header OLD NEW  moves a header or source, and changes what names it
       --table FILES   applies docs/renames.tsv to programs outside of the tree
  fresh [--keep]       setup, tests and lab in a clone on a bare Debian (needs root and mmdebstrap)
       --only A,B      setup and these test programs alone
  soak [--repeat N]    every preset, each test N times (default: 20), and those that need gigabytes; dev once without
                       optional tools; all mutants; a fresh machine. An interrupted run continues (--restart: begins
                       anew). Writes a row for each into SUPPORTED_PLATFORMS.md
  clean                remove build/
  help                 this text

A verb installs what it needs and lacks. --no-install or HOCKET_NO_INSTALL=1 forbids that.
"""
import argparse
import os
import shutil
import sys

from . import formatting, fresh, install, mutants, presets, sample, soak
from .shell import BUILD, ROOT, Stop, run


def setup(arguments):
    parser("setup").parse_args(arguments)
    install.setup()
    return 0


def build(arguments):
    p = parser("build")
    p.add_argument("preset", nargs="?", default=presets.DEFAULT)
    presets.build(p.parse_args(arguments).preset)
    return 0


def test(arguments):
    p = parser("test")
    p.add_argument("name", nargs="?", help="regular expression of test names")
    p.add_argument("--preset", default=presets.DEFAULT)
    p.add_argument("--only", metavar="A,B", help="build and run these test programs alone")
    p.add_argument("--without", metavar="A,B", help="do not run these test programs")
    p.add_argument("--all", action="store_true")
    options = p.parse_args(arguments)
    if options.only:
        return presets.test(options.preset, programs=options.only.split(","))
    if options.without:
        return presets.test(options.preset, options.name, without=options.without.split(","))
    if options.all:
        return presets.run_all(*(["-R", options.name] if options.name else []))
    return presets.test(options.preset, options.name)


def lab(arguments):
    if arguments[:1] == ["portability"]:
        install.ensure_packages("build")  # the compilers are for its user to install
    elif not {"--help", "-h", "--readme", "--render"}.intersection(arguments):
        install.ensure_lab()
    return run(sys.executable, str(ROOT / "lab/run.py"), *arguments)


def check(arguments):
    p = parser("check")
    p.add_argument("--fast", action="store_true")
    p.add_argument("--rule", help="this rule alone")
    p.add_argument("--shrink", action="store_true", help="lower the figures of the lists that may only shrink")
    options = p.parse_args(arguments)
    if options.shrink:
        from check.runner import shrink
        return shrink()
    if not options.fast:
        install.ensure_packages("build")
        install.ensure_venv()
    from check.runner import main as run_rules
    return run_rules(fast=options.fast, only=options.rule)


def fmt(arguments):
    p = parser("fmt")
    p.add_argument("--check", action="store_true")
    formatting.fmt(p.parse_args(arguments).check)
    return 0


def run_soak(arguments):
    p = parser("soak")
    p.add_argument("--repeat", type=int, default=20)
    p.add_argument("--restart", action="store_true", help="begin a new round, whatever an interrupted one has left")
    options = p.parse_args(arguments)
    if not install.forbidden():
        install.ensure_packages("build", "debug", "clang", "cross")
    if options.restart:
        soak.ROUND.unlink(missing_ok=True)
    parts = soak.parts(options.repeat, bare=lambda: presets.run_without_optional_tools("-LE", "lab"),
                       planted=lambda: mutants.run(mutants.killable(mutants.read_all(ROOT))) == 0,
                       bare_debian=on_bare_debian)
    return soak.run(parts)


def on_bare_debian():
    if reason := fresh.why_impossible():
        return soak.Outcome(f"not run: {reason}")
    return soak.verdict(fresh.run() == 0)


def plant(arguments):
    p = parser("mutants")
    mutants.add_arguments(p)
    sample.add_arguments(p)
    options = p.parse_args(arguments)
    if options.sample is None and (options.layer or options.seed is not None):
        raise Stop("--layer and --seed belong to --sample N")
    return mutants.main(options) if options.sample is None else sample.main(options)


def rename(arguments):
    from developer.rename import main as run_rename
    return run_rename(arguments)


def run_fresh(arguments):
    p = parser("fresh")
    fresh.add_arguments(p)
    return fresh.main(p.parse_args(arguments))


def clean(arguments):
    parser("clean").parse_args(arguments)
    shutil.rmtree(BUILD, ignore_errors=True)
    return 0


def help_(_):
    print(__doc__.strip())
    return 0


VERBS = {"setup": setup, "build": build, "test": test, "lab": lab, "check": check, "fmt": fmt, "soak": run_soak,
         "mutants": plant, "rename": rename, "fresh": run_fresh, "clean": clean,
         "help": help_, "--help": help_, "-h": help_}


def parser(verb):
    return argparse.ArgumentParser(prog=f"./dev {verb}", epilog="--no-install: install nothing")


def main(arguments):
    if "--no-install" in arguments:
        arguments = [word for word in arguments if word != "--no-install"]
        os.environ["HOCKET_NO_INSTALL"] = "1"  # the programs that we start see it too
    verb = arguments[0] if arguments else "help"
    if verb not in VERBS:
        print(f"./dev: no verb named {verb}\n\n{__doc__.strip()}", file=sys.stderr)
        return 2
    try:
        return VERBS[verb](arguments[1:])
    except Stop as reason:
        print(f"./dev {verb}: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
