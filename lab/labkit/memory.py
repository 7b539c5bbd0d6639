"""The memory of a process, read from outside at its request: one instrument for every language.

Counted: anonymous resident pages, page tables, and for each thread a kernel stack, which no figure of the process
contains. They grow with the coroutines. Not counted: pages of files, which processes share, and the kernel's own
structures for threads and mappings.
"""
import pathlib

MIB = 2 ** 20


def field(path, name):
    """A line `name:  123 kB` of a file in /proc, in bytes."""
    for line in pathlib.Path(path).read_text(encoding="ascii").splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) * (1024 if line.endswith("kB") else 1)
    raise OSError(f"{path} has no line {name}")


def kernel_stack():
    """Bytes of a thread's kernel stack: the kernel stacks of the machine divided by its threads; 0 if they are unknown."""
    try:
        threads = int(pathlib.Path("/proc/loadavg").read_text(encoding="ascii").split()[3].split("/")[1])
        return field("/proc/meminfo", "KernelStack") / threads
    except (OSError, ValueError, IndexError, ZeroDivisionError):
        return 0


def beside_pages(status):
    return field(status, "VmPTE") + field(status, "Threads") * kernel_stack()


def live(pid):
    """The present size in MiB, from smaps_rollup: the counters of /proc/*/status lag behind."""
    return (field(f"/proc/{pid}/smaps_rollup", "Anonymous") + beside_pages(f"/proc/{pid}/status")) / MIB


def peak(pid):
    """The greatest size so far in MiB: the peak of resident pages, less the present pages of files."""
    status = f"/proc/{pid}/status"
    pages = field(status, "VmHWM") - field(status, "RssFile") - field(status, "RssShmem")
    return max(live(pid), (pages + beside_pages(status)) / MIB)


READINGS = {"live": live, "peak": peak}
