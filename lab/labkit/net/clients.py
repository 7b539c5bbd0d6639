"""The lab's own load, described in harness/net/load.cpp."""
import resource

from .server import Failed, Program

OTHER_DESCRIPTORS = 64   # of the load, beside its connections


def possible_connections(requested):
    """The requested number of connections, or as many as the limit of descriptors allows."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return requested if limit == resource.RLIM_INFINITY else min(requested, limit - OTHER_DESCRIPTORS)


class Load(Program):
    def __init__(self, program, load, connections, milliseconds, server, cores):
        warm_up = load.get("warm_up", max(20, milliseconds // 4))
        super().__init__([program, load["kind"], str(connections), str(load["size"]), str(warm_up), str(milliseconds),
                          str(server.pid), str(server.port)], cores)

    def wait_for(self, word):
        line = self.line()
        if line != word:
            raise Failed(f"{self.name}: printed {line[:80]!r} instead of {word!r}")

    def measures(self):
        """{measure: value}, after the end of the load."""
        return parse(self.rest())


def parse(text):
    try:
        return {measure: float(value) for measure, value in (line.split() for line in text.splitlines())}
    except ValueError:
        raise Failed(f"not a measure and its value: {text[:80]!r}")
