"""Looking into parked coroutines with gdb, live processes only:   (gdb) source tools/gdb/hocket.py

  hocket-bt COROUTINE       the backtrace of a suspended coroutine<...> object
  hocket-bt-record RECORD   the same, from the record of a parked stack (context/switch.hpp)

The registers of the selected thread are borrowed while the backtrace is printed, and put back, whatever happens.
"""
import gdb

REGISTERS = ("pc", "sp", "rbp")


def word(address):
    return int(gdb.parse_and_eval(f"*(unsigned long*) {address}"))


def backtrace_of_record(record):
    selected = gdb.selected_frame()
    level = selected.level()
    gdb.newest_frame().select()
    before = {name: int(gdb.parse_and_eval(f"(unsigned long) ${name}")) for name in REGISTERS}
    parked = {"pc": word(record), "sp": record + 16, "rbp": word(record + 8)}
    pagination = gdb.parameter("pagination")
    gdb.execute("set pagination off")
    try:
        put(parked)
        gdb.execute("backtrace")
    finally:
        put(before)
        gdb.execute(f"set pagination {'on' if pagination else 'off'}")
        gdb.execute(f"frame level {level}", to_string=True)


def put(values):
    for name in REGISTERS:
        gdb.execute(f"set ${name} = {values[name]}")


class BacktraceOfRecord(gdb.Command):
    """hocket-bt-record RECORD: the backtrace of a parked stack."""

    def __init__(self):
        super().__init__("hocket-bt-record", gdb.COMMAND_STACK, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        backtrace_of_record(int(gdb.parse_and_eval(f"(unsigned long) ({argument})")))


class Backtrace(gdb.Command):
    """hocket-bt COROUTINE: the backtrace of a suspended coroutine."""

    def __init__(self):
        super().__init__("hocket-bt", gdb.COMMAND_STACK, gdb.COMPLETE_EXPRESSION)

    def invoke(self, argument, from_tty):
        record = int(gdb.parse_and_eval(f"(unsigned long) ({argument}).block_->record"))
        if record == 0:
            raise gdb.GdbError("not suspended: it runs, has resumed another coroutine, has finished or is empty")
        backtrace_of_record(record)


BacktraceOfRecord()
Backtrace()
