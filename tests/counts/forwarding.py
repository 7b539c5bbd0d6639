"""Loads that wait for the cache, in the counted operations (operations.cpp).

  forwarding.py <program>

A processor forwards a store to a load if one recent store has all bytes of the load. If two words were stored one by one and
are loaded as a pair, or if a byte was stored and is loaded with the seven around it, then the bytes must be in the cache first: ten
to fifteen cycles, where each instruction around takes one. g++ copies structs by pairs of words, so every copy of a fresh struct is
a load of this kind. Callgrind does not see it; without these loads a channel's item cost half as much (docs/decisions/020).

The trace is from valgrind's lackey: each instruction, load and store with its address and size.
"""
import collections
import re
import subprocess
import sys

UNITS = 512
RECENT = 40     # instructions; earlier stores are in the cache
# Functions that have such loads and may: by a part of the name.
ALLOWED = {"stack_acquire_release": "the test copies what it was given into a vector",
           "answer_in_fiber": "a result of two words is copied, beside two system calls"}


def blocked_loads(trace):
    """The loads that follow their store too soon: (load's address, store's address) -> times."""
    found = collections.Counter()
    stored = {}         # by word: when, first byte, byte behind the last, by which instruction
    when = here = 0
    for line in trace:
        if line.startswith("I "):
            here = line[2:line.index(",")].strip()
            when += 1
            continue
        if line[:2] not in (" L", " S", " M"):
            continue
        address, _, size = line[3:].partition(",")
        begin = int(address, 16)
        end = begin + int(size)
        words = range(begin >> 3, (end + 7) >> 3)
        if line[1] != "S":
            for store in {stored[word] for word in words if word in stored}:
                recent = when - store[0] <= RECENT
                if recent and store[1] < end and begin < store[2] and not (store[1] <= begin and end <= store[2]):
                    found[here, store[3]] += 1
        if line[1] != "L":
            stored.update(dict.fromkeys(words, (when, begin, end, here)))
    return found


def run(program):
    command = ["valgrind", "--tool=lackey", "--trace-mem=yes", "--log-fd=1", program, str(UNITS)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as traced:
        found = blocked_loads(traced.stdout)
    if traced.returncode != 0:
        sys.exit(f"{' '.join(command)}: exit status {traced.returncode}")
    return found


def functions(program):
    """A function that names the one that an address of the trace is in; the program is not relocated (-no-pie)."""
    listed = subprocess.run(["nm", "-C", "--defined-only", "-n", program], capture_output=True, text=True, check=True)
    symbols = [(int(line[:16], 16), line[19:]) for line in listed.stdout.splitlines() if re.match(r"[0-9a-f]{16} [tTwW]", line)]

    def name(address):
        before = [symbol for symbol in symbols if symbol[0] <= int(address, 16)]
        return before[-1][1] if before and int(address, 16) < symbols[-1][0] else None
    return name


def main(program):
    name = functions(program)
    wrong = 0
    for (load, store), times in run(program).most_common():
        if times < UNITS / 4:
            break
        reader, writer = name(load), name(store)
        if reader is None or any(part in reader for part in ALLOWED):
            continue
        wrong += 1
        print(f"{times / UNITS:6.2f} of a unit: a load at {load} in {reader}\n"
              f"                of what was stored at {store} in {writer}, in parts")
    if wrong:
        print("\nmake the object in its place, or copy it member by member; objdump -d shows the two instructions")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    sys.exit(main(sys.argv[1]))
