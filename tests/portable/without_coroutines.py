"""without_coroutines.py <cmake> <generator> <root> <compiler>: a compiler without coroutines gets one line, from a header
and from CMake, that says what is missing and which compilers have it."""
import pathlib
import subprocess
import sys
import tempfile

OLD = "-std=c++17"
WANTED = ("C++20 coroutines", "g++ 11", "clang 15")


def output(*command):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True)
    if done.returncode == 0:
        sys.exit(f"{' '.join(map(str, command))} succeeded")
    return done.stdout + done.stderr


def require_one(lines, text):
    if len(lines) != 1 or not all(word in lines[0] for word in WANTED):
        sys.exit(f"not one line with {WANTED}:\n{text}")


def check_header(root, compiler, header):
    source = f"#include <hocket/{header}>\nhocket::task<> nothing();\n"
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "program.cpp"
        file.write_text(source)
        text = output(compiler, OLD, f"-I{root / 'include'}", "-c", file, "-o", file.with_suffix(".o"))
    require_one([line for line in text.splitlines() if "error:" in line], text)


def check_cmake(cmake, generator, root, compiler):
    """The compiler is a script, because CMake asks for C++20 by itself."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        old = folder / "old-compiler"
        old.write_text(f'#!/bin/sh\nexec {compiler} "$@" -U__cpp_impl_coroutine -Wno-builtin-macro-redefined\n')
        old.chmod(0o755)
        text = output(cmake, "-S", root, "-B", folder / "build", "-G", generator, f"-DCMAKE_CXX_COMPILER={old}",
                      "-DHOCKET_PORTABLE=ON", "-DHOCKET_TESTS=OFF")
    message = " ".join(text.partition("CMake Error at")[2].split())  # CMake breaks lines as wide as a terminal
    require_one([message], text)
    if text.count("CMake Error") != 1:
        sys.exit(f"more than one error:\n{text}")


def main(cmake, generator, root, compiler):
    root = pathlib.Path(root)
    for header in ("stackless.hpp", "coro/task.hpp", "coro/generator.hpp"):
        check_header(root, compiler, header)
    check_cmake(cmake, generator, root, compiler)


main(*sys.argv[1:])
