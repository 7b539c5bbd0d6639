"""hocket-bt: one backtrace from the innermost suspended frame outward, over every kind, to the root."""
import gdb

from . import frames, stacks
from .chain import innermost
from .coroutines import Coroutine
from .listing import everyone, headline
from .memory import backend_of_program
from .objects import Object
from .suspend_line import Lines

HIBERNATES = "its stack is packed: the frames come back when it is resumed"


class Printer:
    """Numbers what it prints."""

    def __init__(self, with_all):
        self.with_all = with_all
        self.level = 0
        self.lines = Lines()

    def frame(self, text):
        print(f"#{self.level:<3}{text}")
        self.level += 1

    def remark(self, text):
        print(f"    {text}")


def print_of(selector, with_all):
    if not selector:
        raise gdb.GdbError("which coroutine? a number of hocket-list, a name, or an expression")
    found = find(selector)
    if isinstance(found, Coroutine):
        print_chain(found, Printer(with_all))
    else:
        print_raw(found, with_all)


def print_record(record):
    print_stack(record, backend_of_program(), Printer(True))


def print_raw(block, with_all):
    record = block["record"].word()
    if not record:
        raise gdb.GdbError("not suspended: it runs, has resumed another coroutine, has finished or is empty")
    if frames.is_packed(block):
        raise gdb.GdbError(HIBERNATES)
    print_stack(record, backend_of_program(), Printer(with_all))


def find(selector):
    """Returns the coroutine, or the control block of a raw coroutine."""
    known, problem = everyone_or_problem()
    numbered = dict(enumerate(known, 1))
    if selector.isdecimal() and int(selector) in numbered:
        return numbered[int(selector)]
    name = selector.strip('"')
    named = [number for number, coroutine in numbered.items() if coroutine.name == name]
    if len(named) > 1:
        raise gdb.GdbError(f"{len(named)} coroutines are named so: {' '.join(map(str, named))}")
    try:
        return numbered[named[0]] if named else find_by_expression(selector, known)
    except gdb.error as error:
        raise gdb.GdbError(problem or str(error)) from error


def everyone_or_problem():
    """All coroutines and None; without them an empty list and the reason."""
    try:
        return list(everyone()), None
    except gdb.GdbError as problem:
        return [], str(problem)


def find_by_expression(expression, known):
    value = gdb.parse_and_eval(expression)
    number_like = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR)
    if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
        value = value.referenced_value()
    type_ = value.type.strip_typedefs()
    fields = field_names(type_)
    if "block_" in fields:
        block = value["block_"]
        return Object(block.type.target(), int(block))
    address = int(value["coroutine_"] if "coroutine_" in fields else value if type_.code in number_like else value.address)
    for coroutine in known:
        if coroutine.address == address:
            return coroutine
    raise gdb.GdbError(f"{expression} is none of the live coroutines: see hocket-list")


def field_names(type_):
    """Of a class and of its bases."""
    if type_.code != gdb.TYPE_CODE_STRUCT:
        return set()
    names = set()
    for field in type_.fields():
        names |= field_names(field.type.strip_typedefs()) if field.is_base_class else {field.name}
    return names


def print_chain(coroutine, printer):
    """Prints the coroutine, then the coroutine that joins it, up to the root."""
    handle, printed, role = None, set(), ""
    while coroutine.address not in printed:
        printed.add(coroutine.address)
        printer.remark(role + headline(coroutine))
        print_coroutine(coroutine, handle, printer)
        wait = coroutine.joiner()
        if wait is None:
            return
        coroutine, handle, role = wait.coroutine(), wait.handle(), "joined by "
        if coroutine is None:
            printer.remark("joined by a thread, in sync_wait")
            return
    printer.remark(f'joined by "{coroutine.name}", which is above already: they wait for one another')


def print_coroutine(coroutine, handle, printer):
    """Its frames, from `handle` or where it is suspended, to its root."""
    handle = handle or innermost(coroutine)
    while handle:
        frame = frames.Frame(handle)
        is_stand_in = frame.is_stand_in()
        if frame.context == 0 or frame.kind in ("root", "fiber") and not is_stand_in:
            break
        if not is_stand_in:
            print_task(handle, printer)
        handle = frame.parent()
        if handle and not (is_stand_in or frame.parent_has_header()):
            printer.frame(f"{frames.name_of(handle)}, a foreign coroutine: its awaiter is unknown")
            break
    if coroutine.kind == "fiber":
        print_fiber(coroutine, printer)


def print_task(handle, printer):
    place = printer.lines.place_of(handle)
    position = f" at {place[0]}:{place[1]}" if place else ""
    printer.frame(f"{frames.name_of(handle)} () [task]{position}")


def print_fiber(coroutine, printer):
    block = coroutine.control_block()
    record = block["record"].word() if block else 0
    if not record:
        printer.remark("its stack is in use: it runs, see the threads' own backtraces")
        return
    if frames.is_packed(block):
        printer.remark(HIBERNATES)
        return
    print_stack(record, coroutine.library.backend, printer)


def print_stack(record, backend, printer):
    try:
        for line in stacks.lines_of(record, backend, printer.with_all):
            printer.frame(line)
    except stacks.Unreadable as error:
        printer.remark(str(error))
