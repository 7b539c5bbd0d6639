"""What `./dev lab profile` makes of callgrind's files."""
import contextlib
import io
import os
import pathlib
import sys
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import profile  # noqa: E402 (the path is set first)

DUMP = """positions: instr line
events: Ir
ob=(1) /a/program
fn=(1) main
0x401000 10 7
cob=(2) /lib/libc.so.6
cfn=(2) malloc
calls=3 0x10 0
0x401005 11 900
0x401000 12 1
fn=(3) other
0x401010 13 20

ob=(2)
fn=(2)
0x10 0 30
"""


class Parts(unittest.TestCase):
    def test_what_a_call_costs_belongs_to_the_called(self):
        self.assertEqual(profile.costs(DUMP), {("/a/program", 0x401000): 8, ("/a/program", 0x401005): 0,
                                               ("/a/program", 0x401010): 20, ("/lib/libc.so.6", 0x10): 30})

    def test_shares_are_of_what_the_longer_run_has_more(self):
        large, rest = profile.shares({"setup": 500, "switch": 10}, {"setup": 500, "switch": 970, "check": 36, "rare": 4})
        self.assertEqual(large, [("switch", 0.96), ("check", 0.036)])
        self.assertAlmostEqual(rest, 0.004)
        with self.assertRaisesRegex(SystemExit, "no more than the shorter"):
            profile.shares({"setup": 5}, {"setup": 5})

    def test_names_are_short(self):
        for name, expected in (("hocket::v0::detail::enter(hocket::v0::fiber&)", "hocket::detail::enter"),
                               ("(anonymous namespace)::life", "life"),
                               ("lab::page<pool<int> >::rounds()::{lambda(int)#1}::operator()(int) const", "lab::page::rounds"),
                               ("std::vector<a<b>, c>::at(unsigned long)", "std::vector::at")):
            self.assertEqual(profile.short(name), expected)

    def test_the_documents_lists_stand_beside(self):
        for _, table in profile.PROFILES.values():
            name, share = profile.published(table)[0]
            self.assertEqual(name, "copp_jump_fcontext")
            self.assertRegex(share, r"\d+\.\d\d%")

    def test_a_missing_tool_is_named_with_its_remedy(self):
        with unittest.mock.patch.dict(os.environ, {"PATH": ""}), self.assertRaisesRegex(SystemExit, "needs valgrind: .*apt-get install"):
            profile.main(["switch"])

    def test_what_cannot_be_profiled_is_refused(self):
        with contextlib.redirect_stderr(io.StringIO()) as errors, self.assertRaises(SystemExit):
            profile.main(["lunch"])
        self.assertIn("switch", errors.getvalue())


if __name__ == "__main__":
    unittest.main()
