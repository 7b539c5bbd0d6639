"""Weight: a header costs at most 1.5 times the parse time of <chrono> <system_error> <coroutine>.

Measured as the compiler's own processor time, the least of several runs, each next to a run of the yardstick. A header
that seems too heavy is measured again before it is called so: noise only ever adds. The umbrellas are exempt, they are
the sum of what they name.
"""
import os
import subprocess

from .headers import DEFINITIONS, unit_of
from .tools import compilers
from .tree import Finding

FAST = False
LIMIT = 1.5
YARDSTICK = "#include <chrono>\n#include <system_error>\n#include <coroutine>\n"
FIRST_RUNS, MORE_RUNS = 3, 6


def parse_seconds(tree, text):
    command = [compilers()[0], "-std=c++20", *DEFINITIONS, "-fsyntax-only", "-I", str(tree.root / "include"), "-x", "c++", "-"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    child.stdin.write(text.encode())
    child.stdin.close()
    usage = os.wait4(child.pid, 0)[2]
    child.returncode = 0  # reaped above
    return usage.ru_utime


def weigh(tree, path):
    """The header's time over the yardstick's."""
    ours, yardstick = [], []
    for runs in (FIRST_RUNS, MORE_RUNS):
        for _ in range(runs):
            yardstick.append(parse_seconds(tree, YARDSTICK))
            ours.append(parse_seconds(tree, unit_of(path)))
        ratio = min(ours) / min(yardstick)
        if ratio <= LIMIT or ratio > 2 * LIMIT:  # within, or beyond what noise could do
            break
    return ratio


def check(tree):
    findings = []
    for path in tree.public_headers():
        is_umbrella = path.count("/") == 2
        if not is_umbrella and (ratio := weigh(tree, path)) > LIMIT:
            findings.append(Finding(path, 1, f"costs {ratio:.2f} x the parse time of <chrono> <system_error> <coroutine>"))
    return findings
