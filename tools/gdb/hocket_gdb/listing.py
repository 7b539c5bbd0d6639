"""hocket-list: the table of loop::dump, for all loops."""
import gdb

from . import chain, frames, stacks
from .coroutines import libraries
from .memory import symbol_at, without_additions
from .suspend_line import Lines

HEADINGS = ("ID", "NAME", "KIND", "STATE", "SUSPENDED AT", "SPAWNED AT", "WAITS FOR")
LONGEST = 48


def loops():
    return [loop for library in libraries() for loop in library.loops()]


def everyone():
    """Every coroutine, in the order of its number."""
    for loop in loops():
        yield from loop.coroutines()


def print_all():
    number, lines = 1, Lines()
    for loop in loops():
        rows = [row(number + i, one, lines) for i, one in enumerate(loop.coroutines())]
        number += len(rows)
        print(f'loop "{loop.name}" {loop.executor:#x}: {len(rows)} coroutines')
        if rows:
            print_rows([HEADINGS, *rows])


def print_rows(rows):
    """Headings and what is below them."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def row(number, one, lines):
    return (str(number), shortened(one.name), one.kind, one.state(), suspended(one, lines), spawned(one), awaited(one))


def headline(one):
    for_what = f" for {awaited(one)}" if one.state() == "waiting" else ""
    return f'{one.kind} "{one.name}" {one.address:#x}, {one.state()}{for_what}'


def awaited(one):
    if one.waits_abroad():
        return "a foreign awaitable"
    wait = one.wait()
    try:
        return wait.source() if wait else "-"
    except gdb.MemoryError:
        return "?"


def suspended(one, lines):
    wait = one.wait()
    return place(wait and wait.at() or found(one, lines))


def found(one, lines):
    """Where it is suspended if no wait tells."""
    handle = chain.innermost(one)
    if frames.Frame(handle).kind == "task":
        return lines.of(handle)
    block = one.control_block()
    record = block["record"].word() if block else 0
    try:
        return stacks.place_of(record, one.library.backend) if record and not frames.is_packed(block) else None
    except stacks.Unreadable:
        return None


def spawned(one):
    told = one.spawned()
    if told:
        return place(told)
    name, offset = symbol_at(one.spawned_by())
    return f"{shortened(without_additions(name))}+{offset:#x}" if name else "-"


def place(at):
    return f"{shortened_path(at[0])}:{at[1]}" if at else "-"


def shortened(text):
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def shortened_path(path):
    return path if len(path) <= LONGEST else "..." + path[3 - LONGEST:]
