"""./dev soak: everything that this machine can test, each test repeated; one row of SUPPORTED_PLATFORMS.md for each part.

A round runs each part once: the preset dev without optional tools, every test preset, the mutants, a fresh machine.
build/soak.json has the results of the parts that the round has finished. An interrupted round continues at the next call, at whatever commit the
tree is then: the row of a part says at which commit it ran. The file is removed when the round ends.
"""
import datetime
import json
import platform
import re
import time
import xml.etree.ElementTree as xml
from dataclasses import dataclass

from . import presets
from .shell import BUILD, ROOT, Stop, head_commit

PAGE = ROOT / "SUPPORTED_PLATFORMS.md"
ROUND = BUILD / "soak.json"
BEGIN, END = "<!-- rows: ./dev soak writes what follows -->", "<!-- end of the rows -->"
COLUMNS = ("part", "result", "tests", "repeated", "minutes", "date", "commit", "processor")
TITLE = f"| {' | '.join(COLUMNS)} |\n|{'---|' * len(COLUMNS)}"


@dataclass(frozen=True)
class Outcome:
    result: str  # "passed", or the failure
    tests: str = ""  # how many ran


def read_rows(text):
    """{part: cells} of the table between the marks."""
    table = text.partition(BEGIN)[2].partition(END)[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.strip().splitlines()[2:]]
    return {row[0]: row for row in rows}


def with_rows(text, rows):
    """The page with these rows, sorted by part."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    lines = [TITLE, *(f"| {' | '.join(row)} |" for _, row in sorted(rows.items()))]
    return "\n".join([before + BEGIN, *lines, END]) + after


def processor():
    try:
        text = open("/proc/cpuinfo", encoding="utf-8").read()
    except OSError:
        text = ""
    found = re.search(r"^model name\s*: (.+)$", text, re.M)
    return re.sub(r"\s+", " ", found.group(1)).strip() if found else platform.machine()


def write_row(part, outcome, repeated, seconds, known):
    """Rows of parts that no longer exist go."""
    rows = {name: row for name, row in read_rows(PAGE.read_text()).items() if name in known}
    rows[part] = [part, outcome.result, outcome.tests, repeated, f"{seconds / 60:.0f}", datetime.date.today().isoformat(),
                  head_commit(except_for=[PAGE.name]), processor()]
    PAGE.write_text(with_rows(PAGE.read_text(), rows))


def finished():
    """{part: result} of an interrupted round."""
    return json.loads(ROUND.read_text()) if ROUND.exists() else {}


def outcome_of(report, code):
    """From ctest's report in JUnit's format."""
    if not report.exists():
        return Outcome("FAILED: no test ran")
    suite = xml.parse(report).getroot()
    failed = [case.get("name") for case in suite.iter("testcase") if case.find("failure") is not None]
    skipped = int(suite.get("skipped", "0")) + int(suite.get("disabled", "0"))
    tests = f"{int(suite.get('tests', '0')) - skipped}" + (f", {skipped} skipped" if skipped else "")
    if failed or code != 0:
        return Outcome("FAILED: " + (" ".join(failed[:4]) or f"exit code {code}"), tests)
    return Outcome("FAILED: no test ran" if tests.startswith("0") else "passed", tests)


def run_preset(preset, repeat):
    configuration = presets.test_presets()[preset]
    if tool := presets.missing_tool(configuration):
        return Outcome(f"not run: {tool} is not installed")
    try:
        presets.build(configuration)
    except Stop as reason:
        print(reason)
        return Outcome("FAILED to build")
    report = BUILD / f"soak-{preset}.xml"
    report.unlink(missing_ok=True)
    # The house tests look at text and packages: repeating them finds nothing.
    code = presets.ctest(preset, "--repeat", f"until-fail:{repeat}", "-LE", "house", "-C", "Soak", "--output-junit", str(report))
    return outcome_of(report, code)


def run(parts):
    """Runs the parts that the round has not finished; returns the exit code."""
    parts = list(parts)
    done = finished()
    if done:
        print(f"a round continues; it has finished: {' '.join(done)}", flush=True)
    known = {part for part, _, _ in parts}
    for part, action, repeated in parts:
        if part in done:
            continue
        print(f"\n== {part}", flush=True)
        start = time.monotonic()
        outcome = attempt(action)
        write_row(part, outcome, repeated, time.monotonic() - start, known)
        done[part] = outcome.result
        ROUND.parent.mkdir(exist_ok=True)
        ROUND.write_text(json.dumps(done))
        print(f"{part}: {outcome.result}", flush=True)
    ROUND.unlink(missing_ok=True)
    return 0 if all(result.startswith(("passed", "not run")) for result in done.values()) else 1


def attempt(action):
    try:
        return action()
    except Stop as reason:
        print(reason)
        return Outcome("FAILED: " + str(reason).splitlines()[-1][:80])


def verdict(passes):
    return Outcome("passed" if passes else "FAILED")


def parts(repeat, bare, planted, bare_debian):
    """(name, function that returns an Outcome, repetitions) in the order in which they run. `bare` and `planted` return whether they pass, `bare_debian` an Outcome."""
    yield "dev (bare)", lambda: verdict(bare()), "1"
    for preset in presets.test_presets():
        yield preset, lambda preset=preset: run_preset(preset, repeat), str(repeat)
    yield "mutants", lambda: verdict(planted()), "1"
    yield "fresh", bare_debian, "1"
