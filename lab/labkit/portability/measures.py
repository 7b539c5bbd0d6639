"""Measures a compiler with the control, with hocket's example, and with the patterns of tools/compiler_check."""
import collections
import datetime
import importlib.machinery
import importlib.util
import re
import shutil
import statistics

from ..builders import ROOT
from .attempts import attempt
from .compilers import FOLDER

COMPILE_SECONDS, RUN_SECONDS, BUILD_SECONDS = 300, 120, 1800
REPEATS = 3
FIBONACCI = (0, 1, 1, 2, 3, 5, 8, 13, 21, 34)
EXPECTED = "".join(f"fib({n})={number}\n" for n, number in enumerate(FIBONACCI))

Size = collections.namedtuple("Size", "text data bss")


def parse_size(text):
    """The numbers of size(1), in its Berkeley format; ValueError for other output."""
    lines = [line.split() for line in text.splitlines() if line.strip()]
    if len(lines) != 2 or lines[0][:3] != ["text", "data", "bss"]:
        raise ValueError(f"not what size(1) prints: {text[:80]!r}")
    return Size(*map(int, lines[1][:3]))


def size_of(program):
    done = attempt(["size", program], RUN_SECONDS)
    try:
        return list(parse_size(done.output)) if not done.problem else None
    except ValueError:
        return None


def version_of(compiler):
    done = attempt([*compiler.command(), "--version"], 60)
    return done.output.splitlines()[0].strip() if done.output.strip() else done.problem


def run_program(compiler, program, *arguments):
    """A missing emulator is a result like others."""
    return attempt([*compiler.run, program, *arguments], RUN_SECONDS)


def printed(done, expected=EXPECTED):
    """The problem of a run in words; empty if the output is right."""
    if done.problem:
        return done.problem
    return "" if done.output == expected else f"printed something else: {done.output.strip()[:60]!r}"


def frame_at(compiler, folder, level):
    program = folder / f"control{level}{compiler.suffix}"
    done = attempt([*compiler.command(), "-std=c++20", level, FOLDER / "control.cpp", "-o", program], COMPILE_SECONDS)
    if not done.problem:
        done = run_program(compiler, program, "--frame")
    return int(done.output) if not done.problem and done.output.strip().isdigit() else None


def control(compiler, folder):
    """Compiled as in document 000: `c++ -std=c++20 -o main main.cpp`."""
    program = folder / f"control{compiler.suffix}"
    command = [*compiler.command(), "-std=c++20", "-o", program, FOLDER / "control.cpp"]
    times = []
    for _ in range(REPEATS):
        done = attempt(command, COMPILE_SECONDS)
        if done.problem:
            return {"problem": f"compiler: {done.problem}"}
        times.append(done.seconds)
    return {"problem": printed(run_program(compiler, program)), "seconds": statistics.median(times), "size": size_of(program),
            "frames": [frame_at(compiler, folder, level) for level in ("-O0", "-O2")]}


def parse_ninja_log(text, output):
    """Seconds of the last build of an output that matches the pattern; None without one."""
    found = None
    for line in text.splitlines():
        words = line.split("\t")
        if len(words) == 5 and re.search(output, words[3]):
            found = (int(words[1]) - int(words[0])) / 1000
    return found


def cross(compiler):
    if not compiler.run:
        return []
    return ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={compiler.target}",
            f"-DCMAKE_CROSSCOMPILING_EMULATOR={';'.join(compiler.run)}"]


def configured(compiler, source, build, *options):
    return attempt(["cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler.script(build.parent)}",
                    "-DHOCKET_PORTABLE=ON", *cross(compiler), *options], BUILD_SECONDS)


def refusal(done):
    """The problem of a run of the example with more numbers than it supports."""
    refused = done.problem.startswith("failed") and "Exception: more than 94" in done.output
    return "" if refused else "did not refuse 95 numbers"


def hocket(compiler, folder):
    """examples/fibonacci.cpp in a portable build, -O2."""
    build = folder / "build"
    shutil.rmtree(build, ignore_errors=True)   # the compiler may differ from that of the last run
    done = configured(compiler, FOLDER, build, "-DHOCKET_TESTS=OFF", "-DCMAKE_BUILD_TYPE=Release",
                      "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=32")
    if not done.problem:
        done = attempt(["cmake", "--build", build, "--target", "fibonacci"], BUILD_SECONDS)
    if done.problem:
        return {"problem": f"build: {done.problem}"}
    program = build / "fibonacci"
    problem = printed(run_program(compiler, program)) or refusal(run_program(compiler, program, "95"))
    seconds = parse_ninja_log((build / ".ninja_log").read_text(encoding="utf-8"), r"fibonacci\.dir/.*\.o$")
    return {"problem": problem, "seconds": seconds, "size": size_of(program)}


def compiler_check():
    """Loads the tool, a program without a file extension, as a module."""
    path = str(ROOT / "tools/compiler_check/hocket-compiler-check")
    loader = importlib.machinery.SourceFileLoader("hocket_compiler_check", path)
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


def patterns(compiler, folder):
    """{pattern: problem} of the patterns that this compiler miscompiles at -O2."""
    check = compiler_check()
    place = folder / "patterns"
    place.mkdir(exist_ok=True)
    found = {}
    for source in check.sources():
        if problem := check.verdict([*compiler.command(), "-O2"], source, place, compiler.run):
            found[check.described(source)[0]] = problem
    return found


def measure(compiler, folder):
    folder.mkdir(parents=True, exist_ok=True)
    found = {"version": version_of(compiler), "date": datetime.date.today().isoformat(), "control": control(compiler, folder)}
    found["hocket"] = hocket(compiler, folder)
    # If the control does not run, each pattern would fail, too.
    found["patterns"] = patterns(compiler, folder) if not found["control"]["problem"] else None
    return found
