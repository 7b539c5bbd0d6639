"""A core file with the stacks of fibers.

The kernel writes them. gdb's own generate-core-file reads memory in large pieces and gives up a mapping at the first
page that cannot be read, for example a guard page, if guards are markers in a mapping (Linux 6.13 and later). So the
omitted memory is read again page by page, and written into its part of the file.
"""
import struct

import gdb

PIECE = 1 << 20  # bytes that gdb reads at once
PAGE = 4096
LOAD, WRITABLE = 1, 2


def write(path):
    gdb.execute(f"generate-core-file {path}", to_string=True)
    with open(path, "r+b") as core:
        for address, offset, size in writable_segments(core):
            complete(core, address, offset, size)


def writable_segments(core):
    """(address, offset in the file, size) by the program headers of a 64-bit ELF file."""
    header = core.read(64)
    order = "<" if header[5] == 1 else ">"
    if header[4] != 2:
        raise gdb.GdbError("only 64-bit core files are completed: this one may lack the stacks of fibers")
    table, = struct.unpack(order + "Q", header[32:40])
    entry, count = struct.unpack(order + "HH", header[54:58])
    core.seek(table)
    for _ in range(count):
        kind, flags, offset, address, _, size = struct.unpack(order + "IIQQQQ", core.read(entry)[:40])
        if kind == LOAD and flags & WRITABLE:
            yield address, offset, size


def complete(core, address, offset, size):
    position = core.tell()
    missing = next((at for at in range(0, size, PIECE) if read(address + at, min(PIECE, size - at)) is None), size)
    for at in range(missing, size, PAGE):
        page = read(address + at, PAGE)
        if page is not None:
            core.seek(offset + at)
            core.write(page)
    core.seek(position)


def read(address, size):
    try:
        return gdb.selected_inferior().read_memory(address, size).tobytes()
    except gdb.MemoryError:
        return None
