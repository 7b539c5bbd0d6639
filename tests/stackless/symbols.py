"""symbols.py <library>...: a stackless build has no symbol of context, stack or fiber, nor one that it wants from them."""
import re
import subprocess
import sys

FORBIDDEN = re.compile(r"hocket_(switch|entry|frame_|start_)|hocket::[^ ]*(fiber_|control_block|stack_pool|stack_depot|stack_slab|machine::)")


def symbols_of(library):
    listing = subprocess.run(["nm", "--demangle", library], capture_output=True, text=True, check=True).stdout
    return listing.splitlines()


def main(libraries):
    seen = 0
    found = []
    for library in libraries:
        lines = symbols_of(library)
        seen += len(lines)
        found += [f"{library}: {line}" for line in lines if FORBIDDEN.search(line)]
    print(f"{seen} symbols in {len(libraries)} libraries, {len(found)} of the stackful layers")
    print("\n".join(found))
    return 1 if found or seen < 100 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
