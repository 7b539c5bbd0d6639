"""hocket-cells: every fiber of the process, from the slabs of stacks alone (src/stack/slab_table.hpp).

A control block lies in a cell of its slab, and its words have its state (fiber/detail/control_block.hpp). So it also
finds raw coroutines, and fibers of loops that are not listed or no longer exist.
"""
import gdb

from . import frames, listing
from .coroutines import Coroutine, libraries_with
from .memory import word

CELL = 64
SCHEDULED = 8  # fiber_flag
STARTED = 2  # header_flag
HEADINGS = ("CELL", "NAME", "KIND", "STATE", "WAITS FOR")


def slabs(library):
    chunk = library.at("detail::slab_chunk", int(gdb.parse_and_eval(f"&'{library.prefix}detail::slab_table'")))
    while chunk:
        entries = chunk["entries"]
        for i in range(entries.type.range()[1] + 1):
            at = word(entries.address + 8 * i)
            if at:
                yield library.at("detail::stack_slab", at)
        following = chunk["next"].word()
        chunk = library.at("detail::slab_chunk", following) if following else None


def live_cells(library):
    for slab in slabs(library):
        head = slab.type.sizeof
        for index in range(low_half(slab["initialized_"])):
            cell = Cell(library, slab, index, slab.address + head + index * CELL)
            if cell.is_live():
                yield cell


def low_half(field):
    return field.word() & 0xFFFFFFFF


class Cell:
    def __init__(self, library, slab, index, address):
        self.library = library
        self.slab = slab
        self.index = index
        self.block = library.at("detail::control_block", address)
        self.frame = frames.Frame(address)

    def is_live(self):
        return self.frame.kind == "fiber" and self.block["head"]["resume"].word() != 0

    def coroutine(self):
        """The spawned coroutine; None for a raw coroutine."""
        if not self.frame.flags & SCHEDULED:
            return None
        strand = self.library.at("context", self.frame.context)["strand_"].word()  # the address of its scheduled, too
        return Coroutine(self.library, self.library.at("detail::scheduled", strand)) if strand else None

    def state(self):
        record = self.block["record"].word()
        if not self.frame.flags & STARTED:
            return "unstarted"
        coroutine = self.coroutine()
        if not coroutine:
            return "suspended" if record else "running"
        if not record:
            return "running"
        return "waiting" if coroutine.waits_abroad() or coroutine.wait() else "ready"

    def name(self):
        coroutine = self.coroutine()
        if coroutine:
            return coroutine.name
        if frames.is_packed(self.block):
            return "-"
        record = self.library.type("detail::fiber_record")
        return self.library.at("detail::fiber_record", self.top() - record.sizeof)["name"].text()

    def top(self):
        """stack_slab::top()."""
        geometry = self.slab["geometry_"]
        part = (low_half(self.slab["number_"]) + self.index) * low_half(geometry["turn"]) & 0xFFFFFFFF
        colour = (part * low_half(geometry["colours"]) >> 32) * 64
        strides = 1 if geometry["shared"].word() & 0xFF else self.index + 1
        return self.slab["stacks_"].word() + strides * geometry["stride"].word() - colour

    def row(self):
        coroutine = self.coroutine()
        awaited = listing.awaited(coroutine) if coroutine and self.state() == "waiting" else "-"
        return (f"{self.block.address:#x}", listing.shortened(self.name()), "fiber" if coroutine else "raw fiber",
                self.state(), awaited)


def print_all():
    for library in libraries_with("slab_table", "stacks of hocket"):
        rows = [cell.row() for cell in live_cells(library)]
        print(f"{len(rows)} fibers in {sum(1 for _ in slabs(library))} slabs")
        if rows:
            listing.print_rows([HEADINGS, *rows])
