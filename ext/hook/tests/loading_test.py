#!/usr/bin/env python3
"""Starts and ends the program `loading` again and again, also with another malloc in front: loading_test.py <program> <late library>"""
import pathlib
import subprocess
import sys

MALLOCS = ["libjemalloc.so.2", "libtcmalloc_minimal.so.4", "libmimalloc.so.2"]
TIMES = 20


def main(program, late):
    wrong = 0
    folders = [pathlib.Path("/usr/lib") / folder for folder in ("x86_64-linux-gnu", "aarch64-linux-gnu", "riscv64-linux-gnu", "")]
    for malloc in ["", *MALLOCS]:
        found = next((folder / malloc for folder in folders if malloc and (folder / malloc).exists()), None)
        if malloc and not found:
            print(f"left out: {malloc} is not installed")
            continue
        for _ in range(TIMES):
            done = subprocess.run([program, late], capture_output=True, text=True, timeout=60,
                                  env={"LD_PRELOAD": str(found)} if found else {})
            if done.returncode != 0 or "early: ended well" not in done.stdout:
                wrong += 1
                print(f"{malloc}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
