"""What a run of `./dev fresh` skipped, what failed, and which files were missing: read from the logs of its steps.

tests/fresh/skipped.txt lists the skips of a bare Debian. A line is `name | reason`. `name | reason | perhaps` is a skip that
depends on the processor or kernel: a run may have it or not. The skips of a run and this list must agree.
"""
import collections
import json
import pathlib
import re
import subprocess

Skip = collections.namedtuple("Skip", "name reason")
Listed = collections.namedtuple("Listed", "reason perhaps")
Missing = collections.namedtuple("Missing", "where file package")

LAST_TEST = "build/dev/Testing/Temporary/LastTest.log"   # these three in the clone
LAB_REPORT = "build/lab/report.json"
CONFIGURE = "build/configure-dev.log"
CTEST_LINE = re.compile(r"^\s+\d+ - (\S+) \((Failed|Skipped|Timeout|Not Run|[A-Z][\w ]*|SEGFAULT|ILLEGAL|[^)]*Exception[^)]*)\)", re.M)
SECTION = re.compile(r'^\d+/\d+ Testing: (\S+)\n(.*?)^"[^"\n]*" end time:', re.M | re.S)
SKIP_LINE = re.compile(r"(?:^|\s)(?:skipped|left out): (\S.*)|^OK \(skipped=(\d+)\)")
LEFT_OUT = re.compile(r"^-- \w+: (.+ is not installed[;,].*)$", re.M)
NOT_INSTALLED = re.compile(r"^not installed: (\S+): (.*)$", re.M)
MISSING_FILES = tuple(re.compile(pattern, re.M) for pattern in (
    r"No such file or directory: '([^']+)'",
    r"(?:^|: )([\w.+-]+): (?:command )?not found$",
    r"Could not find (?:program )?([\w./+-]+)$",
    r"error while loading shared libraries: ([\w.+-]+):",
    r"fatal error: ([\w./+-]+): No such file or directory",
    r"No module named '([\w.]+)'"))


def sections(text):
    """{test: its output} of ctest's LastTest.log."""
    return dict(SECTION.findall(text))


def verdicts(text):
    """{test: verdict} of the tests that ctest's closing lines name: failed, skipped and the like."""
    return dict(CTEST_LINE.findall(text))


def failed_tests(text):
    return sorted(name for name, verdict in verdicts(text).items() if verdict != "Skipped")


def skip_reasons(output):
    reasons = []
    for line in output.splitlines():
        if match := SKIP_LINE.search(line):
            reasons.append(match.group(1) or f"{match.group(2)} of its cases")
    return list(dict.fromkeys(reasons))


def skipped_tests(ctest_text, last_test_text):
    """A test that ctest skipped, or a part of a test that passed."""
    reasons = {name: skip_reasons(output) for name, output in sections(last_test_text).items()}
    for name, verdict in verdicts(ctest_text).items():
        if verdict == "Skipped" and not reasons.get(name):
            reasons[name] = ["no reason was printed"]
    return [Skip(f"test {name}", "; ".join(found)) for name, found in reasons.items() if found]


def skipped_by_build(configure_text):
    return [Skip(f"build {text.partition(' is not installed')[0]}", text) for text in LEFT_OUT.findall(configure_text)]


def skipped_by_setup(text):
    return [Skip(f"package {name}", reason) for name, reason in NOT_INSTALLED.findall(text)]


def bounds_of_systems(tree):
    """{(system, reason)} for the systems of the lab that name a bound of their own, wherever they run."""
    entries = [entry for path in (tree / "lab/subjects").glob("*/systems.json") for entry in json.loads(path.read_text())["systems"]]
    return {(entry["id"], entry["n_at_most_because"]) for entry in entries if "n_at_most_because" in entry}


def skipped_by_lab(run, bounds=frozenset()):
    """`run` is report.json of the lab. A size beyond a system's own bound is no skip."""
    reasons = dict(run["skipped systems"])
    for entry in run["skipped"]:
        if (entry["system"], entry["reason"]) not in bounds:
            reasons.setdefault(f"{entry['system']} {entry['workload']}", entry["reason"])
    return [Skip(f"lab {name}", reason) for name, reason in reasons.items()]


def read_list(text):
    """{name: Listed} of a list of skips."""
    listed = {}
    for line in text.splitlines():
        fields = [field.strip() for field in line.split("|")]
        if line.strip() and not line.startswith("#"):
            listed[fields[0]] = Listed(fields[1] if len(fields) > 1 else "", "perhaps" in fields[2:])
    return listed


def compare(skips, listed, steps):
    """What differs between a run's skips and the list. `steps` are the kinds of names that the run could have skipped."""
    differences = []
    for name, reason in skips:
        if name not in listed:
            differences.append(f"not in the list: {name} | {reason}")
        elif listed[name].reason not in reason:
            differences.append(f"another reason: {name} | {reason} (listed: {listed[name].reason})")
    skipped = {skip.name for skip in skips}
    for name, (_, perhaps) in listed.items():
        if name not in skipped and not perhaps and name.split()[0] in steps:
            differences.append(f"in the list, but not skipped: {name}")
    return differences


def missing_files(output):
    """Names of the programs, libraries, headers and modules for whose absence a test or build failed."""
    return sorted({name for pattern in MISSING_FILES for name in pattern.findall(output)})


def package_of(name, query=("dpkg-query", "-S")):
    """The Debian package that has the file on this machine; None: no package of this machine has it."""
    if not re.fullmatch(r"[\w./+-]+", name):
        return None
    pattern = name if name.startswith("/") else f"*/{name}"
    found = subprocess.run([*query, pattern], capture_output=True, text=True).stdout
    return found.split(":")[0] if found else None


def missing_of(where, output):
    return [Missing(where, name, package_of(name)) for name in missing_files(output)]


def read(path):
    path = pathlib.Path(path)
    return path.read_text(errors="replace") if path.exists() else ""


def remove_results(tree):
    """Of the run before: a step that ends early writes none."""
    for path in (LAST_TEST, LAB_REPORT, CONFIGURE):
        (tree / path).unlink(missing_ok=True)


class Findings:
    """What the logs of a run say. `tree` is the clone in the root, `logs` the folder of the steps' logs."""

    def __init__(self, logs, tree, steps):
        texts = {name: read(logs / f"{name}.log") for name in steps}
        last_test = read(tree / LAST_TEST) if "test" in steps else ""
        outputs = sections(last_test)
        self.failed = failed_tests(texts.get("test", ""))
        self.skips = skipped_by_setup(texts.get("setup", ""))
        if "test" in steps:
            self.skips += skipped_by_build(read(tree / CONFIGURE))
            self.skips += skipped_tests(texts["test"], last_test)
        self.missing = [entry for name in self.failed for entry in missing_of(name, outputs.get(name, ""))]
        if "test" in steps and not last_test:
            self.missing += missing_of("test", texts["test"])
        if report := read(tree / LAB_REPORT) if "lab" in steps else "":
            run = json.loads(report)
            self.skips += skipped_by_lab(run, bounds_of_systems(tree))
            self.failed += [f"lab {entry['system']} {entry['workload']}" for entry in run["failed"]]
