#!/usr/bin/env python3
"""Each call that can block is hooked, or docs/blocking-clients.md names it under "What is not covered".

  imports_test.py <hooked.list> <blocking.list> <blocking-clients.md> <program>

Each call of blocking.list is in exactly one of the two lists, and the page names no other call. Each library below imports no call that
can block and is in neither. The program is linked with hocket::hook, and exports each hooked name.
"""
import pathlib
import re
import subprocess
import sys

LIBRARIES = ["libpq.so.5", "libhiredis.so.0.14", "libmariadb.so.3", "libcurl.so.4", "libssl.so.3", "libcrypto.so.3",
             "libsqlite3.so.0", "libpython3.11.so.1.0"]
# Hooked calls that cannot block.
NEVER_BLOCK = set("dup getsockopt pthread_mutex_trylock pthread_mutex_unlock setsockopt sigaction signal".split())


def words_of(list_file):
    """The words of a file, without its comments."""
    lines = pathlib.Path(list_file).read_text().splitlines()
    return {word for line in lines if not line.startswith("#") for word in line.split()}


def undefined(library):
    """The names that `library` imports."""
    listed = subprocess.run(["nm", "-D", "--undefined-only", library], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in listed.splitlines()}


def exported(program):
    listed = subprocess.run(["nm", "-D", "--defined-only", program], capture_output=True, text=True, check=True).stdout
    return {line.split()[-1].partition("@")[0] for line in listed.splitlines()}


def find(name):
    cache = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True).stdout
    found = re.search(rf"^\s*{re.escape(name)} .*=> (\S+)$", cache, re.MULTILINE)
    return found and found.group(1)


def documented(page):
    """The calls that the page names as not covered."""
    calls = page.partition("### What is not covered")[2].partition("\nNor are\n")[0]
    return set(re.findall(r"`(\w+)`", calls)) - {"process", "signal_set"}


def compare(blocking, hooked, named):
    """The differences between the lists."""
    yield from (f"{call} can block: neither hooked nor named in the page" for call in sorted(blocking - hooked - named))
    yield from (f"{call} is hooked, and the page names it as not covered" for call in sorted(hooked & named))
    yield from (f"{call} is named in the page, and blocking.list has it not" for call in sorted(named - blocking))
    yield from (f"{call} is hooked, and blocking.list has it not" for call in sorted(hooked - blocking - NEVER_BLOCK))


def main(hooked_list, blocking_list, page, program):
    hooked = set(re.findall(r"^\s+(\w+);", pathlib.Path(hooked_list).read_text(), re.MULTILINE))
    blocking = words_of(blocking_list)
    named = documented(pathlib.Path(page).read_text())
    wrong = [f"{name} is in {hooked_list}, and the program does not export it" for name in sorted(hooked - exported(program))]
    wrong += compare(blocking, hooked, named)
    libraries = 0
    for name in LIBRARIES:
        library = find(name)
        if not library:
            print(f"left out: {name} is not installed")
            continue
        libraries += 1
        imported = undefined(library) & blocking
        print(f"{name}: {len(imported)} calls that can block, {len(imported & hooked)} hooked")
        wrong += [f"{name} imports {call}: neither hooked nor named" for call in sorted(imported - hooked - named)]
    print("\n".join(wrong))
    return 1 if wrong or not libraries else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
