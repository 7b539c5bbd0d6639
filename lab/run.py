#!/usr/bin/env python3
"""The lab: runs small programs of many coroutine systems in turn and compares them.

Usually called as `./dev lab`. Builds hocket and the subjects into build/lab, unless --build names a directory with a build.
Measures, prints tables, and writes report.json and report.html beside the subjects.
"""
import argparse
import os
import pathlib
import shlex
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import against, bars, builders, catalogue, costs, overview, profile, report, servers, source_documents, terminal, webpage  # noqa: E402 (the path is set first)
from labkit.measure import INTERRUPTED, Measurement  # noqa: E402
from labkit.portability import command as portability  # noqa: E402


def arguments():
    parser = argparse.ArgumentParser(prog="./dev lab", description=__doc__.split("\n\n")[0],
                                     epilog=f"other verbs, each with --help: {' '.join(VERBS)}")
    parser.add_argument("--page", action="append", metavar="NAME", help="a page to measure (default: every page, once)")
    parser.add_argument("--systems", type=lambda s: s.split(","), metavar="A,B",
                        help="only these systems; patterns such as 'hocket-*' are allowed")
    parser.add_argument("--runs", type=int, help="repetitions; without it, as many as fit into the time, at most 9")
    mode = parser.add_mutually_exclusive_group()
    mode.add_argument("--full", action="store_true", help="a million coroutines, too; takes many minutes")
    mode.add_argument("--smoke", action="store_true", help="each subject once, as short as possible")
    parser.add_argument("--build", type=pathlib.Path, help="where the C++ subjects have been built already")
    parser.add_argument("--against", metavar="REV",
                        help="compares hocket's own subjects with those of this commit: which rows became slower or faster")
    parser.add_argument("--readme", action="store_true",
                        help="measure nothing: write README's table of figures from the last report.json")
    parser.add_argument("--render", type=pathlib.Path, nargs="+", metavar="REPORT.JSON",
                        help="measure nothing: write report.html from these files; each page is taken from the last file that has it")
    options = parser.parse_args()
    if options.runs is not None and options.runs < 1:
        parser.error("--runs: at least 1")
    if options.against is not None and (options.full or options.smoke or options.build):
        parser.error("--against goes with --page, --systems and --runs only")
    return options


def render(paths, build):
    """Writes report.html from earlier results, page by page."""
    build.mkdir(parents=True, exist_ok=True)
    page = build / "report.html"
    page.write_text(webpage.render(report.Report([report.read(path) for path in paths])), encoding="utf-8")
    print(f"written: {page}")
    return 0


# Verbs beside the comparison of subjects; the first argument is the verb.
VERBS = {"bars": bars.main, "costs": costs.main, "documents": source_documents.main, "portability": portability.main,
         "profile": profile.main}


def main():
    if sys.argv[1:2] and sys.argv[1] in VERBS:
        return VERBS[sys.argv[1]](sys.argv[2:])
    options = arguments()
    if options.readme:
        return overview.write((options.build or builders.ROOT / "build/lab").resolve() / "report.json")
    if options.render:
        return render(options.render, (options.build or builders.ROOT / "build/lab").resolve())
    servers.end_with_run()
    if options.against is not None:
        return against.run(options.against, options.page, options.systems, options.runs)
    pages = catalogue.pages(options.page)
    systems = catalogue.of_pages(catalogue.systems(options.systems), pages)
    build = (options.build or builders.ROOT / "build/lab").resolve()
    print(f"building the subjects in {build}", file=sys.stderr, flush=True)
    if not options.build:
        builders.build_cpp(build, systems)
    os.environ["HOCKET_LAB_BUILD"] = str(build)   # for subjects that are compilers
    skipped = builders.prepare(systems, build)
    mode = "full" if options.full else "smoke" if options.smoke else "default" if options.page else "slice"
    measurement = Measurement(pages, systems, mode, options.runs)
    measurement.net_load = builders.net_load(build)
    if options.full or not (options.page or options.smoke):
        print(report.expected(measurement, build / "report.json"), file=sys.stderr, flush=True)
    with servers.beside(measurement.jobs, measurement.cores) as missing:
        measurement.leave_out(missing)
        run = report.gather(measurement, skipped, build, shlex.join(["./dev", "lab", *sys.argv[1:]]))
    run["profiles"] = {} if options.smoke else profile.beside(pages)
    report.write(run, build / "report.json")
    results = report.Report([run])
    print(terminal.render(results))
    (build / "report.html").write_text(webpage.render(results), encoding="utf-8")
    print(f"\nwritten: {build / 'report.json'}, {build / 'report.html'}")
    return 1 if measurement.failed or measurement.cut_short == INTERRUPTED else 0


if __name__ == "__main__":
    sys.exit(main())
