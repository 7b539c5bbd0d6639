"""Configuring, building and testing by preset (CMakePresets.json)."""
import json
import os
import shutil
import time

from .install import ensure_packages
from .shell import ROOT, Stop, must, must_quietly, run

DEFAULT = "dev"
EMULATOR = "CMAKE_CROSSCOMPILING_EMULATOR"


def load():
    return json.loads((ROOT / "CMakePresets.json").read_text())


def test_presets():
    """Test preset -> the configure preset that it runs in."""
    return {p["name"]: p["configurePreset"] for p in load()["testPresets"] if not p.get("hidden")}


def configure_presets():
    """Configure preset -> its cache variables."""
    return {p["name"]: p["cacheVariables"] for p in load()["configurePresets"] if not p.get("hidden")}


def must_know(name, known):
    if name not in known:
        raise Stop(f"no preset named {name}; there are: {' '.join(known)}")


def tools_of(preset):
    """The programs that a configure preset runs by name."""
    variables = configure_presets()[preset]
    runners = [variables.get(name, "").split(";")[0] for name in ("HOCKET_TEST_LAUNCHER", EMULATOR)]
    return [tool for tool in (variables["CMAKE_CXX_COMPILER"], *runners) if tool]


def missing_tool(preset):
    return next((tool for tool in tools_of(preset) if not shutil.which(tool)), None)


def prepare(preset):
    """Installs what a configure preset needs (or, where that is forbidden, refuses)."""
    must_know(preset, configure_presets())
    more = {"clang": "clang" in tools_of(preset)[0], "cross": EMULATOR in configure_presets()[preset]}
    ensure_packages("build", "debug", "extensions", *(group for group, needed in more.items() if needed))
    if tool := missing_tool(preset):
        raise Stop(f"preset {preset} needs {tool}, which is not installed")


def build(preset, *targets):
    prepare(preset)
    must_quietly("cmake", "--preset", preset, log=f"configure-{preset}.log")
    must("cmake", "--build", "--preset", preset, "-j", str(os.cpu_count()), *(["--target", *targets] if targets else []))


def ctest(preset, *arguments):
    return run("ctest", "--preset", preset, *arguments)


def test(preset, name=None, programs=()):
    """The tests that match name; or these test programs, built alone. PROGRAM@CASE is another test of PROGRAM."""
    known = test_presets()
    must_know(preset, known)
    build(known[preset], *programs)
    pattern = f"^({'|'.join(programs)})(@.*)?$" if programs else name
    return ctest(preset, *(["-R", pattern] if pattern else []))


def run_all(*arguments):
    """Every test preset that this machine can do; goes on after a failure. Returns the exit code."""
    rows = []
    for preset, configuration in test_presets().items():
        if tool := missing_tool(configuration):
            rows.append((preset, f"skipped: {tool} is not installed", 0.0))
            continue
        print(f"\n== {preset}", flush=True)
        start = time.monotonic()
        rows.append((preset, attempt(preset, configuration, arguments), time.monotonic() - start))
    print()
    for preset, result, seconds in rows:
        print(f"{preset:18} {seconds:8.1f} s  {result}")
    return 0 if all(result == "passed" or result.startswith("skipped") for _, result, _ in rows) else 1


def attempt(preset, configuration, arguments):
    try:
        build(configuration)
    except Stop as reason:
        print(reason)
        return "FAILED to build"
    return "passed" if ctest(preset, *arguments) == 0 else "FAILED"
