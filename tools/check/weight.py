"""Weight: a header costs at most 1.5 times the parse time of <chrono> <system_error> <coroutine>.

Measured by the memory that the compiler's front end takes, which is the same in each run; processor time on a machine that
others share is not (the same header at 1.2 to 1.5). By instructions, counted by callgrind with g++ 12, the two agree within
7 %, and the memory is the stricter of the two near the limit: 1.44 for 1.34 (coro/scope), 1.49 for 1.42 (coro/when_all),
1.20 for 1.23 (sync/mutex). An umbrella is the sum of what it names, and has a limit of its own (decision 022). A header that
another one includes costs no more than that one, so only those are weighed that no other includes.
"""
import re
import shutil

from .headers import DEFINITIONS, unit_of
from .tools import Unavailable, in_parallel, output
from .tree import Finding

FAST = False
LIMIT, UMBRELLA_LIMIT = 1.5, 2.05
UMBRELLA_LIMITS = {"include/hocket/net.hpp": 2.5}  # it names serve.hpp (2.04) and all of io, 0.02 to 0.04 each
TOP_LAYERS = {"net", "io_memory", "pool"}
YARDSTICK = "#include <chrono>\n#include <system_error>\n#include <coroutine>\n"
UNITS = {"": 1, "k": 1 << 10, "M": 1 << 20, "G": 1 << 30}
BIN = re.compile(r"^\d+ +(\d+)([kMG]?) +\d+[kMG]? +\d+[kMG]? *$", re.M)


def front_end_memory(tree, text):
    """In bytes. The compiler rounds each number to its units: the sum of its table, size by size, is in kilobytes but for the
    largest, and the total below it in megabytes, by which an umbrella may seem 1 % heavier or lighter."""
    include = ["-I", str(tree.root / "include")]
    _, report = output(["g++", "-std=c++20", *DEFINITIONS, "-fsyntax-only", "-fmem-report", *include, "-x", "c++", "-"],
                       text)
    return sum(int(number) * UNITS[unit] for number, unit in BIN.findall(report))


def headers_to_weigh(tree):
    """Pairs of path and limit. What a program is built of at the top (net) may weigh as much as an umbrella."""
    below = [path for path in tree.public_headers() if path.count("/") > 2]
    included = {tree.resolve(path, name) for path in below for _, name in tree.includes(path)}
    umbrellas = [path for path in tree.public_headers() if path.count("/") == 2]
    limits = {path: UMBRELLA_LIMIT if path.split("/")[2] in TOP_LAYERS else LIMIT for path in below}
    return [(path, limits[path]) for path in below if path not in included] + [
        (path, UMBRELLA_LIMITS.get(path, UMBRELLA_LIMIT)) for path in umbrellas]


def check(tree):
    if not shutil.which("g++"):
        raise Unavailable("g++ is not installed (./dev setup)")
    yardstick = front_end_memory(tree, YARDSTICK)

    def weigh(header):
        path, limit = header
        return path, front_end_memory(tree, unit_of(path)) / yardstick, limit

    return [Finding(path, 1, f"costs {weight:.2f} x the parse time of the yardstick, limit {limit}")
            for path, weight, limit in in_parallel(weigh, headers_to_weigh(tree)) if weight > limit]
