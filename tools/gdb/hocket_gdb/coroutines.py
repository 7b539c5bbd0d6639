"""The live registry (core/registry.hpp): the loops of the process and their coroutines."""
import re

import gdb

from .memory import source_location, symbol_at, text, word, word_of

DROPPED = 2  # scheduled::joiner_: this and less is no waiter
RESERVED = 2  # verdict: beyond it a wait is decided
VERDICT_MASK = 0xF
UNJOINED = 1 << 63  # scope::own


class Library:
    """One configuration of hocket in the program: its inline namespace."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.backend = next((name for name in ("ucontext", "thread") if prefix.endswith(f"_{name}::")), "native")

    def type(self, name):
        return gdb.lookup_type(self.prefix + name)

    def at(self, name, address):
        return gdb.Value(address).cast(self.type(name).pointer()).dereference()

    def loops(self):
        at = word(int(gdb.parse_and_eval(f"&'{self.prefix}live_registries'")))
        while at:
            registry = self.at("registry", at)
            yield Loop(self, registry)
            at = int(registry["next_"])


def libraries():
    """Those that the program has. More than one only if differently configured ones were loaded."""
    listed = gdb.execute("info variables -q ::live_registries$", to_string=True)
    prefixes = sorted(set(re.findall(r"(hocket::\w+::)live_registries\b", listed)))
    if not prefixes:
        raise gdb.GdbError("this program has no hocket runtime, or no symbols")
    found = [Library(prefix) for prefix in prefixes]
    try:
        for library in found:
            library.type("registry")
    except gdb.error as error:
        raise gdb.GdbError(f"hocket was built without debug information ({error}): build it with -g") from error
    return found


class Loop:
    def __init__(self, library, registry):
        self.library = library
        self.registry = registry
        self.name = text(registry["name_"])

    def coroutines(self):
        root = self.registry["members_"]["root_"]
        pointer = self.library.type("scheduled").pointer()
        node = root["next_"]
        while int(node) and node != root.address:
            yield Coroutine(self.library, node.cast(pointer).dereference())
            node = node["next_"]


class Coroutine:
    """A spawned coroutine (core/scheduled.hpp) that has begun and not ended."""

    def __init__(self, library, scheduled):
        self.library = library
        self.scheduled = scheduled
        self.address = int(scheduled.address)
        self.name = text(scheduled["name_"])
        self.kind = str(scheduled["kind_"]).rpartition("::")[2]

    def wait(self):
        """What it waits for; None if it does not, or if that is decided already."""
        at = self.scheduled["waits_"]
        wait = Wait(self.library, at.dereference()) if int(at) else None
        return wait if wait and not wait.decided() else None

    def state(self):
        if self.waits_abroad() or self.wait():
            return "waiting"
        block = self.control_block()
        if block is None:
            return "ready or running"
        return "ready" if block["record"] else "running"

    def waits_abroad(self):
        return bool(self.scheduled["foreign_"])

    def spawned(self):
        """(file, line) if it was told, else (symbol, offset) of the code that called spawn."""
        return source_location(self.scheduled["spawned_"])

    def spawned_by(self):
        return int(self.scheduled["caller_"])

    def start(self):
        """The handle that started it: a task's root frame, or what scheduled_fiber::start_handle() made."""
        return word_of(self.scheduled["start_"]["handle"])

    def control_block(self):
        """That of a fiber; None for a task."""
        if self.kind != "fiber":
            return None
        fiber = self.native_fiber() or self.proxied_fiber()
        return fiber["block_"].dereference() if fiber else None

    def native_fiber(self):
        if symbol_at(word(self.start()))[0] != "hocket_start_resume":
            return None
        return self.library.at("start_frame", self.start())["fiber"].dereference()

    def proxied_fiber(self):
        """Conforming mode: the proxy's frame refers to the scheduled_fiber, which refers to this."""
        for at in range(self.start() + 56, self.start() + 512, 8):
            try:
                fiber = self.library.at("scheduled_fiber", word(at))
                if word_of(fiber["block_"]) and int(fiber["self_"].address) == self.address:
                    return fiber
            except gdb.MemoryError:
                continue
        return None

    def joiner(self):
        """The wait of whoever joins it, or the scope that it is in; None if nobody does."""
        waiter = word_of(self.scheduled["joiner_"])
        if waiter <= DROPPED:
            waiter = self.joiner_of_scope()
        return Wait(self.library, self.library.at("waiter", waiter)["wait_"].dereference()) if waiter else None

    def joiner_of_scope(self):
        """The waiter of whoever joins the scope that it was spawned on (coro/scope.hpp); 0 if nobody does now."""
        target = int(self.scheduled["target_"].address)
        if symbol_at(word(target))[0] != f"vtable for {self.library.prefix}scope":
            return 0
        scope = self.library.at("scope", target)
        return 0 if word_of(scope["count_"]) & UNJOINED else int(scope["joiner_"])


def what(vtable):
    """What wait_source::what() would give, its first virtual function: the literal whose address that takes, if it is as
    short as such functions are."""
    code = gdb.selected_inferior().architecture().disassemble(word(vtable), count=6)
    for one in code:
        taken = re.match(r"lea .*# (0x[0-9a-f]+)", one["asm"])
        if taken:
            return gdb.Value(int(taken[1], 16)).cast(gdb.lookup_type("char").pointer()).string(errors="replace")
        if one["asm"].startswith(("ret", "jmp", "call")):
            return None
    return None


class Wait:
    """A suspension (core/suspension.hpp)."""

    def __init__(self, library, suspension):
        self.library = library
        self.suspension = suspension

    def decided(self):
        word32 = gdb.lookup_type("unsigned int").pointer()
        return int(self.suspension["claim_"].address.cast(word32).dereference()) & VERDICT_MASK > RESERVED

    def handle(self):
        return word_of(self.suspension["run_"]["handle"])

    def at(self):
        return source_location(self.suspension["terms_"]["at"])

    def coroutine(self):
        """Whose wait it is; None if it is a thread's."""
        at = self.suspension["ctx_"]["coroutine_"]
        return Coroutine(self.library, at.dereference()) if int(at) else None

    def source(self):
        """What is waited for, in words: the type of the primitive and its address, or whose end."""
        first = self.suspension["first_"]
        if not int(first):
            return "nothing"
        source = first["source_"]
        symbol = symbol_at(word(int(source)))[0] or "?"
        kind = symbol.removeprefix("vtable for ").replace(self.library.prefix, "")
        if kind.startswith(("detail::spawned_task<", "detail::spawned_fiber<")):
            joined = source.cast(self.library.type("scheduled").pointer())
            return f'the end of a coroutine "{text(joined["name_"])}"'
        return f"{what(word(int(source))) or kind} {int(source):#x}"
