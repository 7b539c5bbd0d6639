"""./dev lab portability: how each installed compiler compiles a generator, and hocket without fibers.

build/portability/results.json has a result for each compiler, and docs/portability.md is written from all of them. So a run
with --only measures some compilers again. Nothing is installed; for a missing compiler the output has the command that
installs it.
"""
import argparse
import datetime
import fnmatch
import json

from ..builders import ROOT
from . import compilers, cost, ir, measures, page, suites

FOLDER = ROOT / "build/portability"
RESULTS = FOLDER / "results.json"
PAGE = ROOT / "docs/portability.md"
PARTS = ("compilers", "ir", "cost")


def arguments(words):
    parser = argparse.ArgumentParser(prog="./dev lab portability", description=__doc__.split("\n\n")[0])
    parser.add_argument("--only", type=lambda text: text.split(","), metavar="A,B",
                        help="these compilers; patterns such as 'clang*' are allowed")
    parser.add_argument("--part", choices=PARTS, action="append", help="this part of the page alone (default: all)")
    parser.add_argument("--tests", choices=suites.KINDS, action="append",
                        help="hocket's tests, too: half an hour for each compiler, more where they are emulated")
    return parser.parse_args(words)


def chosen(patterns, known):
    for pattern in patterns or []:
        if not any(fnmatch.fnmatch(compiler.id, pattern) for compiler in known):
            raise SystemExit(f"lab: no compiler {pattern}; there are: {', '.join(compiler.id for compiler in known)}")
    return [compiler for compiler in known
            if not patterns or any(fnmatch.fnmatch(compiler.id, pattern) for pattern in patterns)]


def load():
    if not RESULTS.exists():
        return {"compilers": {}}
    try:
        return json.loads(RESULTS.read_text(encoding="utf-8"))
    except ValueError as problem:
        raise SystemExit(f"lab: {RESULTS} cannot be read ({problem}): remove it") from None


def save(results):
    """Replaces the file by a rename: an interrupted run keeps its results."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    unfinished = RESULTS.with_suffix(".unfinished")
    unfinished.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    unfinished.rename(RESULTS)


def say(text):
    print(text, flush=True)


def measure_compilers(selected, results):
    for compiler in selected:
        say(f"{compiler.id}: {' '.join(compiler.command())}")
        tests = results["compilers"].get(compiler.id, {}).get("tests", {})
        found = {**measures.measure(compiler, FOLDER / compiler.slug), "tests": tests}
        results["compilers"][compiler.id] = found
        save(results)
        say(f"  generator: {page.verdict(found['control']['problem'])}; hocket: {page.verdict(found['hocket']['problem'])}")


def run_tests(selected, kinds, results):
    for compiler in selected:
        for kind in kinds:
            if kind == "all" and kind not in compiler.presets or compiler.id not in results["compilers"]:
                continue
            say(f"{compiler.id}: tests, {kind}")
            done = suites.run(compiler, kind, FOLDER / compiler.slug)
            results["compilers"][compiler.id].setdefault("tests", {})[kind] = done
            save(results)
            say(f"  {done['verdict']}")


def write_page(known, results):
    measured = [(compiler, results["compilers"][compiler.id]) for compiler in known if compiler.id in results["compilers"]]
    if not measured:
        raise SystemExit("lab: nothing was measured: none of the compilers is installed")
    skipped = [compiler for compiler in known if compiler.id not in results["compilers"]]
    date = datetime.date.today().isoformat()
    PAGE.write_text(page.render(measured, skipped, results.get("ir"), results.get("cost"), date), encoding="utf-8")
    say(f"written: {PAGE}")


def main(words):
    options = arguments(words)
    parts = options.part or PARTS
    known = compilers.read()
    selected = chosen(options.only, known)
    for compiler in selected:
        if not compiler.command():
            say(f"skipped: {compiler.id}: {compiler.remedy()}")
    installed = [compiler for compiler in selected if compiler.command()]
    results = load()
    if "compilers" in parts:
        measure_compilers(installed, results)
    run_tests(installed, options.tests or [], results)
    if "ir" in parts and not options.only:
        results["ir"] = ir.compare_all(FOLDER / "ir")
        save(results)
    if "cost" in parts and not options.only:
        results["cost"] = cost.measure(FOLDER / "cost")
        save(results)
    write_page(known, results)
    return 0
