"""The line at which a compiler's coroutine frame is suspended.

Both compilers number the suspension points of a coroutine and store the number in the frame when they suspend. The
offset of the number is known from the type of the frame (g++, and clang without optimisation), or from the first byte
of the frame that the resume function reads (clang). The place is the line of the instruction that stores this number.

g++ gives the store itself the last line of the function. The call of await_suspend, which follows, has the line of the
co_await. So the result is the first line behind the store that is neither the function's first nor its last.
"""
import contextlib
import re

import gdb

from . import stacks
from .frames import function_of
from .memory import without_parameters, word

WIDTH = {"b": 1, "w": 2}
LONGEST = 1 << 16  # bytes of code that are searched
BEHIND = 40  # instructions between a store and the call of await_suspend
CALLEE_SAVED = {"b", "bp", "12", "13", "14", "15"}  # registers, as family() names them


@contextlib.contextmanager
def att_syntax():
    flavor = gdb.parameter("disassembly-flavor")
    gdb.execute("set disassembly-flavor att")
    try:
        yield
    finally:
        gdb.execute(f"set disassembly-flavor {flavor}")


class Lines:
    """Caches lines, for many coroutines at few places. Valid only while the program is stopped."""

    def __init__(self):
        self.functions = {}  # by resume pointer
        self.lines = {}  # by resume pointer and number of the suspension point

    def place_of(self, handle):
        """(file, line) where a frame is suspended, else where its function begins; None without debug information."""
        resume = word(handle)
        if resume not in self.functions:
            block = function_of(resume)
            self.functions[resume] = Function(block, resume) if block else None
        function = self.functions[resume]
        if function is None:
            return None
        key = (resume, function.number_in(handle))
        if key not in self.lines:
            self.lines[key] = function.line_of(key[1])
        return function.file, self.lines[key]


class Function:
    """The resume function of a coroutine."""

    def __init__(self, block, entry):
        self.symbol = block.function
        self.file = block.function.symtab.filename
        self.line = block.function.line or gdb.find_pc_line(entry).line  # g++ gives 0 for a lambda
        self.code = instructions(block, entry) if is_x86() else []
        self.place = index_in_type(block) or index_in_code(self.code)  # of the number in the frame: offset, bytes
        self.borders = self.first_and_last_line() if is_gnu(block) and self.place else set()

    def first_and_last_line(self):
        return {self.line, line_in(self.symbol, self.code[first_use(self.code, self.place[0])])}

    def number_in(self, handle):
        return word(handle + self.place[0]) & (1 << 8 * self.place[1]) - 1 if self.place else None

    def line_of(self, number):
        for at in stores(self.code, self.place[0], number) if self.place else ():
            lines = (line_in(self.symbol, instruction) for instruction in self.code[at : at + BEHIND])
            line = next((line for line in lines if line and line not in self.borders), None)
            if line:
                return line
        return self.line


def is_x86():
    return gdb.selected_inferior().architecture().name() == "i386:x86-64"


def line_in(function, instruction):
    """The line of an instruction in the function, also if it was inlined there; None if it is not of
    the function. Names are compared without parameters: to g++ a coroutine's body is now itself, now its ramp."""
    name = without_parameters(function.name)
    for found, place in stacks.functions_at(instruction[0]):
        if without_parameters(found) == name and place.symtab and place.symtab.filename == function.symtab.filename:
            return place.line
    return None


def is_gnu(block):
    return any(symbol.name == "frame_ptr" for symbol in block)


def instructions(block, entry):
    """From the beginning; without the unlikely code that the compiler has moved elsewhere."""
    machine = gdb.selected_inferior().architecture()
    with att_syntax():
        code = machine.disassemble(entry, min(block.end, entry + LONGEST) - 1)
    return [(line["addr"], line["asm"]) for line in code]


def first_use(code, offset):
    return next((at for at, (_, text) in enumerate(code) if f"{offset:#x}(%r" in text), 0)


def index_in_type(block):
    """(offset, bytes) of the number as the frame's type has it."""
    for symbol in block:
        if symbol.name in ("frame_ptr", "__coro_frame"):
            frame = symbol.type.target() if symbol.type.code == gdb.TYPE_CODE_PTR else symbol.type
            for field in frame.fields():
                if field.name in ("_Coro_resume_index", "__coro_index"):
                    return field.bitpos // 8, field.type.sizeof
    return None


def index_in_code(code):
    frame = {family("rdi")}  # which registers have its address
    for _, text in code[:40]:
        tested = re.match(r"(?:cmp|test|movz)(b|w)l?\s.*\b0x([0-9a-f]+)\(%(\w+)\)", text)
        if tested and family(tested.group(3)) in frame:
            return int(tested.group(2), 16), WIDTH[tested.group(1)]
        copied = re.match(r"mov\s+%(r\w+),%(r\w+)$", text)
        written = re.match(r"(?!cmp|test|push)\w+\s+(?:.*,)?%(\w+)$", text)
        if copied and family(copied.group(1)) in frame:
            frame.add(family(copied.group(2)))
        elif written:
            frame.discard(family(written.group(1)))
        elif text.startswith("call"):
            frame &= CALLEE_SAVED
    return None


def stores(code, offset, index):
    """Which instructions store `index` at `offset` of anything."""
    known = {}  # constants, by register
    for at, (_, text) in enumerate(code):
        direct = re.match(rf"mov[bw]\s+\$0x([0-9a-f]+),{offset:#x}\(", text)
        by_register = re.match(rf"mov[bw]?\s+%(\w+),{offset:#x}\(", text)
        if direct and int(direct.group(1), 16) == index:
            yield at
        elif by_register and known.get(family(by_register.group(1))) == index:
            yield at
        else:
            track_constant(known, text)


def track_constant(known, text):
    loaded = re.match(r"movl?\s+\$0x([0-9a-f]+),%(\w+)$", text)
    cleared = re.match(r"xorl?\s+%(\w+),%(\1)$", text)
    if loaded:
        known[family(loaded.group(2))] = int(loaded.group(1), 16)
    elif cleared:
        known[family(cleared.group(1))] = 0
    elif written := re.search(r",%(\w+)$", text):
        known.pop(family(written.group(1)), None)


def family(register):
    """One name for a register in all its widths: eax, ax and al are 'a'."""
    numbered = re.match(r"r(\d+)", register)
    return numbered.group(1) if numbered else re.sub(r"^[er]|[xl]$", "", register)
