"""Words, strings and symbols of the process or core file."""
import re

import gdb


def word(address):
    unsigned_long = gdb.lookup_type("unsigned long")
    return int(gdb.Value(address).cast(unsigned_long.pointer()).dereference())


def words(address, count):
    """Up to `count` words from `address`: fewer where memory ends."""
    found = []
    try:
        for at in range(address, address + 8 * count, 8):
            found.append(word(at))
    except gdb.MemoryError:
        pass
    return found


def symbol_at(address):
    """(demangled name, offset) of the symbol that holds an address; (None, 0) if none does."""
    line = gdb.execute(f"info symbol {address}", to_string=True)
    match = re.match(r"(.+?)(?: \+ (\d+))? in section ", line)
    return (match.group(1), int(match.group(2) or 0)) if match else (None, 0)


def backend_of_program():
    """The back end of the switch: the end of the layout symbol (base/detail/platform/layout.hpp)."""
    listed = gdb.execute("info variables -q ^hocket_layout_v", to_string=True)
    found = re.search(r"\bhocket_layout_v\w+_(native|ucontext|thread|portable)\b", listed)
    return found.group(1) if found else "native"


def without_additions(name):
    """The name of a function without its parameters and what compilers add."""
    return without_parameters(re.sub(r"( const)?( \[clone [^]]*\])+$", "", name))


def without_parameters(name):
    name = name.removesuffix(" const")
    if not name.endswith(")"):
        return name
    depth = 0
    for at in range(len(name) - 1, -1, -1):
        depth += {")": 1, "(": -1}.get(name[at], 0)
        if depth == 0:
            return name[:at]
    return name


def source_location(at):
    """(file, line) of what a std::source_location points to, laid out alike by every compiler; None if it is empty."""
    if not at:
        return None
    char = gdb.lookup_type("char")
    line = int(gdb.Value(at + 16).cast(gdb.lookup_type("unsigned int").pointer()).dereference())
    return (gdb.Value(word(at)).cast(char.pointer()).string(errors="replace"), line) if line else None
