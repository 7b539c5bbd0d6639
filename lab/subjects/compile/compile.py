"""Compilers as subjects: what it takes to compile a program, and how large it is.

    compile.py <system> compile_fibonacci|compile_server <n> <stack> <budget in ms>

compile_fibonacci  document 000's command, `time c++ -std=c++20 -o main main.cpp`, of a Fibonacci generator: with a
                   generator of its own, or with hocket's. Then the sections of the program, by size(1).
compile_server     `c++ -std=c++20 -O2 -c` of a server: the first one of README that has a listener, or asio_echo.cpp.
                   Seconds of the processor, and the most memory that the compiler had.
"""
import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
INCLUDE = ["-I", str(ROOT / "include")]
DEFINITIONS = ["-DHOCKET_CHECKS=1", "-DHOCKET_CONFORMING=0"]
COMPILERS = {"gcc": "c++", "clang": "clang++-19"}


def libraries():
    """The static libraries of hocket's layers, of the lab's build, in any order. Those of extensions need other libraries."""
    build = pathlib.Path(os.environ.get("HOCKET_LAB_BUILD", ROOT / "build/lab"))
    found = sorted(map(str, (build / "src").rglob("libhocket*.a")))
    return ["-Wl,--start-group", *found, "-Wl,--end-group", "-pthread"] if found else []


def readme_server():
    """The text of README's server."""
    programs = re.findall(r"^```cpp\n(.*?)^```", (ROOT / "README.md").read_text(encoding="utf-8"), re.M | re.S)
    return next(program for program in programs if "::serve(" in program and "int main" in program)


def run(command):
    """(real, user, system) seconds and the most memory in MB of a compiler with all its children."""
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode != 0:
        lines = [line for line in done.stderr.splitlines() if "error" in line] or ["no message"]
        sys.exit(f"{command[0]}: {lines[0]}")
    return (time.monotonic() - begin, after.ru_utime - before.ru_utime, after.ru_stime - before.ru_stime, after.ru_maxrss / 1024)


def sections(program):
    """{section: bytes} by size(1)."""
    fields = subprocess.run(["size", program], capture_output=True, text=True, check=True).stdout.splitlines()[1].split()
    return dict(zip(("text", "data", "bss", "dec"), map(int, fields)))


def emit(workload, unit, value):
    print(json.dumps({"system": SYSTEM, "workload": workload, "n": int(sys.argv[3]), "unit": unit, "value": value}))


def skip(reason):
    print(json.dumps({"system": SYSTEM, "n": int(sys.argv[3]), "skip": reason}))
    sys.exit(0)


def compile_fibonacci(compiler, folder):
    program = str(folder / "main")
    if SYSTEM.startswith("hocket"):
        source = [str(ROOT / "examples/fibonacci.cpp"), *INCLUDE, *DEFINITIONS, *libraries()]
    else:
        source = [str(ROOT / "lab/portability/control.cpp")]
    real, user, system, _ = run([compiler, "-std=c++20", "-o", program, *source])
    for name, value in (("real", real), ("user", user), ("sys", system)):
        emit(f"compile_fibonacci_{name}", "s", value)
    for name, value in sections(program).items():
        emit(f"compile_fibonacci_{name}", "B", value)


def compile_server(compiler, folder):
    source = folder / "server.cpp"
    source.write_text(readme_server() if SYSTEM.startswith("hocket") else (HERE / "asio_echo.cpp").read_text(encoding="utf-8"))
    _, user, system, memory = run([compiler, "-std=c++20", "-O2", "-c", "-o", str(folder / "server.o"), str(source), *INCLUDE, *DEFINITIONS])
    emit("compile_server_seconds", "s", user + system)
    emit("compile_server_memory", "MB", memory)


if __name__ == "__main__":
    SYSTEM, workload = sys.argv[1:3]
    compiler_name = COMPILERS[SYSTEM.rpartition("-")[2]] if workload == "compile_fibonacci" else COMPILERS["gcc"]
    if not shutil.which(compiler_name):
        skip(f"{compiler_name} is not installed")
    if SYSTEM.startswith("asio") and not pathlib.Path("/usr/include/boost/asio.hpp").exists():
        skip("Boost.Asio is not installed")
    with tempfile.TemporaryDirectory() as folder:
        {"compile_fibonacci": compile_fibonacci, "compile_server": compile_server}[workload](compiler_name, pathlib.Path(folder))
