"""The expected output of tools/gdb for frames.cpp of this folder, from frame memory: frames.py GDB EXTENSION PROGRAM"""
import pathlib
import re
import sys

import look

look.SOURCE = pathlib.Path(__file__).with_name("frames.cpp")

# Each once, and no other frame of the program: ended and dropped frames are not shown.
EXPECTED = ["nobody_awaits_it", "inner", "outer", "first_part", "second_part", "both", "large", "numbers"]


def main(gdb, extension, program):
    said = look.run_gdb(gdb, extension, [program], ["break look_now", "run", "hocket-frames", "continue"])
    rows = [line.rstrip() for line in said[2].splitlines() if re.match(r"0x\w+ ", line)]
    wrong = []
    for name in EXPECTED:
        place = r"\S*frames\.cpp:\d+" if name == "nobody_awaits_it" else f"@{name}"
        pattern = look.with_lines(rf"0x\w+ +\(anonymous namespace\)::{name} +{place}")
        if sum(bool(re.fullmatch(pattern, row)) for row in rows) != 1:
            wrong.append(pattern)
    if wrong or len([row for row in rows if "(anonymous namespace)" in row]) != len(EXPECTED):
        print("not there once", *wrong, "in", *said, sep="\n")
        return 1
    if "exited normally" not in said[3]:
        print(said[3])
        return 1
    print("as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
