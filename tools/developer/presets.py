"""Configuring, building and testing by preset (CMakePresets.json)."""
import json
import os
import pathlib
import shutil
import time

from .install import ensure_packages, files_of_optional_packages
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
    crosses = EMULATOR in configure_presets()[preset]
    more = {"clang": "clang" in tools_of(preset)[0], "cross": crosses, "clients": not crosses}
    ensure_packages("build", "debug", "extensions", *(group for group, needed in more.items() if needed))
    if tool := missing_tool(preset):
        raise Stop(f"preset {preset} needs {tool}, which is not installed")


def build(preset, *targets):
    prepare(preset)
    must_quietly("cmake", "--preset", preset, log=f"configure-{preset}.log")
    must("cmake", "--build", "--preset", preset, "-j", str(os.cpu_count()), *(["--target", *targets] if targets else []))


def ctest(preset, *arguments):
    return run("ctest", "--preset", preset, *arguments)


def tests_of(programs):
    """A regular expression of their tests. PROGRAM@CASE is another test of PROGRAM."""
    return f"^({'|'.join(programs)})(@.*)?$"


def test(preset, name=None, programs=(), without=()):
    """The tests that match name, but for these programs; or these test programs, built alone."""
    known = test_presets()
    must_know(preset, known)
    build(known[preset], *programs)
    pattern = tests_of(programs) if programs else name
    return ctest(preset, *(["-R", pattern] if pattern else []), *(["-E", tests_of(without)] if without else []))


def run_all(*arguments):
    """Every test preset that this machine can run, also after a failure. Returns the exit code."""
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


def required_programs(folder):
    """Fills the folder with links to the programs on PATH, but for those that an optional package brought."""
    optional = {pathlib.Path(path).name for path in files_of_optional_packages() if pathlib.Path(path).parent.name == "bin"}
    folder.mkdir(parents=True)
    for place in os.environ["PATH"].split(os.pathsep):
        for program in pathlib.Path(place).iterdir() if pathlib.Path(place).is_dir() else []:
            link = folder / program.name
            if program.name not in optional and not link.is_symlink() and os.access(program, os.X_OK):
                link.symlink_to(program)


def run_without_optional_tools(*arguments):
    """The preset dev, configured anew where no optional tool can be found. Returns whether its tests pass."""
    build_folder = ROOT / "build/bare"
    shutil.rmtree(build_folder, ignore_errors=True)
    required_programs(build_folder / "bin")
    env = {"PATH": str(build_folder / "bin"), "HOCKET_NO_INSTALL": "1"}
    ignored = os.environ["PATH"].replace(os.pathsep, ";")  # where CMake would look whatever PATH says
    print("\n== dev, without optional tools", flush=True)
    try:
        must_quietly("cmake", "--preset", DEFAULT, "-B", build_folder / "tree", f"-DCMAKE_IGNORE_PATH={ignored}",
                     log="configure-bare.log", env=env)
        must("cmake", "--build", build_folder / "tree", "-j", str(os.cpu_count()), env=env)
        return run("ctest", "--test-dir", build_folder / "tree", "--output-on-failure", "-j2", *arguments, env=env) == 0
    except Stop as reason:
        print(reason)
        return False


def attempt(preset, configuration, arguments):
    try:
        build(configuration)
    except Stop as reason:
        print(reason)
        return "FAILED to build"
    return "passed" if ctest(preset, *arguments) == 0 else "FAILED"
