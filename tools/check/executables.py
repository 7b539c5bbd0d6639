"""Run bits: ./dev and .ci/run can be started as they are, and start with the interpreter they need."""
import os

from .tree import Finding

FAST = True
PROGRAMS = ("dev", ".ci/run")


def check(tree):
    findings = []
    for path in PROGRAMS:
        if path not in tree.texts:
            findings.append(Finding(path, 0, "missing"))
        elif not tree.texts[path].startswith("#!/usr/bin/env "):
            findings.append(Finding(path, 1, "no #!/usr/bin/env line"))
        elif not os.access(tree.root / path, os.X_OK):
            findings.append(Finding(path, 1, "no run bit"))
    return findings
