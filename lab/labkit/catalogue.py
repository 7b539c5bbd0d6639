"""The catalogue of the lab: the systems.json of each folder of lab/subjects, lab/pages.json, and lab/bars.json."""
import fnmatch
import json
import os
import pathlib

LAB = pathlib.Path(__file__).resolve().parent.parent
WORKERS = (1, 2, 4, 8, 16, 32)


def read(name, lab=LAB):
    return json.loads((lab / name).read_text(encoding="utf-8"))


class System:
    def __init__(self, entry, folder):
        self.id = entry["id"]
        self.folder = folder   # its sources and their recipe
        self.kind = entry["kind"]
        self.description = entry["what"]
        self.workloads = entry["workloads"]
        self.needs = entry.get("needs")
        self.program = entry.get("program")
        self.preload = entry.get("preload")   # a library that is loaded before the C library
        self.python = entry.get("python", [])  # modules that the program's own Python imports
        self._entry = entry
        self.command = None   # set by builders: the program and its first arguments

    def refuses(self, n, full):
        """The reason why this size is not measured, or None."""
        limit = self._entry.get("n_at_most_full" if full else "n_at_most")
        if limit is None or n <= limit:
            return None
        return self._entry["n_at_most_because"] if not full else f"at most {limit:,}"


def peers(lab=LAB):
    """{folder: its systems.json}, hocket's first. An old commit may have one file for all systems."""
    files = sorted((lab / "subjects").glob("*/systems.json"), key=lambda file: (file.parent.name != "hocket", file))
    if not files:
        return {lab: {"systems": read("systems.json", lab)}}
    return {file.parent: json.loads(file.read_text(encoding="utf-8")) for file in files}


def systems(patterns=None, lab=LAB):
    everything = [System(entry, folder) for folder, peer in peers(lab).items() for entry in peer["systems"]]
    if not patterns:
        return everything
    unknown = [p for p in patterns if not any(fnmatch.fnmatch(s.id, p) for s in everything)]
    if unknown:
        raise SystemExit(f"no system named {', '.join(unknown)}; there are: {', '.join(s.id for s in everything)}")
    return [s for s in everything if any(fnmatch.fnmatch(s.id, p) for p in patterns)]


def more_workers(group):
    """The further sizes of a group that scales, up to the number of cores."""
    if not group.get("scales"):
        return []
    last, available = group["sizes"][-1], len(os.sched_getaffinity(0))
    return [{**last, "n": n, "cores": n} for n in WORKERS if last["n"] < n <= available]


def of_pages(systems, pages):
    """The systems that at least one of the pages measures."""
    workloads = {group["workload"] for page in pages for group in page.groups}
    return [system for system in systems if workloads & set(system.workloads)]


class Page:
    def __init__(self, name, entry):
        self.name = name
        self.title = entry["title"]
        self.about = entry["about"]
        self.groups = entry["groups"]
        self.seconds = entry.get("seconds", 0)            # the time of its repetitions, if it is longer than usual
        self.has_worker_count = entry.get("workers", False)  # its heading has the number of workers

    def sizes(self, group, mode):
        if mode == "smoke":
            return group["smoke"]
        return group["sizes"] + more_workers(group) + (group["full"] if mode == "full" else [])

    def metrics(self):
        """(group, metric) for each table of the report."""
        return [(group, metric) for group in self.groups for metric in group["metrics"]]


def pages(names=None):
    """The pages of these names; every page without names, or with the name "all"."""
    everything = read("pages.json")
    for name in names or []:
        if name == "portability":
            raise SystemExit("the page portability compares compilers: ./dev lab portability")
        if name not in everything and name != "all":
            raise SystemExit(f"no page named {name}; there are: {', '.join(everything)}, or all of them: all")
    metrics = [metric["id"] for page in everything.values() for group in page["groups"] for metric in group["metrics"]]
    assert len(metrics) == len(set(metrics)), "the id of a metric is unique over all pages"
    return [Page(name, entry) for name, entry in everything.items() if not names or name in names or "all" in names]


def numbered(n, group):
    """A size in words: a group may name the things that it counts."""
    noun = group.get("n_is", "coroutines")
    return f"{n:,} {noun if n != 1 else noun[:-1]}"


def is_higher_better(metric):
    return metric.get("better") == "higher"


def bars(pages, mode):
    """The bars of these pages. A bar without a size becomes a bar for each size of its workload, from `from_n` on."""
    sizes = {metric["id"]: [size["n"] for size in page.sizes(group, mode)]
             for page in pages for group, metric in page.metrics()}
    return [{**bar, "n": n} for bar in read("bars.json") for n in
            ([bar["n"]] if "n" in bar else sizes.get(bar["workload"], [])) if n >= bar.get("from_n", 0)]
