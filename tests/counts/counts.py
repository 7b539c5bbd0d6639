#!/usr/bin/env python3
"""Counts the instructions of hocket's operations under callgrind, and those of them that are atomic read-modify-writes
(or full fences); and the bytes that coroutines take: figures that a busy machine does not change.

  counts.py recorded <program> [--update]           compares them with recorded.json, or writes that file
  counts.py observer <program> <one without>        what observers cost while none is installed
  counts.py above <program> <one>:<other>=<most>... how many instructions more the other takes
  counts.py profile <program> <operation>           which functions they are in
  counts.py skip <reason>                           for ctest: this build has other figures than the recorded ones
"""
import collections
import json
import pathlib
import re
import subprocess
import sys
import tempfile

RECORDED = pathlib.Path(__file__).resolve().parent / "recorded.json"
SHARE, AT_LEAST = 0.03, 1.0   # a count may differ by 3 % from the recorded one, or by one instruction if that is more
ATOMICS = 0.06                # a count of read-modify-writes may differ by the share of a pause, once in 256 operations
SKIPPED = 77                  # what ctest takes for "skipped"

# How many events one unit of an operation has (core/observer.hpp): a wait that suspends has two, its suspension and its
# wake-up; a raw coroutine's life has two, a spawned one's three, and the wait for its end two more. Anything else, the
# switches above all, has none and must be the same instruction for instruction. While no observer is installed an event
# is a load, a test and a branch; and it may be that a register has to be kept for it.
EVENTS = {"wait_in_fiber": 2, "wait_in_task": 2, "timed_wait_in_fiber": 2, "timed_wait_in_task": 2, "select_wait_in_fiber": 2,
          "select_wait_in_task": 2, "channel_trip_in_task": 4, "spsc_channel_trip_in_task": 4, "coroutine_life": 2,
          "fiber_spawn_join": 5, "task_spawn_join": 5, "request_in_task": 2, "request_borrowed_in_task": 2,
          "request_in_fiber": 2}
PER_EVENT = 5

NAMES = {}   # of functions, by callgrind's number
Dump = collections.namedtuple("Dump", "units total functions atomics")
Counted = collections.namedtuple("Counted", "instructions atomics bytes")   # of one unit; of a frame


def atomics_in(program):
    """Where the program's own code has instructions that lock the bus; it is not relocated (-no-pie)."""
    listed = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], capture_output=True, text=True, check=True).stdout
    return {int(found.group(1), 16) for found in
            re.finditer(r"^\s*([0-9a-f]+):\s+(?:lock |xchg\s[^\n]*\(|mfence)", listed, re.MULTILINE)}


def read_dump(path, locked):
    """One of callgrind's files: (operation, Dump), or None if the program did not ask for it.

    Costs are in lines "<address> <cost>" below the "fn=" line of their function; a line after "calls=" has what the
    called function cost, which is counted there. Names are given once, with a number that stands for them afterwards.
    """
    operation, total, function, called, atomics = None, 0, None, False, 0
    functions = collections.Counter()
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
        if found := re.match(r"desc: Trigger: Client Request: (\S+) (\d+)$", line):
            operation, units = found.group(1), int(found.group(2))
        elif found := re.match(r"(?:totals|summary): (\d+)", line):
            total = int(found.group(1))
        elif found := re.match(r"c?fn=\((\d+)\)(?: (.*))?$", line):
            if found.group(2):
                NAMES[found.group(1)] = found.group(2)
            function = found.group(1) if line.startswith("fn") else function
        elif line.startswith("calls="):
            called = True
        elif function and re.match(r"[-+*0-9]", line):
            address, cost = line.split()
            functions[function] += 0 if called else int(cost)
            atomics += int(cost) if not called and int(address, 16) in locked else 0
            called = False
    return (operation, Dump(units, total, functions, atomics)) if operation and total else None


def run(program):
    """The two dumps of each operation, by its name, the one of more units second."""
    locked = atomics_in(program)
    with tempfile.TemporaryDirectory() as folder:
        command = ["valgrind", "--tool=callgrind", "--dump-instr=yes", "--dump-line=no", "--compress-pos=no", f"--callgrind-out-file={folder}/out", program]
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)}: exit status {done.returncode}\n{done.stderr[-3000:]}")
        files = sorted(pathlib.Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        operations = {}
        for name, dump in filter(None, (read_dump(file, locked) for file in files)):
            operations.setdefault(name, []).append(dump)
    if not operations or any(len(dumps) != 2 for dumps in operations.values()):
        sys.exit(f"{program} did not make two dumps for each operation")
    return operations


def count_all(program):
    def per_unit(of, fewer, more):
        return round((of(more) - of(fewer)) / (more.units - fewer.units), 2)
    operations = run(program).items()
    frames = subprocess.run([program, "frames"], capture_output=True, text=True, check=True).stdout
    return Counted(*({name: per_unit(of, *dumps) for name, dumps in operations}
                     for of in (lambda dump: dump.total, lambda dump: dump.atomics)),
                   {name: int(size) for name, size in map(str.split, frames.splitlines())})


def count(program):
    """Instructions per unit, by operation."""
    return count_all(program).instructions


def update(counted):
    about = ("Instructions per unit of the operations in operations.cpp, the atomic read-modify-writes among them, and the bytes "
             "of frames.cpp: g++ 12, -O2, x86_64, the checks of a release. Written by the target counts_update.")
    text = json.dumps({"about": about, **counted._asdict()}, indent=1)
    RECORDED.write_text(text + "\n", encoding="utf-8")
    print(f"written: {RECORDED}")
    return 0


def compare(counted, expected, allowed):
    wrong = 0
    for name in dict.fromkeys([*expected, *counted]):
        was, now = expected.get(name), counted.get(name)
        if was is None or now is None:
            verdict = "not recorded" if was is None else "not counted"
        else:
            verdict = "" if abs(now - was) <= allowed(was) else f"{now - was:+.2f}"
        wrong += verdict != ""
        print(f"{name:<24}{'-' if was is None else was:>10}{'-' if now is None else now:>10}  {verdict}")
    return wrong


def recorded(program, *options):
    counted = count_all(program)
    if options == ("--update",):
        return update(counted)
    expected = json.loads(RECORDED.read_text(encoding="utf-8"))
    wrong = compare(counted.instructions, expected["instructions"], lambda was: max(SHARE * was, AT_LEAST))
    print("\nread-modify-writes")
    wrong += compare(counted.atomics, expected["atomics"], lambda was: ATOMICS)
    print("\nbytes")
    wrong += compare(counted.bytes, expected["bytes"], lambda was: 0)
    if wrong:
        print("\nrecorded, counted: if that is intended, say why in the commit and record it anew:\n"
              "  cmake --build build/dev --target counts_update")
    return 1 if wrong else 0


def observer(program, without):
    """Fails as well if the second program has an observer: then the comparison would show nothing."""
    symbols = subprocess.run(["nm", "-C", without], capture_output=True, text=True, check=True).stdout
    if "observer_count" in symbols:
        sys.exit(f"{without} knows the observers: a source tells them something and does not include core/wait/seam/observed.hpp")
    wrong, bare = 0, count(without)
    for name, counted in count(program).items():
        allowed = PER_EVENT * EVENTS.get(name, 0)
        difference = round(counted - bare[name], 2)
        verdict = "" if difference <= allowed else f"at most {allowed} more"
        wrong += verdict != ""
        print(f"{name:<24}{bare[name]:>10}{counted:>10}{difference:>8}  {verdict}")
    return 1 if wrong else 0


def above(program, *limits):
    counted, wrong = count(program), 0
    for limit in limits:
        one, other, most = re.fullmatch(r"(\w+):(\w+)=(\d+)", limit).groups()
        difference = round(counted[other] - counted[one], 2)
        verdict = "" if difference <= int(most) else f"at most {most} more"
        wrong += verdict != ""
        print(f"{other:<24}{counted[one]:>10}{counted[other]:>10}{difference:>8}  {verdict}")
    return 1 if wrong else 0


def profile(program, operation):
    operations = run(program)
    if operation not in operations:
        sys.exit(f"no operation {operation}; there are: {' '.join(operations)}")
    fewer, more = operations[operation]
    units = more.units - fewer.units
    for function, cost in (more.functions - fewer.functions).most_common():
        if cost >= units / 2:
            print(f"{cost / units:8.1f}  {NAMES[function]}")
    return 0


def skip(*reason):
    print("skipped:", *reason)
    return SKIPPED


VERBS = {"recorded": recorded, "observer": observer, "above": above, "profile": profile, "skip": skip}

if __name__ == "__main__":
    if len(sys.argv) < 3 or sys.argv[1] not in VERBS:
        sys.exit(__doc__)
    sys.exit(VERBS[sys.argv[1]](*sys.argv[2:]))
