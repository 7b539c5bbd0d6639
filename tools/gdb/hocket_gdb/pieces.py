"""hocket-frames: every coroutine frame in frame memory (src/core/thread/frame_list.hpp).

So it also finds tasks that are not yet awaited or run on no loop, and generators.
"""
import gdb

from . import frames, listing
from .coroutines import libraries_with
from .memory import word
from .suspend_line import Lines

HEADINGS = ("FRAME", "FUNCTION", "SUSPENDED AT")
ALL_BITS = (1 << 64) - 1


def pieces(library):
    """The memory that was allocated for frames, also the blocks that are cached for later frames."""
    lists = gdb.parse_and_eval(f"'{library.prefix}detail::frame_lists'")
    link_size = library.type("detail::frame_link").sizeof
    for i in range(lists.type.range()[1] + 1):
        link = int(lists[i]["first"]) ^ ALL_BITS
        while link:
            yield link + link_size
            link = word(link) ^ ALL_BITS


def live_frames(library):
    return [piece for piece in pieces(library) if begins_function(word(piece))]


def begins_function(address):
    line = gdb.execute(f"info symbol {address}", to_string=True)
    return " in section .text" in line and " + " not in line.rpartition(" in section ")[0]


def print_all():
    lines = Lines()
    for library in libraries_with("frame_lists", "coroutines of hocket"):
        rows = [(f"{frame:#x}", listing.shortened(frames.name_of(frame)), listing.place(lines.place_of(frame)))
                for frame in live_frames(library)]
        if not rows and not any(pieces(library)):
            print("no frames are listed (hocket lists them at check level debug)")
            continue
        print(f"{len(rows)} frames in {sum(1 for _ in pieces(library))} pieces of memory")
        if rows:
            listing.print_rows([HEADINGS, *rows])
