"""Coroutine frames and the chain of the coroutines that await one another (core/thread/seam/frame.hpp)."""
import gdb

from .memory import symbol_at, without_additions, word, words

HEADER = 16  # the promise, behind the two functions; a header is its first base
CONTINUATION = HEADER + 16  # coroutine_header::continuation.handle
CONTEXT = HEADER + 32
RECORD = HEADER + 40  # control_block::record
KINDS = ("foreign", "task", "fiber", "generator", "root")
# core/thread/seam/stand_in.hpp: by hand, and in conforming mode; core/wait/coroutine_slot.cpp: a slot with hooks
STAND_INS = ("resume_stand_in", "resumed_once", "call_hooks")
RESUMED_BY = ("hocket_raw_resume", "hocket_scheduled_resume", "hocket_migratable_resume")  # a fiber's control block
PARENT_HAS_HEADER = 1
PACKED = 2  # stack_bit::packed: the record is the address of a stack_image
IMAGE_SIZES = 16  # stack_image::size_ and room_
IMAGE_HEAD = 32
ADDRESSES = range(4096, 1 << 63)  # of users' memory, at most
SCAN_FRAME = 512  # words that are searched for the handle of an awaited task
SCAN_STACK = 2048


class Frame:
    """The object of a handle of hocket; it has a header."""

    def __init__(self, handle):
        self.handle = handle
        bits = word(handle + HEADER)
        self.kind = KINDS[bits & 0xFF] if bits & 0xFF < len(KINDS) else "foreign"
        self.flags = bits >> 8 & 0xFF
        self.reserved = bits >> 32
        self.context = word(handle + CONTEXT)

    def parent(self):
        """The handle of the coroutine that awaits it."""
        return word(self.handle + CONTINUATION)

    def parent_has_header(self):
        return bool(self.flags & PARENT_HAS_HEADER)

    def is_stand_in(self):
        """Whether it only replaces a coroutine where a handle is required. If it has a parent, the parent has a header."""
        return self.kind in ("foreign", "root") and name_of(self.handle).rpartition("::")[2] in STAND_INS

    def is_control_block(self):
        """False for the handle of a proxy, which a fiber has in conforming mode."""
        return self.kind == "fiber" and symbol_at(word(self.handle))[0] in RESUMED_BY


def is_packed(block):
    return bool(block["record"].word() and Frame(block.address).reserved & PACKED)


def stack_of(block):
    """Where the words of a suspended fiber's stack begin: in its image, if it is packed. 0 if it is not suspended."""
    record = block["record"].word() if block else 0
    if not record or not is_packed(block):
        return record
    size, room = word(record + IMAGE_SIZES) & 0xFFFFFFFF, word(record + IMAGE_SIZES) >> 32
    return record + IMAGE_HEAD + room - size


def is_frame(address):
    """Whether there is a suspended coroutine: its first word points to the beginning of a function."""
    try:
        name, offset = symbol_at(word(address))
        return name is not None and offset == 0
    except gdb.MemoryError:
        return False


def child_of(handle, stack=None):
    """The task that a suspended frame, or the code on a parked stack, awaits: its continuation is `handle`. Also a
    stand-in within the frame. 0 without one."""
    begin, count = (stack, SCAN_STACK) if stack else (handle + RECORD, SCAN_FRAME)
    for index, candidate in enumerate(words(begin, count)):
        if candidate % 16 == 0 and candidate in ADDRESSES and awaited_by(candidate, handle):
            return candidate
        stand_in = begin + 8 * index - CONTINUATION
        if candidate == handle and not stack and stand_in >= begin and Frame(stand_in).is_stand_in():
            return stand_in
    return 0


def without_stand_in(handle):
    """The coroutine that a stand-in replaces, for a stand-in; else the handle itself."""
    frame = Frame(handle)
    return frame.parent() if frame.is_stand_in() and frame.parent() else handle


def awaited_by(candidate, parent):
    try:
        return word(candidate + CONTINUATION) == parent and Frame(candidate).kind == "task" and is_frame(candidate)
    except gdb.MemoryError:
        return False


def name_of(handle):
    """The function of a frame."""
    name = symbol_at(word(handle))[0]
    return without_additions(name) if name else "??"


def function_of(code):
    """The debug information of the function that holds an address, or None."""
    block = gdb.block_for_pc(code)
    while block and not block.function:
        block = block.superblock
    return block
