"""Weight: a header costs at most 1.5 times the parse time of <chrono> <system_error> <coroutine>.

Measured as the compiler's own processor time, against the yardstick in the very next run: a machine has fast and slow
moments, and they last longer than two runs. What comes near the limit is measured again, and its median counts. The
umbrellas are exempt, they are the sum of what they name. A header that another one includes costs no more than that
one, so only those are weighed that no other includes.
"""
import os
import subprocess
from statistics import median

from .headers import DEFINITIONS, unit_of
from .tools import compilers
from .tree import Finding

FAST = False
LIMIT = 1.5
YARDSTICK = "#include <chrono>\n#include <system_error>\n#include <coroutine>\n"
NEAR = 1.35
MORE_RUNS = 8


def parse_seconds(tree, text):
    include = ["-I", str(tree.root / "include")]
    command = [compilers()[0], "-std=c++20", *DEFINITIONS, "-fsyntax-only", *include, "-x", "c++", "-"]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    child.stdin.write(text.encode())
    child.stdin.close()
    usage = os.wait4(child.pid, 0)[2]
    child.returncode = 0  # reaped above
    return usage.ru_utime


def headers_to_weigh(tree):
    below = [path for path in tree.public_headers() if path.count("/") > 2]
    included = {tree.resolve(path, name) for path in below for _, name in tree.includes(path)}
    return [path for path in below if path not in included]


def weight(tree, path):
    return parse_seconds(tree, unit_of(path)) / parse_seconds(tree, YARDSTICK)


def check(tree):
    findings = []
    for path in headers_to_weigh(tree):
        seen = [weight(tree, path)]
        if seen[0] > NEAR:
            seen += [weight(tree, path) for _ in range(MORE_RUNS)]
        if median(seen) > LIMIT:
            text = f"costs {median(seen):.2f} x the parse time of the yardstick, limit {LIMIT}"
            findings.append(Finding(path, 1, text))
    return findings
