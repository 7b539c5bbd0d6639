"""Where a coroutine is suspended: its innermost frame."""
import gdb

from . import frames


def innermost(coroutine):
    """Its innermost suspended frame: its wait knows it, else it is looked for from the outermost inward."""
    return frames.without_stand_in(awaiting(coroutine))


def awaiting(coroutine):
    wait = coroutine.wait()
    if wait and wait.handle() and is_own(wait.handle(), coroutine):
        return wait.handle()
    block = coroutine.control_block()
    handle = block.address if block and frames.Frame(block.address).is_control_block() else coroutine.start()
    child = frames.child_of(handle, frames.stack_of(block))
    while child:
        handle, child = child, frames.child_of(child)
    return handle


def is_own(handle, coroutine):
    """Whether the frame has a header: then its context is below the coroutine's."""
    try:
        context = frames.Frame(handle).context
        return coroutine.library.at("context", context)["strand_"].word() == coroutine.address
    except gdb.MemoryError:
        return False
