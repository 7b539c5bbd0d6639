"""run.py <settings.json>: installs the build, moves it elsewhere, and uses it in every way that we document."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from layouts import Layouts  # noqa: E402 (no bytecode beside the sources)
from readme import Readme, block_with  # noqa: E402

CONSUMER = pathlib.Path(__file__).resolve().parent / "consumer"
OUTSIDE = CONSUMER.parent / "outside"
STACKFUL = {"context", "stack", "fiber", "model"}
# The components that a consumer uses, and the pkg-config module of each.
USED = {"core_thread": "hocket-stackless", "core": "hocket-stackless", "coro": "hocket-stackless", "fiber": "hocket-fiber",
        "http": "hocket-stackless", "io_memory": "hocket-io-memory", "model": "hocket-model"}
EXTENSIONS = {"asio": "hocket-asio", "gc": "hocket-gc", "gc_boehm": "hocket-gc-boehm", "hook": "hocket-hook", "pg": "hocket-pg",
              "redis": "hocket-redis"}


class Failed(Exception):
    pass


def run(*command, env=None):
    """(exit code, all output)"""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          env={**os.environ, **(env or {})})
    return done.returncode, done.stdout + done.stderr


def must(*command, env=None):
    code, output = run(*command, env=env)
    if code != 0:
        raise Failed(f"{' '.join(map(str, command))}\n{output}")
    return output


def require(holds, otherwise):
    if not holds:
        raise Failed(otherwise)


class Package:
    """The build under test, and its installation in a temporary folder."""

    def __init__(self, settings, folder):
        self.settings = settings
        self.folder = folder
        self.prefix = folder / "moved"
        self.layers = settings["layers"].split(";")
        self.folders = [name for name in self.layers if name not in settings["parts"].split(";")]
        self.extensions = settings["extensions"].split()
        self.components = [name for name in USED if name in self.layers]

    def install(self):
        first = self.folder / "first"
        must(self.settings["cmake"], "--install", self.settings["build"], "--prefix", first)
        first.rename(self.prefix)  # nothing in it may know where it was

    def configure(self, name, *definitions, source=CONSUMER):
        """(exit code, output) of configuring the consumer, or another project, in a build folder of this name."""
        given = self.settings
        launcher = [f"-DCMAKE_CXX_COMPILER_LAUNCHER={given['launcher']}"] if given["launcher"] else []
        return run(given["cmake"], "-S", source, "-B", self.folder / name, "-G", given["generator"],
                   f"-DCMAKE_CXX_COMPILER={given['compiler']}", f"-DCMAKE_CXX_FLAGS={given['flags']}",
                   f"-DCMAKE_BUILD_TYPE={given['build_type']}", *launcher, *definitions)

    def build_and_run(self, name, *definitions, components=None):
        components = components or self.components
        code, output = self.configure(name, *definitions, f"-DCONSUMER_COMPONENTS={';'.join(components)}")
        require(code == 0, output)
        must(self.settings["cmake"], "--build", self.folder / name)
        for component in components:
            must(self.folder / name / f"use_{component}")

    def compile(self, program, flags, target):
        given = self.settings
        return run(given["compiler"], *given["flags"].split(), CONSUMER / program, *flags, "-o", self.folder / target)


def check_files(package):
    """The licence is there, each layer's headers are, and a layer that was not built left nothing. A part has its headers in
    the folder of its layer."""
    given, prefix = package.settings, package.prefix
    require((prefix / given["docdir"] / "LICENSE").is_file(), "LICENSE is not installed")
    headers = {path.name for path in (prefix / given["includedir"] / "hocket").iterdir() if path.is_dir()}
    extensions = {name.split("_")[0] for name in package.extensions}  # a part has its headers in the folder of the whole
    require(headers == {*package.folders, *extensions}, f"headers of {sorted(headers)}, layers {package.folders}")
    for text in [*prefix.rglob("*.cmake"), *prefix.rglob("*.pc")]:
        require(str(package.folder) not in text.read_text(), f"{text.name} holds the path it was installed to")


def check_compiler_check(package):
    """The installed tool finds its patterns: it gets as far as a compiler that compiles nothing."""
    code, output = run(package.prefix / "bin/hocket-compiler-check", "false")
    require(code == 2 and "it does not compile" in output, output)


def must_have_commands(package, program, safe_path):
    """gdb, which is told one safe path and nothing else, has the commands once the program and its libraries are there."""
    output = must(package.settings["gdb"], "-nx", "-batch", "-iex", f"add-auto-load-safe-path {safe_path}",
                  "-ex", "break main", "-ex", "run", "-ex", "help hocket-bt", program)
    require("one backtrace of a suspended coroutine" in output and "warning" not in output, output)


def check_gdb(package):
    """gdb finds the installed commands with a program that was linked with --gc-sections, wherever the package is."""
    if not package.settings["gdb"]:
        print("left out: there is no gdb, or the build has no entry for it")
        return
    package.build_and_run("with_gdb", f"-DCMAKE_PREFIX_PATH={package.prefix}", "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--gc-sections",
                          components=["coro"])
    must_have_commands(package, package.folder / "with_gdb/use_coro", package.prefix)


def check_gdb_of_shared(package):
    """Beside a shared library the script has its name. The program is stripped of the entry of its own."""
    if not package.settings["gdb"]:
        return
    shared = package.folder / "shared"
    package.build_and_run("with_gdb_shared", f"-DCMAKE_PREFIX_PATH={shared}", components=["coro"])
    program = package.folder / "with_gdb_shared/use_coro"
    must("objcopy", "--remove-section=.debug_gdb_scripts", program)
    must_have_commands(package, program, shared)


def check_find_package(package):
    found = f"-DCMAKE_PREFIX_PATH={package.prefix}"
    package.build_and_run("by_package", found)
    absent = ["nonsense", *STACKFUL.difference(package.layers)]
    for component in absent:
        code, output = package.configure(f"without_{component}", found, f"-DCONSUMER_COMPONENTS={component}")
        require(code != 0 and component in output, f"component {component} was found:\n{output}")


def check_extensions(package):
    """Each is a component of its own, with what it needs."""
    for name in package.extensions:
        package.build_and_run(f"with_{name}", f"-DCMAKE_PREFIX_PATH={package.prefix}", components=[name, "coro"])


def check_outside(package):
    """Users' extensions, which plug into the interfaces of docs/extensions.md: a backend, a driver, a slot, an enumeration."""
    if "fiber" not in package.layers:
        print("left out: the extensions of users have fibers")
        return
    code, output = package.configure("outside", f"-DCMAKE_PREFIX_PATH={package.prefix}", source=OUTSIDE)
    require(code == 0, output)
    must(package.settings["cmake"], "--build", package.folder / "outside")
    for program in OUTSIDE.glob("*.cpp"):
        must(package.folder / "outside" / program.stem)


def pkg_config(package, *arguments):
    where = package.prefix / package.settings["libdir"] / "pkgconfig"
    return must("pkg-config", *arguments, env={"PKG_CONFIG_PATH": str(where)}).split()


def check_pkg_config(package):
    if not shutil.which("pkg-config"):
        print("left out: pkg-config is not installed")
        return
    modules = {**USED, **EXTENSIONS}
    for component in [*package.components, *package.extensions]:
        flags = pkg_config(package, "--cflags", "--libs", modules[component])
        rpath = "-Wl,-rpath," + str(package.prefix / package.settings["libdir"])
        code, output = package.compile(f"{component}.cpp", [*flags, rpath], f"pc_{component}")
        require(code == 0, output)
        must(package.folder / f"pc_{component}")


def check_subdirectory(package):
    """As a subdirectory, and with shared libraries: no tests, nothing installed (the cache: see consumer/)."""
    given = package.settings
    package.build_and_run("by_subdirectory", f"-DHOCKET_SOURCE={given['source']}", f"-DHOCKET_CHECKS={given['checks']}",
                          f"-DHOCKET_CONFORMING={given['conforming']}", f"-DHOCKET_STACKFUL={given['stackful']}",
                          f"-DHOCKET_BACKEND={given['backend']}", f"-DHOCKET_PORTABLE={given['portable']}",
                          f"-DHOCKET_LOCK_OWNERS={package.settings['lock_owners']}", "-DBUILD_SHARED_LIBS=ON", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=32")
    build, nowhere = package.folder / "by_subdirectory", package.folder / "nowhere"
    listed = must("ctest", "--test-dir", build, "-N")
    require("Total Tests: 0" in listed, f"tests leak into the user's project:\n{listed}")
    must(given["cmake"], "--install", build, "--prefix", nowhere)
    require(not nowhere.exists() or not any(path.is_file() for path in nowhere.rglob("*")), "install rules leak")


def check_readme(package):
    """README's programs by README's lines: see readme.py."""
    given = package.settings
    if given["stackful"] not in ("ON", "1"):
        print("left out: README's programs have fibers")
        return
    ours = [f"-DHOCKET_{name}={given[key]}" for name, key in
            (("CHECKS", "checks"), ("CONFORMING", "conforming"), ("BACKEND", "backend"), ("LOCK_OWNERS", "lock_owners"))]
    unity = ["-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=64"]
    configure = [given["cmake"], "-G", given["generator"], f"-DCMAKE_CXX_COMPILER={given['compiler']}",
                 f"-DCMAKE_CXX_FLAGS={given['flags']}"]
    readme = Readme(given["source"], package.folder / "readme", configure, must)
    shared = package.folder / "shared"
    must(*configure, "-S", given["source"], "-B", package.folder / "shared_build", *ours, *unity, "-DBUILD_SHARED_LIBS=ON",
         "-DHOCKET_TESTS=OFF", "-DHOCKET_ASIO=OFF", "-DHOCKET_GC=OFF")
    must(given["cmake"], "--build", package.folder / "shared_build")
    must(given["cmake"], "--install", package.folder / "shared_build", "--prefix", shared)
    for kind, prefix, on in (("static", package.prefix, "OFF"), ("shared", shared, "ON")):
        readme.by_find_package(kind, prefix)
        if shutil.which("pkg-config"):
            readme.by_pkg_config(kind, given["compiler"], prefix / given["libdir"])
        readme.by_subdirectory(kind, *ours, *unity, f"-DBUILD_SHARED_LIBS={on}")
        readme.by_fetch(kind, *ours, *unity, f"-DBUILD_SHARED_LIBS={on}")


def check_examples(package):
    """The folder examples as a project of its own, by the lines of its README: each example is built, or left out because
    of a component that the package lacks. Two examples run."""
    settings = package.settings
    source, build = pathlib.Path(settings["source"]) / "examples", package.folder / "examples"
    lines = block_with((source / "README.md").read_text(), "sh", "cmake -S examples")
    for old, new in (("-S examples", f"-S {source}"), ('"$HOME/hocket-install"', package.prefix), ("-B build", f"-B {build}"),
                     ("--build build", f"--build {build}"), ("\nbuild/", f"\n{build}/")):
        require(lines.count(old) == 1, f"examples/README.md: its lines do not have {old} once")
        lines = lines.replace(old, str(new))
    # By the environment, since the lines have no options. Programs that only have to compile and start need no optimiser.
    output = must("sh", "-ec", lines, env={
        "CXX": settings["compiler"], "CXXFLAGS": f"{settings['flags']} -O0", "CMAKE_GENERATOR": settings["generator"],
        "CMAKE_CXX_COMPILER_LAUNCHER": settings["launcher"]})
    left_out = dict(re.findall(r"example (\w+) is left out: hocket::(\w+)", output))
    unfounded = {name for name, component in left_out.items() if component in package.layers + package.extensions}
    require(not unfounded, f"left out for a component that the package has: {sorted(unfounded)}")
    built = {path.name.removeprefix("example_") for path in build.glob("example_*")}
    examples = {path.stem for path in source.glob("*.cpp")} | {path.parent.name for path in source.glob("*/main.cpp")}
    difference = examples ^ (built | left_out.keys())
    require(not difference, f"neither built nor left out, or no example: {sorted(difference)}")
    must(build / ("example_both_kinds" if "fiber" in package.layers else "example_gather"))


def check_tutorial(package):
    """The tutorial's empty folder: its CMakeLists.txt, and the program of the first chapter as main.cpp."""
    settings, folder = package.settings, package.folder / "tutorial"
    if "fiber" not in package.layers:
        return
    source = pathlib.Path(settings["source"])
    folder.mkdir()
    shutil.copy(source / "examples/tutorial/hello.cpp", folder / "main.cpp")
    text = (source / "docs/tutorial/README.md").read_text()
    (folder / "CMakeLists.txt").write_text(block_with(text, "cmake", "add_executable"))
    lines, prefix = block_with(text, "sh", "cmake -B build"), '"$HOME/hocket-tutorial"'
    require(lines.count(prefix) == 1, f"docs/tutorial/README.md: its lines do not have {prefix} once")
    lines = lines.replace(prefix, str(package.prefix))
    output = must("sh", "-ec", f"cd {folder}\n{lines}", env={
        "CXX": settings["compiler"], "CXXFLAGS": settings["flags"], "CMAKE_GENERATOR": settings["generator"],
        "CMAKE_CXX_COMPILER_LAUNCHER": settings["launcher"]})
    require(output.endswith((source / "examples/tutorial/hello.txt").read_text()), output)


def check_layouts(package):
    """A mixture of two layouts does not link, and does not load: see layouts.py."""
    Layouts(package, run, require).check()


CHECKS = (check_files, check_compiler_check, check_find_package, check_extensions, check_outside, check_pkg_config, check_subdirectory,
          check_gdb, check_readme, check_gdb_of_shared, check_examples, check_tutorial, check_layouts)


def main(settings):
    with tempfile.TemporaryDirectory() as folder:
        package = Package(json.loads(pathlib.Path(settings).read_text()), pathlib.Path(folder).resolve())
        package.install()
        for check in CHECKS:
            try:
                check(package)
            except Failed as reason:
                sys.exit(f"{check.__name__}: {reason}")
            print(f"{check.__name__}: ok", flush=True)


main(sys.argv[1])
