"""Compares two commits: hocket's own subjects of both, in paired rounds.

A round runs a program of one commit, and then the same program of the other commit. The commits take turns at being
first, so a disturbance of the machine affects both. The ratio of a row is the median over its rounds, with the 95 %
interval of that median by the sign test. The test assumes nothing about the distribution of the noise (Conover, Practical
Nonparametric Statistics, 3.2). After 15 rounds, and after 30, a row is measured again unless its interval is narrow and
has no edge of the margin in it. (So an interval of 60 rounds was tested three times.)
"""
import collections
import datetime
import fnmatch
import io
import json
import math
import shutil
import statistics
import subprocess
import sys
import tarfile
import time

from . import builders, catalogue, machine, net, servers
from .compare import number
from .measure import Malformed, Measurement, Progress

sys.path.append(str(builders.ROOT / "tests/counts"))
import counts  # noqa: E402 (the path is set first)

PAGES = ("switch", "wait")   # the default
CHECKS = (15, 30, 60)   # rounds after which the intervals are tested
WIDTH = 0.06            # the greatest width of a settled interval
MARGIN = 1.03           # a row is slower if its whole interval is above MARGIN, faster if it is below 1 / MARGIN

Pair = collections.namedtuple("Pair", "now before")
Row = collections.namedtuple("Row", "page workload system n unit before now ratio low high rounds verdict")


def interval(ratios):
    """The narrowest pair of values with the median in between at 95 %, for any distribution. Unbounded for fewer than six
    values."""
    ratios = sorted(ratios)
    n, outside, k = len(ratios), 0.0, 0
    while outside + 2 * math.comb(n, k) / 2**n <= 0.05:
        outside += 2 * math.comb(n, k) / 2**n
        k += 1
    return (ratios[k - 1], ratios[n - k]) if k else (0.0, math.inf)


def verdict(low, high):
    if low > MARGIN:
        return "slower"
    if high < 1 / MARGIN:
        return "faster"
    return "alike" if 1 / MARGIN <= low and high <= MARGIN else "not shown"


def is_settled(low, high):
    return high - low <= WIDTH and not any(low <= edge <= high for edge in (MARGIN, 1 / MARGIN))


def cost_ratio(now, before, metric):
    """Above one if the new commit is worse, also in units where more is better."""
    now, before = (before, now) if catalogue.is_higher_better(metric) else (now, before)
    return now / before if before else 1.0 if not now else math.inf


class Comparison:
    """The paired rounds of all jobs that both commits have."""

    def __init__(self, pages, now, before, rounds=None):
        self.checks = (rounds,) if rounds else CHECKS
        self.measurement = Measurement(pages, now, "default")
        then = {(job.system.id, job.group["workload"], job.size["n"]): job
                for job in Measurement(pages, before, "default").jobs}
        jobs = [(job, then.get((job.system.id, job.group["workload"], job.size["n"]))) for job in self.measurement.jobs]
        self.pairs = [Pair(*both) for both in jobs if both[1]]
        if not self.pairs:
            raise SystemExit("lab: the two commits have no subject in common on these pages")
        self.only_now = sorted({f"{job.system.id} {job.group['workload']}" for job, other in jobs if not other})
        self.values = collections.defaultdict(list)   # (index of a pair, metric) -> one (now, before) a round
        self.failed, self.skipped = {}, {}            # index of a pair -> reason

    def run(self):
        begin = time.monotonic()
        remaining = list(range(len(self.pairs)))
        for turn in range(self.checks[-1]):
            if turn in self.checks:
                remaining = [i for i in remaining if not self._is_settled(i)]
            remaining = [i for i in remaining if i not in self.failed and i not in self.skipped]
            if not remaining:
                return
            progress = Progress(len(remaining), self.checks[-1])
            for position, i in enumerate(remaining):
                progress.show(turn, position, self.pairs[i].now, time.monotonic() - begin)
                self._round(i, turn)
            progress.end()

    def leave_out(self, missing):
        """Skips the programs that need these servers, {server: reason}."""
        for i, pair in enumerate(self.pairs):
            if reason := missing.get(pair.now.group.get("server")):
                self.skipped[i] = reason

    def _is_settled(self, i):
        return all(is_settled(*interval(self._ratios(i, metric))) for metric in self._metrics(i))

    def _metrics(self, i):
        """The metrics that must settle. In a group with columns only the first: maxima and quantiles of latencies never settle."""
        group = self.pairs[i].now.group
        metrics = group["metrics"][:1] if "columns" in group else group["metrics"]
        return [metric for metric in metrics if (i, metric["id"]) in self.values]

    def _ratios(self, i, metric):
        return [cost_ratio(now, before, metric) for now, before in self.values[i, metric["id"]]]

    def _round(self, i, turn):
        pair, found = self.pairs[i], {}
        order = ("now", "before") if (turn + i) % 2 else ("before", "now")
        for side in order:
            try:
                found[side], reason = self.measurement.call(getattr(pair, side), all_metrics=False)
            except (Malformed, net.Failed, OSError) as problem:
                self.failed[i] = f"{side}: {problem}"
                return
            if reason:
                self.skipped[i] = f"{side}: {reason}"
                return
        for metric in found["now"].keys() & found["before"].keys():
            if None not in (both := (found["now"][metric], found["before"][metric])):
                self.values[i, metric].append(both)

    def rows(self):
        return [self._row(i, metric) for i in range(len(self.pairs)) if i not in self.failed for metric in self._metrics(i)]

    def _row(self, i, metric):
        job = self.pairs[i].now
        low, high = interval(self._ratios(i, metric))
        now, before = zip(*self.values[i, metric["id"]])
        page = next(page.name for page in self.measurement.pages if any(group is job.group for group in page.groups))
        return Row(page, metric["id"], job.system.id, job.size["n"], metric["unit"], statistics.median(before),
                   statistics.median(now), statistics.median(self._ratios(i, metric)), low, high, len(now), verdict(low, high))


# --- the two builds

def commit_of(revision):
    done = subprocess.run(["git", "rev-parse", "--verify", "--quiet", f"{revision}^{{commit}}"], cwd=builders.ROOT,
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"lab: there is no commit {revision}")
    return done.stdout.strip()


def source_of(commit, source):
    """Extracts the files of the commit into a folder."""
    if not source.exists():
        archive = subprocess.run(["git", "archive", commit], cwd=builders.ROOT, capture_output=True)
        if archive.returncode != 0:
            raise SystemExit(f"lab: git archive {commit}: {archive.stderr.decode(errors='replace').strip()}")
        unfinished = source.with_name(source.name + ".unfinished")
        shutil.rmtree(unfinished, ignore_errors=True)
        with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as files:
            files.extractall(unfinished)
        unfinished.rename(source)
    return source


def prepared(source, build, patterns):
    """Builds hocket's systems of these sources. Returns them, each with its command."""
    print(f"building hocket's subjects in {build}", file=sys.stderr, flush=True)
    systems = [system for system in catalogue.systems(lab=source / "lab") if system.id.startswith("hocket")
               and any(fnmatch.fnmatch(system.id, pattern) for pattern in patterns)]
    builders.build_hocket(source, build, systems)
    builders.prepare(systems, build)
    return [system for system in systems if system.command]


COMPILED_WITH = ("CMAKE_CXX_COMPILER:", "CMAKE_CXX_FLAGS:", "CMAKE_CXX_FLAGS_RELEASE:")


def expect_same_compiler(*builds):
    """A build folder may be old."""
    cached = [[line for line in (build / "CMakeCache.txt").read_text(encoding="utf-8").splitlines()
               if line.startswith(COMPILED_WITH)] for build in builds]
    if cached[0] != cached[1]:
        raise SystemExit(f"lab: the two are compiled differently ({cached[0]} and {cached[1]}): remove {builds[0].parent}")


def counts_of(build):
    """{operation: instructions}; empty if the build has no program that counts, or the program fails."""
    program = build / "tests/counts/counts"
    try:
        return counts.count(str(program)) if program.is_file() else {}
    except (SystemExit, OSError, subprocess.SubprocessError) as problem:
        print(f"instructions could not be counted: {problem}", file=sys.stderr)
        return {}


def changed_subjects(commit):
    done = subprocess.run(["git", "diff", "--name-only", commit, "--", "lab/subjects"], cwd=builders.ROOT,
                          capture_output=True, text=True)
    return done.stdout.split()


# --- the output

def result_lines(rows, comparison):
    lines = []
    for kind, heading in (("slower", "slower"), ("faster", "faster"),
                       ("not shown", "not shown: the interval is wide, or has an edge of the margin in it")):
        found = sorted((row for row in rows if row.verdict == kind), key=lambda row: -row.ratio)
        lines += [f"{heading}: {len(found)}"] + [
            f"  {row.page:<11}{row.workload:<24}{row.system:<26}{row.n:>9,}{number(row.before):>10}{number(row.now):>10} "
            f"{row.unit:<4} x{row.ratio:.3f} [{row.low:.3f}, {row.high:.3f}] {row.rounds}" for row in found]
    lines.append(f"alike: {sum(row.verdict == 'alike' for row in rows)}")
    for heading, found in (("failed", comparison.failed), ("skipped", comparison.skipped)):
        lines += [f"{heading}: {comparison.pairs[i].now.system.id} {comparison.pairs[i].now.group['workload']}: {reason}"
                  for i, reason in found.items()]
    return lines + [f"only in the new commit: {name}" for name in comparison.only_now]


def counted(before, now):
    if not before or not now:
        return ["instructions: not counted, since a build has no program for it (tests/counts)"]
    changed = [name for name in now if name in before and abs(now[name] - before[name]) > max(1.0, 0.01 * before[name])]
    return [f"instructions: {len(now)} operations, of which {len(changed)} changed by more than 1 % and one"] + [
        f"  {name:<35}{before[name]:>10}{now[name]:>10}  x{now[name] / max(before[name], 1e-9):.3f}" for name in changed]


def run(revision, names, patterns, rounds):
    commit, pages = commit_of(revision), catalogue.pages(names or PAGES)
    catalogue.systems(patterns)   # fails for an unknown pattern before a build
    patterns = patterns or ["*"]
    folder = builders.ROOT / "build/against"
    folder.mkdir(parents=True, exist_ok=True)
    old, new = folder / commit[:12], folder / "present-tree"   # paths of one length, because the length moves the stack of a program
    before = prepared(source_of(commit, folder / f"{commit[:12]}.source"), old, patterns)
    now = prepared(builders.ROOT, new, patterns)
    expect_same_compiler(old, new)
    comparison = Comparison(pages, now, before, rounds)
    comparison.measurement.net_load = builders.net_load(new)
    with servers.beside(comparison.measurement.jobs, comparison.measurement.cores) as missing:
        comparison.leave_out(missing)
        comparison.run()
    rows = comparison.rows()
    report = {"against": commit, "date": datetime.date.today().isoformat(),
              "machine": machine.describe(new, comparison.measurement.cores[0]), "rows": [row._asdict() for row in rows]}
    (folder / "report.json").write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    print(f"\n{'against ' + commit[:12]:<72}{'before':>10}{'now':>10}      ratio, its 95 % interval, rounds")
    print("\n".join(result_lines(rows, comparison)))
    if changed := changed_subjects(commit):
        print(f"the subjects changed, too: {' '.join(changed)}")
    print("\n".join(counted(counts_of(old), counts_of(new))))
    print(f"\nwritten: {folder / 'report.json'}")
    return 1 if comparison.failed else 0
