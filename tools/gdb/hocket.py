"""Shows hocket's coroutines in gdb, in a live process or a core file:   (gdb) source tools/gdb/hocket.py

  hocket-list               every live coroutine of every loop: the table of loop::dump, with numbers
  hocket-cells              every fiber that has a stack, raw coroutines too, with its state: from the stacks alone
  hocket-frames             every frame of an unfinished task or generator, awaited or not
  hocket-bt [-all] WHICH    one backtrace from the suspended frame outward: its tasks, its own stack, its joiners
  hocket-bt-record RECORD   the backtrace of a parked stack, from its record (context/seam/switch.hpp)
  hocket-core FILE          generate-core-file that does not lose the stacks of fibers

WHICH is a number or an address of hocket-list, a name, or an expression: a join_handle or a coroutine<...> object.
`-all` shows the library's own frames, too.

The commands call nothing in the process and write nothing to it. It is stopped meanwhile. The library must have been
built with -g, and for their lines the coroutines, too.
"""
import os
import sys

import gdb

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
for name in [name for name in sys.modules if name.partition(".")[0] == "hocket_gdb"]:
    del sys.modules[name]  # sourced again: the files may have changed

from hocket_gdb import backtrace, cells, corefile, listing, pieces, stacks  # noqa: E402 (the path comes first)


class Command(gdb.Command):
    """Reports an error of gdb in one line, without a traceback of this code."""

    def invoke(self, argument, from_tty):
        try:
            self.run(argument.strip())
        except gdb.error as error:
            raise gdb.GdbError(str(error)) from error


class List(Command):
    """hocket-list: the live coroutines of all loops, numbered for hocket-bt.

Coroutines that have not begun are not listed."""

    def __init__(self):
        super().__init__("hocket-list", gdb.COMMAND_STATUS)

    def run(self, argument):
        listing.print_all()


class Cells(Command):
    """hocket-cells: every fiber that has a stack, with its state."""

    def __init__(self):
        super().__init__("hocket-cells", gdb.COMMAND_STATUS)

    def run(self, argument):
        cells.print_all()


class Frames(Command):
    """hocket-frames: every coroutine frame in frame memory.

Frames from an allocator of the program are not listed, nor any frame under a sanitizer."""

    def __init__(self):
        super().__init__("hocket-frames", gdb.COMMAND_STATUS)

    def run(self, argument):
        pieces.print_all()


class Backtrace(Command):
    """hocket-bt [-all] WHICH: one backtrace of a suspended coroutine, across tasks and fibers, outward to its root.

WHICH: a number or an address of hocket-list, a name, a join_handle or a coroutine<...> object.
-all: also the library's own frames."""

    def __init__(self):
        super().__init__("hocket-bt", gdb.COMMAND_STACK, gdb.COMPLETE_EXPRESSION)

    def run(self, argument):
        backtrace.print_of(argument.removeprefix("-all ").strip(), argument.startswith("-all "))


class BacktraceOfRecord(Command):
    """hocket-bt-record RECORD: the backtrace of a parked stack."""

    def __init__(self):
        super().__init__("hocket-bt-record", gdb.COMMAND_STACK, gdb.COMPLETE_EXPRESSION)

    def run(self, argument):
        backtrace.print_record(int(gdb.parse_and_eval(f"(unsigned long) ({argument})")))


class Core(Command):
    """hocket-core FILE: writes a core file of the process, with the stacks of all fibers."""

    def __init__(self):
        super().__init__("hocket-core", gdb.COMMAND_DATA, gdb.COMPLETE_FILENAME)

    def run(self, argument):
        corefile.write(argument or "core")


stacks.install()
List()
Cells()
Frames()
Backtrace()
BacktraceOfRecord()
Core()
