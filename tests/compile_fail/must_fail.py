"""must_fail.py <program> <compiler> [flag...]: one program that must not compile, and why not.

With SHOULD_FAIL defined the compiler must fail and its output match the program's `// expect:` line; without it the
same program must compile. A program that says `// alone` is compiled without what the flag `-include` names: the
umbrella, which is precompiled. One that says `// first` instead of `// expect` is a test of the message itself: what it
names stands in the first line that says "error", and the whole output has at most 12 lines.
"""
import re
import subprocess
import sys

MOST_LINES = 12


def compile_program(command, program, *more):
    done = subprocess.run([*command, *more, program], capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr


def first_error(output):
    return next((line for line in output.splitlines() if "error:" in line), "")


def without_include(command):
    at = command.index("-include") if "-include" in command else len(command)
    return command[:at] + command[at + 2:]


def verdict(program, command):
    """None, or what is wrong."""
    with open(program) as file:
        text = file.read()
    expected = re.search(r"//\s*(expect|first):\s*(.+)", text)
    if re.search(r"^// alone$", text, re.M):
        command = without_include(command)
    if not expected:
        return "it has no `// expect: <regular expression>` line"
    code, output = compile_program(command, program)
    if code != 0:
        return f"it must compile without SHOULD_FAIL:\n{output}"
    code, output = compile_program(command, program, "-DSHOULD_FAIL")
    if code == 0:
        return "it compiled with SHOULD_FAIL"
    kind, reason = expected[1], expected[2].strip()
    told = first_error(output) if kind == "first" else output
    if not re.search(reason, told):
        return f"it failed for another reason than `{reason}`:\n{output}"
    if kind == "first" and len(output.splitlines()) > MOST_LINES:
        return f"its message has more than {MOST_LINES} lines:\n{output}"
    return None


if __name__ == "__main__":
    problem = verdict(sys.argv[1], sys.argv[2:])
    if problem:
        sys.exit(f"{sys.argv[1]}: {problem}")
