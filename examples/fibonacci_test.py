#!/usr/bin/env python3
"""fibonacci_test.py [launcher...] <program>: what example_fibonacci prints, and that it refuses more than fits."""
import subprocess
import sys


def numbers(count):
    found, a, b = [], 0, 1
    for _ in range(count):
        found.append(a)
        a, b = b, a + b
    return found


def check(command, count, *arguments):
    done = subprocess.run([*command, *arguments], capture_output=True, text=True, timeout=120)
    expected = "".join(f"fib({n})={number}\n" for n, number in enumerate(numbers(count)))
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, ""), done


def check_refusal(command):
    done = subprocess.run([*command, "95"], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (1, "") and done.stderr.startswith("Exception: more than 94"), done


def main(command):
    assert numbers(10)[-1] == 34 and numbers(94)[-1] < 2**64 <= numbers(95)[-1]
    check(command, 10)
    check(command, 0, "0")
    check(command, 94, "94")
    check_refusal(command)


main(sys.argv[1:])
