"""The parts of ./dev fresh that need no root: settings, names of hosts, logs, and the list of skips."""
import contextlib
import io
import json
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from developer import bare_root, fresh, fresh_report  # noqa: E402 (the path comes first)
from developer.fresh_report import Listed, Missing, Skip  # noqa: E402
from developer.shell import ROOT, Stop  # noqa: E402

SOURCES = """# http://earlier.example.org/debian
Types: deb
URIs: http://debian.example.org/debian
Suites: bookworm bookworm-updates
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg

Types: deb
URIs: https://vendor.example.com/apt
Suites: bookworm
Signed-By: /etc/apt/keyrings/vendor.gpg
"""
LINES = """deb [signed-by=/etc/apt/keyrings/vendor.gpg] https://vendor.example.com/apt bookworm main
deb http://debian.example.org/debian bookworm-security main
deb http://debian.example.org/debian trixie main
"""
CTEST = """
99% tests passed, 1 tests failed out of 4

The following tests did not run:
\t  2 - unit_wide (Skipped)

The following tests FAILED:
\t  3 - ext_clients (Failed)
\t  4 - ext_slow (Timeout)
Errors while running CTest
"""
LAST_TEST = """1/4 Testing: unit_plain
1/4 Test: unit_plain
Output:
----------------------------------------------------------
MESSAGE: skipped: no server (REDIS): see the list
MESSAGE: skipped: no server (REDIS): see the list
<end of output>
"unit_plain" end time: Nov 28 09:00 UTC
2/4 Testing: unit_wide
Output:
skipped: this processor has no AVX-512
"unit_wide" end time: Nov 28 09:00 UTC
3/4 Testing: ext_clients
Output:
FATAL ERROR: Could not find my_print_defaults
sh: 1: objdump: not found
"ext_clients" end time: Nov 28 09:00 UTC
"""


class Settings(unittest.TestCase):
    def test_only_the_sources_of_debian_itself_are_used(self):
        paragraphs = bare_root.debian_sources("debian.sources", SOURCES, "bookworm")
        self.assertIn("debian.example.org", paragraphs)
        self.assertNotIn("vendor", paragraphs)
        self.assertNotIn("old", paragraphs)
        self.assertEqual(bare_root.debian_sources("a.list", LINES, "bookworm"), LINES.splitlines()[1] + "\n")
        self.assertEqual(bare_root.debian_sources("a.list", LINES, "sid"), "")

    def test_variables_that_lead_to_packages_are_copied_and_secrets_are_not(self):
        settings = ["https_proxy", "NO_PROXY", "PIP_INDEX_URL", "GOPROXY", "CARGO_REGISTRIES_CRATES_INDEX", "SSL_CERT_FILE"]
        others = ["CARGO_REGISTRIES_CRATES_TOKEN", "PATH", "PIP_TARGET", "GOPATH", "CARGO_HOME", "HOME"]
        copied = bare_root.settings_for_packages(dict.fromkeys(settings + others, "x"))
        self.assertEqual(sorted(copied), sorted(settings))

    def test_settings_of_apt_that_reach_a_source(self):
        for line, is_used in (('Acquire::http::Proxy "http://p:1";', True), ('Acquire::Check-Date "false";', True),
                             ('Acquire::IndexTargets::deb::Optional "0";', False)):
            self.assertEqual(bool(bare_root.APT_SETTING.fullmatch(line)), is_used)


class Hosts(unittest.TestCase):
    def test_names_of_hosts_are_found_in_settings(self):
        texts = [SOURCES, "127.0.0.1 localhost\n10.0.0.7 build-7\n", "nameserver 10.0.0.53\n", "http://user:x@proxy:3128"]
        self.assertEqual(bare_root.hosts_in(texts), {"earlier.example.org", "debian.example.org", "vendor.example.com", "build-7", "10.0.0.53",
                                                     "proxy"})

    def test_names_of_hosts_are_replaced(self):
        redact = bare_root.Redactor({"debian.example.org", "build-7"})
        self.assertEqual(redact("Err:1 http://other.example/debian, no address of debian.example.org (build-7)"),
                         "Err:1 http://HOST/debian, no address of HOST (HOST)")
        self.assertEqual(redact("build-70 rebuild-7"), "build-70 rebuild-7")
        self.assertEqual(bare_root.Redactor(set())("all stays"), "all stays")


class Logs(unittest.TestCase):
    def test_failed_tests(self):
        self.assertEqual(fresh_report.failed_tests(CTEST), ["ext_clients", "ext_slow"])
        self.assertEqual(fresh_report.failed_tests("100% tests passed, 0 tests failed out of 4\n"), [])

    def test_skipped_tests_and_their_reasons(self):
        self.assertEqual(fresh_report.skipped_tests(CTEST, LAST_TEST),
                         [Skip("test unit_plain", "no server (REDIS): see the list"),
                          Skip("test unit_wide", "this processor has no AVX-512")])
        self.assertEqual(fresh_report.skipped_tests(CTEST, ""), [Skip("test unit_wide", "no reason was printed")])

    def test_skipped_cases_of_a_unit_test(self):
        self.assertEqual(fresh_report.skip_reasons("Ran 3 tests\n\nOK (skipped=2)\n"), ["2 of its cases"])

    def test_what_setup_and_the_build_skip(self):
        self.assertEqual(fresh_report.skipped_by_setup("not installed: a-package: no such package\n"),
                         [Skip("package a-package", "no such package")])
        self.assertEqual(fresh_report.skipped_by_build("-- hocket: libgc is not installed; gc is left out\n-- Found x\n"),
                         [Skip("build libgc", "libgc is not installed; gc is left out")])

    def test_what_the_lab_skips(self):
        run = {"skipped systems": {"go-pgx": "needs Go 1.26"}, "failed": [],
               "skipped": [{"system": "a", "workload": "w", "n": n, "reason": "one core"} for n in (1, 2)]}
        self.assertEqual(fresh_report.skipped_by_lab(run), [Skip("lab go-pgx", "needs Go 1.26"), Skip("lab a w", "one core")])

    def test_a_bound_of_a_system_is_no_skip(self):
        run = {"skipped systems": {}, "failed": [], "skipped": [{"system": "a", "workload": "w", "n": 2, "reason": "one thread"}]}
        with tempfile.TemporaryDirectory() as folder:
            subjects = pathlib.Path(folder, "lab/subjects/a")
            subjects.mkdir(parents=True)
            (subjects / "systems.json").write_text('{"systems": [{"id": "a", "n_at_most_because": "one thread"}, {"id": "b"}]}')
            bounds = fresh_report.bounds_of_systems(pathlib.Path(folder))
        self.assertEqual(bounds, {("a", "one thread")})
        self.assertEqual(fresh_report.skipped_by_lab(run, bounds), [])

    def test_files_whose_absence_fails_a_test(self):
        output = ("FileNotFoundError: [Errno 2] No such file or directory: 'nm'\nerror while loading shared libraries: libx.so.1: no\n"
                  "a.cpp:1:10: fatal error: zlib.h: No such file or directory\nModuleNotFoundError: No module named 'redis'\n"
                  "FATAL ERROR: Could not find my_print_defaults\nsh: 1: objdump: not found\n")
        self.assertEqual(fresh_report.missing_files(output), ["libx.so.1", "my_print_defaults", "nm", "objdump", "redis", "zlib.h"])

    def test_findings_of_a_run(self):
        with tempfile.TemporaryDirectory() as folder:
            logs, tree = pathlib.Path(folder), pathlib.Path(folder, "tree")
            for path, text in (("build/dev/Testing/Temporary/LastTest.log", LAST_TEST), ("build/lab/report.json", json.dumps(
                    {"skipped systems": {}, "skipped": [], "failed": [{"system": "a", "workload": "w", "n": 1, "reason": "no"}]}))):
                (tree / path).parent.mkdir(parents=True, exist_ok=True)
                (tree / path).write_text(text)
            (logs / "test.log").write_text(CTEST)
            with unittest.mock.patch.object(fresh_report, "package_of", return_value=None):
                findings = fresh_report.Findings(logs, tree, ["setup", "test", "lab"])
            fresh_report.remove_results(tree)
            self.assertEqual(fresh_report.Findings(logs, tree, ["setup", "lab"]).failed, [])
        self.assertEqual(findings.failed, ["ext_clients", "ext_slow", "lab a w"])
        self.assertEqual(findings.missing, [Missing("ext_clients", name, None) for name in ("my_print_defaults", "objdump")])
        self.assertEqual([skip.name for skip in findings.skips], ["test unit_plain", "test unit_wide"])


class List(unittest.TestCase):
    LISTED = fresh_report.read_list("# a remark\n\nlab go-pgx | Go 1.26\ntest wide | no AVX-512 | perhaps\n")
    GO, WIDE = Skip("lab go-pgx", "needs Go 1.26"), Skip("test wide", "this processor has no AVX-512")

    def test_a_line_is_a_name_a_reason_and_perhaps(self):
        self.assertEqual(self.LISTED, {"lab go-pgx": Listed("Go 1.26", False), "test wide": Listed("no AVX-512", True)})

    def test_a_run_that_agrees(self):
        for skips in ([self.GO, self.WIDE], [self.GO]):
            self.assertEqual(fresh_report.compare(skips, self.LISTED, ["lab", "test"]), [])

    def test_each_difference_is_named(self):
        self.assertEqual(fresh_report.compare([self.GO, Skip("lab new", "no x")], self.LISTED, ["lab"]), ["not in the list: lab new | no x"])
        self.assertEqual(fresh_report.compare([], self.LISTED, ["lab"]), ["in the list, but not skipped: lab go-pgx"])
        self.assertEqual(fresh_report.compare([Skip("lab go-pgx", "no go")], self.LISTED, ["lab"]),
                         ["another reason: lab go-pgx | no go (listed: Go 1.26)"])

    def test_what_a_run_could_not_skip_is_no_difference(self):
        self.assertEqual(fresh_report.compare([], self.LISTED, ["test", "build"]), [])

    def test_every_line_of_the_list_in_the_tree_has_a_kind_and_a_reason(self):
        kinds = {kind for kinds in fresh.KINDS.values() for kind in kinds}
        for name, entry in fresh_report.read_list((ROOT / fresh.LIST).read_text()).items():
            self.assertIn(name.split()[0], kinds)
            self.assertTrue(entry.reason, name)


class Command(unittest.TestCase):
    def test_a_slice_runs_setup_and_its_programs(self):
        self.assertEqual(fresh.steps_of("a,b"), {"setup": ["./dev", "setup"], "test": ["./dev", "test", "--only", "a,b"]})
        self.assertEqual(list(fresh.steps_of(None)), ["setup", "test", "lab"])

    def test_a_machine_that_cannot_gets_the_remedy(self):
        with unittest.mock.patch("os.geteuid", return_value=1000):
            self.assertIn("sudo ./dev fresh", bare_root.requirements_unmet())
        with unittest.mock.patch("os.geteuid", return_value=0), unittest.mock.patch("shutil.which", return_value="/bin/x"), \
                unittest.mock.patch.object(bare_root, "NAMESPACES", ["false"]):
            self.assertIn("CAP_SYS_ADMIN", bare_root.requirements_unmet())

    def test_a_failed_setup_ends_the_run_and_a_failed_test_does_not(self):
        for failing, rows in (("setup", ["setup"]), ("test", ["setup", "test", "lab"])):
            with unittest.mock.patch.object(fresh, "run_step", lambda _, name, *__, failing=failing: (1.0, int(name == failing))):
                self.assertEqual([row[0] for row in fresh.run_steps(None, fresh.steps_of(None), str)], rows)

    def test_a_root_with_a_mount_below_it_is_not_removed(self):
        with tempfile.TemporaryDirectory() as folder:
            bare = bare_root.BareRoot(pathlib.Path(folder))
            bare.root.mkdir()
            line = f"1 2 0:3 / {bare.root}/proc rw - proc proc rw\n"
            with unittest.mock.patch("pathlib.Path.read_text", return_value=line), self.assertRaisesRegex(Stop, "umount"):
                bare.remove()
            self.assertTrue(bare.root.exists())

    def test_the_report_names_missing_files_and_differences(self):
        findings = unittest.mock.Mock(skips=[Skip("lab x", "no y")], failed=["z"], missing=[Missing("z", "nm", "binutils")])
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            fresh.report([("setup", 3.2, "passed")], findings, ["not in the list: lab x"], str)
        for text in ("lab x | no y", "z: nm, of the package binutils", "not in the list: lab x", "setup             3  passed"):
            self.assertIn(text, printed.getvalue())

    def test_a_report_has_no_empty_list(self):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            fresh.report([], unittest.mock.Mock(skips=[], failed=[], missing=[]), [], str)
        self.assertTrue(printed.getvalue().strip().startswith("step"), printed.getvalue())


if __name__ == "__main__":
    unittest.main()
