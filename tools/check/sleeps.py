"""No sleeping tests: a test that sleeps to let something happen is slow when it is right and wrong when it is slow.

Time in tests is virtual or counted in steps. Neither is a test skipped, or allowed to fail; one that means nothing in a
configuration says which: doctest::skip(condition). tools/check/sleeping.txt may name a file, with its reason.
"""
from .tree import Finding, matches, table

FAST = True
LIST = "tools/check/sleeping.txt"
SLEEP = r"\bthis_thread\s*::\s*sleep_\w+|(?<![.>\w])(?:u|nano|clock_nano)?sleep\s*\((?!\s*\))|\btime\.sleep\b"
SKIP = r"\bdoctest::(?:skip\(\s*(?:true)?\s*\)|may_fail\b)"


def check(tree):
    reasons = {path: reason for _, path, reason in table(tree, LIST, 2)}
    findings = []
    for path in tree.paths("tests", "ext", endings=(".cpp", ".hpp", ".py")):
        if reasons.get(path):
            continue
        findings += [Finding(path, line, "a test that sleeps") for line, _ in matches(tree, path, SLEEP)]
        findings += [Finding(path, line, "a test that is skipped or may fail") for line, _ in matches(tree, path, SKIP)]
    return findings
