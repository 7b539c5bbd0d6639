"""`./dev lab profile switch` and `./dev lab profile task`: the functions of a switch, beside document 003's two lists.

The subject runs twice under callgrind, the second time for longer. The difference of the two runs is switches alone:
creation, calibration and the end are in both. An instruction counts for the innermost function of hocket or of the lab,
inlined or not. So the subject is built with debug information, which changes no instruction. The shares are shares of
instructions; document 003's are samples of the processor's clock, in which cache misses count, too.
"""
import argparse
import collections
import os
import pathlib
import re
import shutil
import tempfile

from . import builders, catalogue, documents

# The measured system, and its list in document 003.
PROFILES = {"switch": ("hocket-coroutine", "profile-switch"), "task": ("hocket-fiber", "profile-task")}
N, STACK = 1000, 65536
BUDGETS = (200, 3000)   # milliseconds of the emulated program, of each phase
MIN_SHARE = 0.005       # functions with a smaller share are summed up


def arguments(words):
    parser = argparse.ArgumentParser(prog="./dev lab profile", description=__doc__.split("\n\n")[0])
    parser.add_argument("profile", choices=PROFILES, help="a switch of raw coroutines, or of fibers that a loop runs")
    return parser.parse_args(words)


def costs(dump):
    """{(object, address): instructions} from the text of callgrind's file, without the costs of called functions."""
    found, objects, object_, called = collections.Counter(), {}, None, False
    for line in dump.splitlines():
        if named := re.match(r"c?ob=\((\d+)\)(?: (.*))?$", line):
            name = objects.setdefault(named.group(1), named.group(2))
            object_ = object_ if line.startswith("c") else name
        elif line.startswith("calls="):
            called = True
        elif at := re.match(r"0x([0-9a-f]+) \d+ (\d+)$", line):
            found[object_, int(at.group(1), 16)] += 0 if called else int(at.group(2))
            called = False
    return found


def run(program, arguments, budget):
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "out")
        builders.quietly(["valgrind", "--tool=callgrind", "--dump-instr=yes", "--dump-line=yes", "--compress-pos=no",
                          f"--callgrind-out-file={file}", program, *arguments, "switches", str(N), str(STACK), str(budget)])
        return costs(file.read_text(encoding="utf-8", errors="replace"))


def function_at(program, addresses):
    """{address: function}: the innermost function of ours, inlined or not."""
    lines_of_addresses = "\n".join(hex(address) for address in addresses)
    output = builders.quietly(["addr2line", "-e", program, "-f", "-i", "-C", "-a"], input=lines_of_addresses)
    found, address = {}, None
    lines = iter(output.splitlines())
    for line in lines:
        if re.match(r"0x[0-9a-f]+$", line):
            address = int(line, 16)
            continue
        place = os.path.normpath(next(lines))
        if address not in found and place.startswith(f"{builders.ROOT}/"):
            found[address] = short(line)
    return found


def functions(program, found):
    """{function: instructions}"""
    ours = function_at(program, [address for object_, address in found if object_ == program])
    named = collections.Counter()
    for (object_, address), cost in found.items():
        named[ours.get(address) if object_ == program and address in ours else f"[{pathlib.Path(object_).name}]"] += cost
    return named


def shares(fewer, more):
    """[(function, share)] of the difference of the runs, the largest first; and the sum of the small shares."""
    difference = {name: cost - fewer.get(name, 0) for name, cost in more.items() if cost > fewer.get(name, 0)}
    total = sum(difference.values())
    if total == 0:
        raise SystemExit("lab: the longer run has done no more than the shorter one")
    ordered = sorted(difference.items(), key=lambda item: -item[1])
    large = [(name, cost / total) for name, cost in ordered if cost / total >= MIN_SHARE]
    return large, 1 - sum(share for _, share in large)


def short(name):
    """A function without its namespace's version and the arguments of its templates."""
    name = re.sub(r"::v\d+(?:_model)?::", "::", name)
    while (plain := re.sub(r"<[^<>]*>", "", name)) != name:
        name = plain
    return re.sub(r"\((?!\)\().*", "", name.replace("(anonymous namespace)::", ""))


def published(table_id):
    """[(function, per cent)] of document 003."""
    document = next(document for document in documents.documents() if document.number == "003")
    table = next(table for table in document.tables if table.id == table_id)
    return [(row["name"], row["figures"][-1]) for row in table.rows if row["figures"][-1] != "0.00%"]


def profile_text(profile, system, large, rest, beside):
    lines = [f"{system}, {profile}: share of instructions, of each function itself", ""]
    lines += [f"  {100 * share:6.2f}%  {name}" for name, share in large]
    lines += [f"  {100 * rest:6.2f}%  all others", "", "document 003, libcopp 2017: share of samples (perf, cpu-clock), likewise", ""]
    lines += [f"  {percent:>7}  {name}" for name, percent in beside]
    return "\n".join(lines)


def build_for(system):
    """Builds with debug information, and without relocation: an address in the file is the address in the process."""
    build = builders.ROOT / "build/profile"
    flags = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -g -DNDEBUG", "-DCMAKE_EXE_LINKER_FLAGS=-no-pie",
             "-DHOCKET_TESTS=OFF"]
    builders.in_turn(build, builders.configure(builders.ROOT, build, *flags),
                     builders.compile_targets(build, [f"lab_{system.program or system.id}"]))
    return build


def expect_tools():
    for tool, package in (("valgrind", "valgrind"), ("addr2line", "binutils")):
        if not shutil.which(tool):
            raise builders.Missing(f"a profile needs {tool}: `./dev setup`, or `apt-get install {package}`")


def measure(name):
    """(shares, the sum of small shares) of this system."""
    expect_tools()
    system, = catalogue.systems([name])
    program, *first = builders.recipe_of(system.folder).command(build_for(system), system)
    return shares(*(functions(program, run(program, first, budget)) for budget in BUDGETS))


def beside(pages):
    """{table of document 003: its profile here}, if the pages include `switch`."""
    if "switch" not in [page.name for page in pages]:
        return {}
    return {table: measured_or_reason(name) for name, table in PROFILES.values()}


def measured_or_reason(name):
    try:
        large, rest = measure(name)
    except builders.Missing as reason:
        return {"system": name, "reason": str(reason)}
    return {"system": name, "shares": [[function, round(share, 4)] for function, share in large], "rest": round(rest, 4)}


def main(words):
    options = arguments(words)
    name, table = PROFILES[options.profile]
    try:
        print(profile_text(options.profile, name, *measure(name), published(table)))
    except builders.Missing as reason:
        raise SystemExit(f"lab: {name}: {reason}")
    return 0
