"""Finds symbols of context, stack or fiber that a library defines or needs.

    symbols.py <library>...              must find none: the layers of a stackless build
    symbols.py --control <library>...    must find every kind of them: the libraries of the three layers
"""
import re
import subprocess
import sys

COMPILED = ("fiber_", "control_block", "stack_pool", "stack_depot", "stack_slab", "stack_image", "exception_globals",
            "any_coroutine", "packing_batch", "big_stack", "follow_order")
INLINE = ("coroutine_self", "machine::")  # in the libraries of their users
FORBIDDEN = re.compile(rf"hocket_(?:switch|entry|frame_|start_)|hocket::[^ ]*?({'|'.join(COMPILED + INLINE)})")


def symbols_of(library):
    listing = subprocess.run(["nm", "--demangle", library], capture_output=True, text=True, check=True).stdout
    return listing.splitlines()


def main(arguments):
    is_control = arguments[0] == "--control"
    libraries = arguments[is_control:]
    lines = [(library, line) for library in libraries for line in symbols_of(library)]
    found = [(library, line, match[1]) for library, line in lines if (match := FORBIDDEN.search(line))]
    print(f"{len(lines)} symbols in {len(libraries)} libraries, {len(found)} of the stackful layers")
    if is_control:
        missing = set(COMPILED) - {word for _, _, word in found}
        print("not found:", *sorted(missing))
        return 1 if missing else 0
    print("\n".join(f"{library}: {line}" for library, line, _ in found))
    return 1 if found or len(lines) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
