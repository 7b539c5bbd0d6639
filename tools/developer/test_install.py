"""The lists of Debian packages: what a line means, and which packages are missing."""
import os
import pathlib
import sys
import tarfile
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from developer import install  # noqa: E402 (the path comes first)
from developer.install import Package  # noqa: E402

LIST = """# a remark
first
[peers]
second   optional      a remark with the word unless:there
third    unless:tool   a remark
fourth   optional unless:tool
"""


class Lists(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def program(self, name):
        (self.folder / name).write_text("#!/bin/sh\n")
        (self.folder / name).chmod(0o755)

    def test_a_line_is_a_name_flags_and_a_remark(self):
        (self.folder / "packages.txt").write_text(LIST)
        groups = install.read_packages(self.folder / "packages.txt", "build")
        self.assertEqual(groups["build"], [Package("first", False)])
        self.assertEqual(groups["peers"], [Package("second", True), Package("third", False, "tool"), Package("fourth", True, "tool")])

    def missing(self, packages):
        paths = {"PATH": f"{self.folder}", "HOME": "/nowhere"}
        with unittest.mock.patch.object(install, "packages", return_value=packages), unittest.mock.patch.dict(os.environ, paths):
            self.program("dpkg-query")   # it has no package
            return [package.name for package in install.missing_packages(["build"])]

    def test_a_package_is_missing_unless_its_program_is_on_the_path(self):
        packages = [Package("plain", True), Package("go-package", True, "go"), Package("cargo-package", True, "cargo")]
        self.assertEqual(self.missing(packages), ["plain", "go-package", "cargo-package"])
        self.program("go")
        self.assertEqual(self.missing(packages), ["plain", "cargo-package"])

    def test_a_package_of_two_lists_is_missing_once_and_required_if_the_first_list_requires_it(self):
        with unittest.mock.patch.dict(os.environ, {"PATH": str(self.folder)}), unittest.mock.patch.object(
                install, "packages", return_value=[Package("a", False), Package("b", True), Package("a", True)]):
            self.program("dpkg-query")
            self.assertEqual(install.missing_packages(["build"]), [Package("a", False), Package("b", True)])

    def test_peers_of_other_languages_are_installed_unless_their_compiler_is_there(self):
        conditions = {package.name: package.unless for package in install.packages(["lab"])}
        self.assertEqual({name: conditions.get(name) for name in ("golang-go", "cargo-web", "rustc-web")},
                         {"golang-go": "go", "cargo-web": "cargo", "rustc-web": "cargo"})


class Sources(unittest.TestCase):
    """Source distributions that tests compile: sources.txt names them, with their hashes."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        folder = pathlib.Path(scratch.name)
        self.requirements, self.venv = folder / "sources.txt", folder / "venv"
        self.requirements.write_text("--no-binary thing\nthing==1 --hash=sha256:00\n")
        self.commands = []

    def ensure(self, **variables):
        with unittest.mock.patch.multiple(install, VENV=self.venv, ensure_venv=lambda: True, must_quietly=self.download), \
                unittest.mock.patch.dict(os.environ, {"HOCKET_NO_INSTALL": "0", **variables}):
            return install.ensure_sources(self.requirements)

    def download(self, *command, **_):
        self.commands.append(command)
        folder = self.venv / "sources"
        folder.mkdir(parents=True)
        (folder / "read.c").write_text("")
        with tarfile.open(folder / "thing-1.tar.gz", "w:gz") as archive:
            archive.add(folder / "read.c", "thing-1/read.c")

    def test_they_are_downloaded_by_hash_and_unpacked_once(self):
        self.assertTrue(self.ensure())
        self.assertTrue((self.venv / "sources/thing-1/read.c").exists())
        self.assertIn("--require-hashes", self.commands[0])
        self.assertTrue(self.ensure())
        self.assertEqual(len(self.commands), 1)

    def test_another_list_is_downloaded_anew(self):
        self.ensure()
        self.requirements.write_text("thing==2 --hash=sha256:00\n")
        self.assertTrue(self.ensure())
        self.assertEqual(len(self.commands), 2)

    def test_nothing_is_downloaded_where_that_is_forbidden(self):
        self.assertFalse(self.ensure(HOCKET_NO_INSTALL="1"))
        self.assertEqual(self.commands, [])


if __name__ == "__main__":
    unittest.main()
