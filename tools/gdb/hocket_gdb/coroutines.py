"""The live registry (core/spawn/seam/registry.hpp): the loops of the process and their coroutines."""
import re

import gdb

from .memory import backend_of_program, source_location, symbol_at, word
from .objects import Object

DROPPED = 2  # scheduled::joiner_: a value up to this is no waiter
RESERVED = 2  # claim_state: beyond it a wait is decided
STATE_MASK = 0xF
UNJOINED = 1 << 31  # scope::own


class Library:
    """The types of hocket in the program: its inline namespace."""

    def __init__(self, prefix):
        self.prefix = prefix
        self.backend = backend_of_program()

    def type(self, name):
        return gdb.lookup_type(self.prefix + name)

    def at(self, name, address):
        return Object(self.type(name), address)

    def loops(self):
        at = word(int(gdb.parse_and_eval(f"&'{self.prefix}detail::live_registries'")))
        while at:
            registry = self.at("detail::registry", at)
            yield Loop(self, registry)
            at = registry["next_"].word()


def libraries_with(variable, noun):
    """The namespaces of hocket in the program that have `detail::variable`. A test program of the model has two."""
    listed = gdb.execute(f"info variables -q ::{variable}$", to_string=True)
    prefixes = sorted(set(re.findall(rf"(hocket::\w+::)detail::{variable}\b", listed)))
    if not prefixes:
        raise gdb.GdbError(f"this program has no {noun}, or no symbols")
    return [Library(prefix) for prefix in prefixes]


def libraries():
    found = libraries_with("live_registries", "hocket runtime")
    try:
        for library in found:
            library.type("detail::registry")
    except gdb.error as error:
        raise gdb.GdbError(f"hocket was built without debug information ({error}): build it with -g") from error
    return found


class Loop:
    def __init__(self, library, registry):
        self.library = library
        self.registry = registry
        self.name = registry["name_"].text()
        self.executor = registry["home_"].word()

    def coroutines(self):
        root = self.registry["members_"]["root_"]
        links = self.library.at("detail::scheduled", 0)["next_"].address - root["next_"].address + root.address
        node = root["next_"].word()
        while node and node != root.address:
            yield Coroutine(self.library, self.library.at("detail::scheduled", node - links))
            node = Object(root.type, node)["next_"].word()


class Coroutine:
    """A spawned coroutine (core/spawn/seam/scheduled.hpp) that has begun and not ended."""

    def __init__(self, library, scheduled):
        self.library = library
        self.scheduled = scheduled
        self.address = scheduled.address
        self.name = scheduled["name_"].text()
        self.kind = str(scheduled["kind_"].value()).rpartition("::")[2]

    def wait(self):
        """Its wait; None if it does not wait, or if the wait is decided already."""
        suspension = self.scheduled["waits_"].target()
        wait = Wait(self.library, suspension) if suspension else None
        return wait if wait and not wait.is_decided() else None

    def state(self):
        if self.waits_abroad() or self.wait():
            return "waiting"
        block = self.control_block()
        if block is None:
            return "ready or running"
        return "ready" if block["record"].word() else "running"

    def waits_abroad(self):
        return bool(self.scheduled["foreign_"].word() & 0xFFFFFFFF)  # four bytes

    def spawned(self):
        """(file, line) of the call of spawn, or None; see spawned_by()."""
        return source_location(self.scheduled["spawned_"].word())

    def spawned_by(self):
        return self.scheduled["caller_"].word()

    def start(self):
        """The handle that started it: a task's root frame, or the result of scheduled_fiber::start_handle()."""
        return self.scheduled["handle"].word()

    def control_block(self):
        """The control block of a fiber; None for a task."""
        if self.kind != "fiber":
            return None
        fiber = self.native_fiber() or self.proxied_fiber()
        return fiber["block_"].target() if fiber else None

    def native_fiber(self):
        if symbol_at(word(self.start()))[0] != "hocket_start_resume":
            return None
        return self.library.at("detail::start_frame", self.start())["fiber"].target()

    def proxied_fiber(self):
        """Conforming mode: the proxy's frame refers to the scheduled_fiber, which refers to this."""
        for at in range(self.start() + 56, self.start() + 512, 8):
            try:
                fiber = self.library.at("detail::scheduled_fiber", word(at))
                if fiber["block_"].word() and fiber["self_"].word() == self.address:
                    return fiber
            except gdb.MemoryError:
                continue
        return None

    def joiner(self):
        """The wait of the coroutine that joins it, or that joins its scope; None without one."""
        waiter = self.scheduled["joiner_"].word()
        if waiter <= DROPPED:
            waiter = self.joiner_of_scope()
        return Wait(self.library, self.library.at("primitive::waiter", waiter)["wait_"].target()) if waiter else None

    def joiner_of_scope(self):
        """The waiter that joins the scope of this coroutine (coro/scope.hpp); 0 without one."""
        target = self.scheduled["target_"].word()
        if symbol_at(word(target))[0] != f"vtable for {self.library.prefix}scope":
            return 0
        scope = self.library.at("scope", target)
        return 0 if scope["count_"].word() & UNJOINED else scope["joiner_"].word()


def description_of(vtable):
    """The result of wait_source::what(), its first virtual function: the literal that its code loads. None if the
    function is longer than usual."""
    code = gdb.selected_inferior().architecture().disassemble(word(vtable), count=6)
    for instruction in code:
        literal = re.match(r"lea .*# (0x[0-9a-f]+)", instruction["asm"])
        if literal:
            return gdb.Value(int(literal[1], 16)).cast(gdb.lookup_type("char").pointer()).string(errors="replace")
        if instruction["asm"].startswith(("ret", "jmp", "call")):
            return None
    return None


class Wait:
    """A suspension (core/wait/seam/suspension.hpp)."""

    def __init__(self, library, suspension):
        self.library = library
        self.suspension = suspension

    def is_decided(self):
        return self.suspension["claim_"].word() & STATE_MASK > RESERVED

    def handle(self):
        return self.suspension["handle"].word()

    def at(self):
        return source_location(self.suspension["at_"].word())

    def coroutine(self):
        """The coroutine that waits; None if a thread waits."""
        address = self.suspension["ctx_"].target()["strand_"].word()  # of its strand_state, and of the scheduled
        return Coroutine(self.library, self.library.at("detail::scheduled", address)) if address else None

    def source(self):
        """The awaited source as text: the type and address of a primitive, or the name of a joined coroutine."""
        waiter = self.suspension["first_"].target()
        if waiter is None:
            return "nothing"
        source = waiter["source_"].word()
        symbol = symbol_at(word(source))[0] or "?"
        kind = symbol.removeprefix("vtable for ").replace(self.library.prefix, "")
        if kind.startswith(("detail::spawned_task<", "detail::spawned_fiber<")):
            name = self.library.at("detail::scheduled", source - self.source_in_scheduled())["name_"].text()
            return f'the end of a coroutine "{name}"'
        return f"{description_of(word(source)) or kind} {source:#x}"

    def source_in_scheduled(self):
        bases = self.library.type("detail::strand_state").fields()
        return next(base.bitpos // 8 for base in bases if base.name.endswith("::wait_source"))
