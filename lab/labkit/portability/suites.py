"""Runs hocket's own tests with a compiler: the stackless ones in a portable build, or all of them.

A compiler with a preset is tested by the preset, in its build folder. Other compilers are tested like the preset `portable`
with that compiler. All tests need a machine switch, so they need a preset.
"""
import datetime
import re

from ..builders import ROOT
from .attempts import attempt
from .measures import BUILD_SECONDS, configured

KINDS = ("stackless", "all")
TEST_SECONDS = 7200


def parse_ctest(text):
    """(the number of tests, the names of failed tests) from the output of ctest; None without a result."""
    total = re.search(r"tests failed out of (\d+)", text)
    failed = re.findall(r"^\s*\d+ - (\S+) \((?:Failed|Timeout|SEGFAULT|Subprocess aborted|Not Run|Exit code.*)\)", text, re.M)
    return (int(total[1]), failed) if total else None


def verdict(done):
    found = parse_ctest(done.output)
    if found is None:
        return done.problem or "no result"
    total, failed = found
    return f"{total} passed" if not failed else f"{len(failed)} of {total} failed: {', '.join(failed)}"


def build_of(compiler, kind, folder):
    """(build folder, the attempt to configure it)"""
    preset = compiler.presets.get(kind)
    if preset:
        return ROOT / "build" / preset, attempt(["cmake", "--preset", preset], BUILD_SECONDS, cwd=ROOT)
    build = folder / "tests"
    return build, configured(compiler, ROOT, build, "-DHOCKET_TEST_HOUSE=OFF", "-DCMAKE_BUILD_TYPE=RelWithDebInfo",
                             "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1 -DNDEBUG", "-DHOCKET_CHECKS=2", "-DHOCKET_ASIO=OFF",
                             "-DHOCKET_INSTALL=OFF", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=32")


def run(compiler, kind, folder):
    build, done = build_of(compiler, kind, folder)
    if not done.problem:
        done = attempt(["cmake", "--build", build], TEST_SECONDS)
    if done.problem:
        return {"verdict": f"build: {done.problem}", "date": datetime.date.today().isoformat()}
    # What runs below it belongs to the house or to the compiler alone.
    done = attempt(["ctest", "--test-dir", build, "-LE", "house", "-j2"], TEST_SECONDS)
    return {"verdict": verdict(done), "date": datetime.date.today().isoformat()}
