"""For gdb, about stepped.cpp, which stands beside this: at each instruction of hocket_switch a backtrace reaches the
first frame of the stack that the thread is on, and goes over from the one stack's to the other's once."""
import gdb

FIRST_FRAMES = {"main": ["hocket_switch", "main"], "hocket_entry": ["hocket_switch", "other_side", "hocket_entry"]}


def names():
    frame, found = gdb.newest_frame(), []
    while frame is not None:
        found.append(frame.name())
        frame = frame.older()
    return found


def step_through():
    """The backtraces at all instructions of the routine, until it has returned on the other side."""
    seen = []
    while gdb.newest_frame().name() == "hocket_switch":
        seen.append(names())
        gdb.execute("stepi", to_string=True)
    return seen


def check(seen, left, reached):
    assert len(seen) > 20, f"only {len(seen)} instructions"
    crossing = seen.index(FIRST_FRAMES[reached])
    expected = [FIRST_FRAMES[left]] * crossing + [FIRST_FRAMES[reached]] * (len(seen) - crossing)
    for number, (found, wanted) in enumerate(zip(seen, expected)):
        assert found == wanted, f"instruction {number}: {found}, not {wanted}"
    assert crossing > 10 and len(seen) - crossing > 5, f"the stacks change at instruction {crossing}"


gdb.execute("set confirm off")
gdb.execute("set backtrace past-main off")
gdb.execute("break both_are_parked_by_it")
gdb.execute("run", to_string=True)
gdb.execute("tbreak *hocket_switch")
gdb.execute("continue", to_string=True)
check(step_through(), "main", "hocket_entry")
gdb.execute("tbreak *hocket_switch")
gdb.execute("continue", to_string=True)
check(step_through(), "hocket_entry", "main")
print("every instruction has a backtrace")
gdb.execute("continue")
