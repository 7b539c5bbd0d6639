"""Parked stacks: unwinding from a record (context/seam/switch.hpp), without a register to write.

gdb unwinds from the registers of a thread, which cannot change in a core file. So while a parked stack is printed, an
unwinder claims the innermost frame of the selected thread, and reports the code that parked as its caller.
"""
import collections
import contextlib
import re

import gdb
from gdb.unwinder import Unwinder, register_unwinder

from .memory import symbol_at, without_additions, word

# Names of registers: program counter, stack pointer, and the registers that a record holds behind the program counter;
# and the length of a record.
Machine = collections.namedtuple("Machine", "pc sp held length")
MACHINES = {
    "i386:x86-64": Machine("rip", "rsp", ("rbp", "rbx"), 24),
    "aarch64": Machine("pc", "sp", ("x29", "x19"), 32),
    "riscv:rv64": Machine("pc", "sp", ("fp", "s1"), 32),
}
# ucontext back end: where swapcontext leaves them, from the beginning of a ucontext_t.
UCONTEXT = {"i386:x86-64": {"rip": 168, "rsp": 160, "rbp": 120, "rbx": 128, "r12": 72, "r13": 80, "r14": 88, "r15": 96}}
LEVEL_LIMIT = 10000
# Headers of all layers and extensions, in the tree and installed; and the standard library's.
LIBRARY_FILE = re.compile(r"(^|/)include/hocket/(\w+/)*\w+\.hpp$|/c\+\+/")

FrameId = collections.namedtuple("FrameId", "sp pc")  # gdb 14 has one


class Unreadable(Exception):
    """Why a parked stack cannot be shown."""


def parked(record, backend):
    """A context with the innermost frame of a parked stack, which is valid inside only."""
    return on_thread_of(record) if backend == "thread" else standing_on(registers_in(record, backend))


def registers_in(record, backend):
    """The registers of the code that parked."""
    name = gdb.selected_inferior().architecture().name()
    machine = MACHINES.get(name)
    if machine is None or (backend == "ucontext" and name not in UCONTEXT):
        raise Unreadable(f"how a stack is parked on {name} is not known here")
    if backend == "ucontext":
        found = {register: word(record + at) for register, at in UCONTEXT[name].items()}
    else:
        found = {machine.pc: word(record), machine.sp: record + machine.length}
        found |= {register: word(record + 8 + 8 * i) for i, register in enumerate(machine.held)}
    if not found[machine.pc]:
        raise Unreadable("its stack is not in the core file: see hocket-core")
    return found


class ParkedCaller(Unwinder):
    """While `parked` is set: the frame of the thread's own registers was called by the parked code."""

    def __init__(self):
        super().__init__("hocket-parked")
        self.parked = None
        self.own = None

    def __call__(self, pending):
        if self.parked is None:
            return None
        pc, sp, *_ = MACHINES[pending.architecture().name()]
        if (int(pending.read_register(pc)), int(pending.read_register(sp))) != self.own:
            return None
        info = pending.create_unwind_info(FrameId(gdb.Value(self.parked[sp] - 16), gdb.Value(self.parked[pc])))
        for name, value in self.parked.items():
            info.add_saved_register(name, gdb.Value(value).cast(pending.read_register(name).type))
        return info


unwinder = ParkedCaller()


def install():
    register_unwinder(None, unwinder, replace=True)


@contextlib.contextmanager
def standing_on(registers):
    """The frame of the code that parked with these registers."""
    level = gdb.selected_frame().level()
    newest = gdb.newest_frame()
    pc, sp, *_ = MACHINES[newest.architecture().name()]
    unwinder.own = (int(newest.read_register(pc)), int(newest.read_register(sp)))
    unwinder.parked = registers
    gdb.invalidate_cached_frames()
    try:
        frame = gdb.newest_frame()
        while frame and int(frame.read_register(sp)) == unwinder.own[1]:
            frame = frame.older()  # the thread's own: with frames inlined into it, several
        yield frame
    finally:
        unwinder.parked = None
        gdb.invalidate_cached_frames()
        frame_at(level).select()


@contextlib.contextmanager
def on_thread_of(record):
    """Back end thread: the fiber is a thread of its own, and the record lies on its stack."""
    before, level = gdb.selected_thread(), gdb.selected_frame().level()
    owner = min(gdb.selected_inferior().threads(), key=lambda thread: distance(thread, record))
    try:
        owner.switch()
        yield gdb.newest_frame()
    finally:
        before.switch()
        frame_at(level).select()


def distance(thread, address):
    """How far above a thread's stack pointer an address is; without bound if it is not above it."""
    thread.switch()
    machine = gdb.newest_frame().architecture().name()
    above = address - int(gdb.newest_frame().read_register(MACHINES[machine].sp))
    return above if above >= 0 else 1 << 64


def frame_at(level):
    frame = gdb.newest_frame()
    while frame.level() < level and frame.older():
        frame = frame.older()
    return frame


def outward(frame):
    for _ in range(LEVEL_LIMIT):
        if frame is None:
            return
        yield frame
        frame = frame.older()


def is_library(frame):
    name = frame.name() or ""
    if name.startswith("operator()"):  # of a lambda: compilers do not say where it is
        place = frame.find_sal()
        return bool(place.symtab and LIBRARY_FILE.search(place.symtab.filename))
    return name.startswith(("hocket::", "hocket_", "std::", "_ZN6hocket"))


def describe(frame):
    """What gdb's own backtrace says of a frame."""
    place = frame.find_sal()
    where = f" at {place.symtab.filename}:{place.line}" if place.symtab else ""
    return f"{name_of(frame)} ({arguments(frame)}){where}"


def name_of(frame):
    name = frame.name()
    if name is None:
        return f"{frame.pc():#x} in ??"
    if name.startswith("operator()") and frame.type() != gdb.INLINE_FRAME:
        return without_additions(symbol_at(frame.pc())[0] or name)
    return name


def arguments(frame):
    try:
        block = frame.block()
        while block.function is None:
            block = block.superblock
        return ", ".join(f"{s.name}={argument(frame, s)}" for s in block if s.is_argument)
    except (RuntimeError, gdb.error):
        return ""


def argument(frame, symbol):
    scalar = (gdb.TYPE_CODE_INT, gdb.TYPE_CODE_PTR, gdb.TYPE_CODE_ENUM, gdb.TYPE_CODE_BOOL, gdb.TYPE_CODE_FLT)
    try:
        if symbol.type.strip_typedefs().code not in scalar:
            return "..."
        return frame.read_var(symbol).format_string(max_elements=40)
    except gdb.error as error:
        return f"<{error}>"


def lines_of(record, backend, with_all):
    """A line for each frame of a parked stack, innermost first. The library's own frames around it count as noise."""
    with parked(record, backend) as first:
        frames = list(outward(first))
        return [describe(frame) for frame in (frames if with_all else users_part(frames, backend))]


def users_part(frames, backend):
    """Omits the library's frames at both ends and the frames beyond them: the start of a thread, and its wait in the back
    end `thread`."""
    noise = [is_library(frame) for frame in frames]
    if True not in noise or all(noise):
        return frames
    begin = noise.index(False, noise.index(True) if backend == "thread" else 0)
    end = len(noise) - noise[::-1].index(True)
    while noise[end - 1]:
        end -= 1
    return frames[begin:end]


def place_of(record, backend):
    """(file, line) of the innermost frame that is not the library's, or None."""
    with parked(record, backend) as first:
        for frame in users_part(list(outward(first)), backend):
            place = frame.find_sal()
            if place.symtab:
                return place.symtab.filename, place.line
    return None


def functions_at(code):
    """(name, place) of the functions that are inlined at an instruction, innermost first, then of its function. gdb
    reports this only for a caller, so the code queries the caller of an imaginary frame."""
    machine = gdb.newest_frame().architecture().name()
    if machine not in MACHINES:
        return []
    pc, sp, (fp, *_), _ = MACHINES[machine]
    below = int(gdb.newest_frame().read_register(sp)) - 4096
    found = []
    with standing_on({pc: code + 1, sp: below, fp: below}) as first:
        for frame in outward(first):
            found.append((frame.name() or "", frame.find_sal()))
            if frame.type() != gdb.INLINE_FRAME:
                break
    return found
