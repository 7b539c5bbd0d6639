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
        rows = [row(number + i, coroutine, lines) for i, coroutine in enumerate(loop.coroutines())]
        number += len(rows)
        print(f'loop "{loop.name}" {loop.executor:#x}: {len(rows)} coroutines')
        if rows:
            print_rows([HEADINGS, *rows])


def print_rows(rows):
    """Prints a table; the first row has the headings."""
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip())


def row(number, coroutine, lines):
    return (str(number), shortened(coroutine.name), coroutine.kind, coroutine.state(), suspended(coroutine, lines),
            spawned(coroutine), awaited(coroutine))


def headline(coroutine):
    wait = f" for {awaited(coroutine)}" if coroutine.state() == "waiting" else ""
    return f'{coroutine.kind} "{coroutine.name}" {coroutine.address:#x}, {coroutine.state()}{wait}'


def awaited(coroutine):
    if coroutine.waits_abroad():
        return "a foreign awaitable"
    wait = coroutine.wait()
    try:
        return wait.source() if wait else "-"
    except gdb.MemoryError:
        return "?"


def suspended(coroutine, lines):
    wait = coroutine.wait()
    return place(wait and wait.at() or innermost_place(coroutine, lines))


def innermost_place(coroutine, lines):
    """The place of the innermost frame, for a coroutine without a wait."""
    handle = chain.innermost(coroutine)
    if frames.Frame(handle).kind == "task":
        return lines.place_of(handle)
    block = coroutine.control_block()
    record = block["record"].word() if block else 0
    try:
        return stacks.place_of(record, coroutine.library.backend) if record and not frames.is_packed(block) else None
    except stacks.Unreadable:
        return None


def spawned(coroutine):
    place_of_spawn = coroutine.spawned()
    if place_of_spawn:
        return place(place_of_spawn)
    name, offset = symbol_at(coroutine.spawned_by())
    return f"{shortened(without_additions(name))}+{offset:#x}" if name else "-"


def place(at):
    return f"{shortened_path(at[0])}:{at[1]}" if at else "-"


def shortened(text):
    return text if len(text) <= LONGEST else text[: LONGEST - 3] + "..."


def shortened_path(path):
    return path if len(path) <= LONGEST else "..." + path[3 - LONGEST:]
