"""What the verbs need from outside, and installing it.

Three kinds: Debian packages (packages.txt of tools, of lab, and of the folders of lab/subjects), PyPI packages in .venv
(requirements.txt of these folders), and sources from PyPI, which tests compile, in .venv/sources (SOURCES).
Nothing is installed without being named first, and nothing at all under --no-install or HOCKET_NO_INSTALL=1: then a
missing package is an error, or, when it is optional, something that its user leaves out.
"""
import collections
import importlib.util
import itertools
import os
import pathlib
import re
import shutil
import subprocess
import sys

from .shell import ROOT, Stop, must_quietly

Package = collections.namedtuple("Package", "name optional unless", defaults=[None])

FLAG = re.compile(r"optional|unless:\S+")
VENV = ROOT / ".venv"
REQUIREMENTS = ROOT / "tools/requirements.txt"
SOURCES = ROOT / "tests/differential/sources.txt"
LAB = ROOT / "lab"
APT_GET = ["apt-get", "-o", "DPkg::Lock::Timeout=300", "-q", "-y"]


def forbidden():
    return os.environ.get("HOCKET_NO_INSTALL", "0") not in ("", "0")


def read_packages(path, group):
    """Packages by group. A line is a name, perhaps "optional", perhaps "unless:PROGRAM", and a remark; "[group]" opens a group."""
    groups = collections.defaultdict(list)
    for line in path.read_text().splitlines() if path.exists() else []:
        words = line.partition("#")[0].split()
        if not words:
            continue
        if words[0].startswith("["):
            group = words[0].strip("[]")
            continue
        flags = list(itertools.takewhile(FLAG.fullmatch, words[1:]))
        unless = next((flag.partition(":")[2] for flag in flags if ":" in flag), None)
        groups[group].append(Package(words[0], "optional" in flags, unless))
    return groups


def find_program(name):
    """Its path, or None. A user's own Rust may be outside of PATH."""
    return shutil.which(name) or shutil.which(name, path=str(pathlib.Path.home() / ".cargo/bin"))


def packages(groups):
    known = read_packages(ROOT / "tools/packages.txt", "build")
    # A subject of the lab that is not installed is skipped by name, so all of its packages are optional.
    known["lab"] = [package._replace(optional=True) for file in [LAB / "packages.txt", *sorted(LAB.glob("subjects/*/packages.txt"))]
                    for found in read_packages(file, "lab").values() for package in found]
    if importlib.util.find_spec("ensurepip"):
        known["python"] = []
    return [package for group in groups for package in known[group]]


def missing_packages(groups):
    listed = {}
    for package in packages(groups):   # several lists may name a package
        listed.setdefault(package.name, package)
    needed = [package for package in listed.values() if not package.unless or not find_program(package.unless)]
    if not needed or not shutil.which("dpkg-query"):
        return []
    query = ["dpkg-query", "-W", "-f=${Package} ${db:Status-Status}\n", *(package.name for package in needed)]
    answer = subprocess.run(query, capture_output=True, text=True).stdout
    installed = {line.split()[0] for line in answer.splitlines() if line.endswith(" installed")}
    return [package for package in needed if package.name not in installed]


def as_root(command):
    if os.geteuid() == 0:
        return command
    if shutil.which("sudo"):
        return ["sudo", "env", "DEBIAN_FRONTEND=noninteractive", *command]
    raise Stop(f"neither root nor sudo: run `{' '.join(command)}` as root, then again")


def apt(*arguments):
    must_quietly(*as_root([*APT_GET, *arguments]), log="setup.log", env={"DEBIAN_FRONTEND": "noninteractive"})


def install_packages(missing):
    print("installing Debian packages:", " ".join(package.name for package in missing), flush=True)
    apt("update")
    install = ["install", "--no-install-recommends"]
    try:
        apt(*install, *(package.name for package in missing))
        return
    except Stop:
        if not any(package.optional for package in missing):
            raise
    for package in missing:  # one that cannot be had must not keep the others away
        try:
            apt(*install, package.name)
        except Stop as reason:
            if not package.optional:
                raise
            print(f"not installed: {package.name}: {str(reason).splitlines()[-2]}")


def ensure_packages(*groups):
    missing = missing_packages(groups)
    if not missing:
        return
    if not forbidden():
        install_packages(missing)
        return
    required = [package.name for package in missing if not package.optional]
    if required:
        raise Stop(f"missing: {' '.join(required)}. Run `./dev setup`, or install them yourself")
    print("left out (not installed, optional):", " ".join(package.name for package in missing))


def files_of_optional_packages():
    """The paths that the installed optional packages own."""
    groups = read_packages(ROOT / "tools/packages.txt", "build").values()
    names = [package.name for group in groups for package in group if package.optional or package.name.startswith("clang")]
    if not shutil.which("dpkg-query"):
        return []
    return subprocess.run(["dpkg-query", "-L", *names], capture_output=True, text=True).stdout.splitlines()


def ensure_venv(requirements=REQUIREMENTS):
    """These PyPI packages, at their pinned versions. False if they are missing and must not be installed."""
    stamp = VENV / f"{requirements.parent.name}-requirements.txt"
    required = requirements.read_text()
    if stamp.exists() and stamp.read_text() == required:
        return True
    names = [line for line in required.splitlines() if "==" in line]
    if forbidden():
        print("left out (not installed, from PyPI):", " ".join(names))
        return False
    ensure_packages("python")
    print("installing into .venv from PyPI:", " ".join(names), flush=True)
    must_quietly(sys.executable, "-m", "venv", str(VENV), log="setup.log")
    must_quietly(str(VENV / "bin/pip"), "install", "--quiet", "-r", str(requirements), log="setup.log")
    stamp.write_text(required)
    return True


def ensure_sources(requirements=SOURCES):
    """Downloads and unpacks these source distributions, whose hashes the file pins. False if they are missing and must not be fetched."""
    folder = VENV / "sources"
    stamp = folder / "sources.txt"
    required = requirements.read_text()
    if stamp.exists() and stamp.read_text() == required:
        return True
    names = [line.split()[0] for line in required.splitlines() if "==" in line]
    if forbidden():
        print("left out (not downloaded, from PyPI):", " ".join(names))
        return False
    ensure_venv()
    print("downloading into .venv/sources from PyPI:", " ".join(names), flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    must_quietly(str(VENV / "bin/pip"), "download", "--quiet", "--require-hashes", "--no-deps", "-r", str(requirements), "-d", str(folder),
                 log="setup.log")
    for archive in sorted(folder.glob("*.tar.gz")):
        shutil.unpack_archive(archive, folder)
    stamp.write_text(required)
    return True


def ensure_lab():
    """What the lab's systems need; all of it is optional."""
    ensure_packages("build", "lab")
    return all([ensure_optional(ensure_venv, file) for file in sorted(LAB.glob("subjects/*/requirements.txt"))])


def ensure_optional(ensure, requirements):
    try:
        return ensure(requirements)
    except Stop as reason:
        print(f"not installed: what {requirements.relative_to(ROOT)} names: {str(reason).splitlines()[-1]}")
        return False


def setup():
    groups = ["build", "debug", "extensions", "clients", "clang", "cross", "browser", "fresh", "lab"]
    ensure_packages(*groups)
    has_all = [ensure_venv(), ensure_optional(ensure_sources, SOURCES), ensure_lab(), not missing_packages(groups)]
    if all(has_all):
        print("everything is installed")
