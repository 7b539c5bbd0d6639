"""The lab's own load: harness/net/load.cpp says what it does and prints."""
import resource

from .server import Failed, Program

KEPT_DESCRIPTORS = 64   # of the load: what is no connection


def possible_connections(wanted):
    """As many as the limit of descriptors allows."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return wanted if most == resource.RLIM_INFINITY else min(wanted, most - KEPT_DESCRIPTORS)


class Load(Program):
    def __init__(self, program, load, connections, milliseconds, server, cores):
        warm_up = load.get("warm_up", max(20, milliseconds // 4))
        super().__init__([program, load["kind"], str(connections), str(load["size"]), str(warm_up), str(milliseconds),
                          str(server.pid), str(server.port)], cores)

    def wait_for(self, word):
        said = self.line()
        if said != word:
            raise Failed(f"{self.name}: {said[:80]!r} where {word!r} was to come")

    def measures(self):
        """{measure: value}, when it has come to its end."""
        return parse(self.rest())


def parse(text):
    try:
        return {measure: float(value) for measure, value in (line.split() for line in text.splitlines())}
    except ValueError:
        raise Failed(f"not a measure and its value: {text[:80]!r}")
