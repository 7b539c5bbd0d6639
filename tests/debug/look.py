"""The expected output of tools/gdb for chain.cpp of this folder:   look.py GDB EXTENSION PROGRAM live|core

`core` looks at a core file of the same moment. A line of the program is known by its comment "line: NAME".
"""
import pathlib
import re
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).with_name("chain.cpp")

LIST = [
    r'loop "chain" 0x\w+: 7 coroutines',
    r"ID +NAME +KIND +STATE +SUSPENDED AT +SPAWNED AT +WAITS FOR",
    r"1 +third +fiber +waiting +@third_inner +@spawn_third +gate 0x\w+",
    r'2 +second +task +waiting +@second_inner +\S+ +the end of a coroutine "third"',
    r'3 +first +fiber +waiting +@first_call +\S+ +the end of a coroutine "second"',
    r"4 +still ready +task +ready or running +@yield_in_task +\S+ +-",
    r"5 +still ready +fiber +ready +@yield_in_fiber +\S+ +-",
    r"6 +parent +fiber +waiting +@parent_body +\S+ +(the children of a )?scope 0x\w+",
    r"7 +child +task +waiting +@child_body +\S+ +gate 0x\w+",
    r'loop "other" 0x\w+: 2 coroutines',
    r"8 +abroad +fiber +waiting +@abroad +\S+ +a foreign awaitable",
    r"9 +asleep +fiber +waiting +@asleep +\S+ +gate 0x\w+",
    r'loop "early" 0x\w+: 5 coroutines',
    r"10 +returns +task +waiting +@returns_inner +\S+ +gate 0x\w+",
    r"11 +propagates +task +waiting +@propagates_inner +\S+ +gate 0x\w+",
    r"12 +returning +task +ready or running +@yields_inner +\S+ +-",
    r'13 +joins +fiber +waiting +@joins_inner +\S+ +the end of a coroutine "returns"',
    r"14 +slotted +task +waiting +@slotted_inner +\S+ +gate 0x\w+",
]
FROM_FIRST = [r'fiber "first" 0x\w+, waiting for the end of a coroutine "second"',
              r"#\d+ +.*first_call \(.*\bdepth=\S.*\) at @first_call",
              r"#\d+ +.*first_body \(second=\.\.\.\) at @first_body"]
FROM_SECOND = [r'task "second" 0x\w+, waiting for the end of a coroutine "third"',
               r"#\d+ +.*second_inner \(\) \[task\] at @second_inner",
               r"#\d+ +.*second_outer \(\) \[task\] at @second_outer",
               "joined by " + FROM_FIRST[0], *FROM_FIRST[1:]]
FROM_THIRD = [r'fiber "third" 0x\w+, waiting for gate 0x\w+',
              r"#0 +.*third_inner \(\) \[task\] at @third_inner",
              r"#1 +.*third_outer \(\) \[task\] at @third_outer",
              r"#2 +.*third_call \(at=\.\.\.\) at @third_call",
              r"#3 +.*third_body \(at=\.\.\.\) at @third_body",
              "joined by " + FROM_SECOND[0], *FROM_SECOND[1:],
              "end of the backtrace"]
# No line between: the stand-in of or_return is not shown.
FROM_RETURNS = [r'task "returns" 0x\w+, waiting for gate 0x\w+\n#0 +.*returns_inner \(\) \[task\] at @returns_inner\n'
                r"#1 +.*returns_outer \(\) \[task\] at @returns_outer\n",
                r'joined by fiber "joins" 0x\w+, waiting for the end of a coroutine "returns"\n'
                r"#2 +.*joins_inner \(\) \[task\] at @joins_inner\n#3 +.*joins_call \(joined=\.\.\.\) at @joins_call\n",
                "end of the backtrace"]
COMMANDS = {
    "hocket-list": LIST,
    "hocket-bt third": FROM_THIRD,
    "hocket-bt 2": FROM_SECOND,
    'hocket-bt "first"': FROM_FIRST,
    "hocket-bt -all 3": [r"hocket::\w+::", "first_call", "first_body", r"scheduled_fiber::entry"],
    "hocket-bt 4": [r"#0 +.*yield_in_task \(\) \[task\] at @yield_in_task"],
    "hocket-bt 5": [r"#0 +.*yield_in_fiber \(.*\) at @yield_in_fiber"],
    "hocket-bt child": [r"#0 +.*child_body \(\) \[task\] at @child_body",
                        r'joined by fiber "parent" 0x\w+, waiting for (the children of a )?scope 0x\w+',
                        r"#1 +.*parent_body \(at=\.\.\.\) at @parent_body"],
    "hocket-bt abroad": [r"waiting for a foreign awaitable", r"#0 +.*abroad \(.*\) at @abroad"],
    "hocket-bt asleep": [r'fiber "asleep" 0x\w+, waiting for gate 0x\w+', "its stack is packed"],
    "hocket-bt returns": FROM_RETURNS,
    "hocket-bt propagates": [r"\n#0 +.*propagates_inner \(\) \[task\] at @propagates_inner\n"
                             r"#1 +.*propagates_outer \(\) \[task\] at @propagates_outer\n", "end of the backtrace"],
    "hocket-bt returning": [r"\n#0 +.*yields_inner \(\) \[task\] at @yields_inner\n"
                            r"#1 +.*yields_outer \(\) \[task\] at @yields_outer\n", "end of the backtrace"],
    "hocket-bt slotted": [r"\n#0 +.*slotted_inner \(\) \[task\] at @slotted_inner\n"
                          r"#1 +.*slotted_outer \(\) \[task\] at @slotted_outer\n", "end of the backtrace"],
    "hocket-bt nobody": [r'No symbol "nobody" in current context'],
    "hocket-bt still ready": [r"2 coroutines are named so: 4 5"],
}
IN_MAIN = {"hocket-bt second": FROM_SECOND[:1], "hocket-bt third": FROM_THIRD[:1], "hocket-bt first": FROM_FIRST[:1],
           'printf "%s\\n", here': ["main"]}


def with_lines(pattern):
    lines = {name: number for number, text in enumerate(SOURCE.read_text().splitlines(), 1)
             for name in re.findall(r"// line: (\w+)", text)}
    return re.sub(r"@(\w+)", lambda match: rf"\S*{SOURCE.stem}\.cpp:{lines[match[1]]}\b", pattern)


def run_gdb(gdb, extension, files, commands):
    arguments = ["-ex", "set confirm off", "-ex", "set width 0", "-ex", f"source {extension}"]
    for command in commands:
        arguments += ["-ex", command, "-ex", r'printf "end of the backtrace\n====\n"']
    result = subprocess.run([gdb, "--batch", "--nx", *arguments, *files], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True, timeout=300, stdin=subprocess.DEVNULL)
    return [part.strip() for part in result.stdout.split("====\n")]


def check(command, said, expected):
    """Finds the patterns in order, each behind the one before. Returns the missing patterns."""
    at = 0
    for pattern in map(with_lines, expected):
        match = re.compile(pattern).search(said, at)
        if not match:
            return f"{command}: nothing matches {pattern!r} behind character {at} of\n{said}\n"
        at = match.end()
    return f"{command}: an error\n{said}" if "Python Exception" in said else None


def check_all(commands, parts, skip):
    return [failure for (command, expected), said in zip(commands, parts[skip:])
            if (failure := check(command, said, expected))]


def main(gdb, extension, program, how):
    commands = [*COMMANDS.items(), ("up", ["main"]), *IN_MAIN.items()]
    stop = ["break everybody_waits", "run"]
    names = [command for command, _ in commands]
    if how == "live":
        commands.append(("continue", ["exited normally"]))
        failures = check_all(commands, run_gdb(gdb, extension, [program], [*stop, *names, "continue"]), len(stop))
    else:
        with tempfile.TemporaryDirectory() as folder:
            core = f"{folder}/core"
            run_gdb(gdb, extension, [program], [*stop, f"hocket-core {core}"])
            failures = check_all(commands, run_gdb(gdb, extension, [program, core], names), 0)
    print("\n".join(failures) or "as expected")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
