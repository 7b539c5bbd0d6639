"""Weight: a header costs at most 1.5 times the parse time of <chrono> <system_error> <coroutine>.

Measured as the compiler's own processor time. Noise only ever adds to a run: so the yardstick, run once for each
header, counts with its least time, and a header that seems too heavy is measured again before it is called so. The
umbrellas are exempt, they are the sum of what they name.
"""
import os
import subprocess

from .headers import DEFINITIONS, unit_of
from .tools import compilers
from .tree import Finding

FAST = False
LIMIT = 1.5
YARDSTICK = "#include <chrono>\n#include <system_error>\n#include <coroutine>\n"
MORE_RUNS = 6


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
    return [path for path in tree.public_headers() if path.count("/") > 2]


def check(tree):
    paths, times, yardstick = headers_to_weigh(tree), {}, []
    for path in paths:
        yardstick.append(parse_seconds(tree, YARDSTICK))
        times[path] = parse_seconds(tree, unit_of(path))

    def is_heavy(path):
        return times[path] > LIMIT * min(yardstick)

    for path in filter(is_heavy, paths):
        for _ in range(MORE_RUNS):
            yardstick.append(parse_seconds(tree, YARDSTICK))
            times[path] = min(times[path], parse_seconds(tree, unit_of(path)))
    return [Finding(path, 1, f"costs {times[path] / min(yardstick):.2f} x the parse time of the yardstick, limit {LIMIT}")
            for path in filter(is_heavy, paths)]
