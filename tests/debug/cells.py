"""What tools/gdb must say of cells.cpp, which stands beside this, from the cells of its stacks:   cells.py GDB EXTENSION PROGRAM"""
import re
import sys

from look import run_gdb

EXPECTED = [
    r"5 fibers in \d+ slabs?",
    r"CELL +NAME +KIND +STATE +WAITS FOR",
    r"0x\w+ +at the gate +fiber +waiting +gate 0x\w+",
    r"0x\w+ +in the queue +fiber +ready +-",
    r"0x\w+ +fresh +raw fiber +unstarted +-",
    r"0x\w+ +asleep +raw fiber +suspended +-",
    r"0x\w+ +at work +raw fiber +running +-",
]


def main(gdb, extension, program):
    said = run_gdb(gdb, extension, [program], ["break look_now", "run", "hocket-cells", "continue"])
    lines = said[2].splitlines()
    missing = [pattern for pattern in EXPECTED if not any(re.fullmatch(pattern, line.rstrip()) for line in lines)]
    if missing or "exited normally" not in said[3]:
        print("nothing matches", *missing, "in", *said, sep="\n")
        return 1
    print("as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
