"""An invented report.json for the tests of the page: every system in every table, with figures from a seed."""
import random

from labkit import catalogue

RUNS = 5


def of_pages(names, seed=1, **more):
    draw = random.Random(seed)
    rows = [row(draw, page, group, metric, size["n"], system.id) for page in catalogue.pages(names) for group, metric in page.metrics()
            for size in page.sizes(group, "default") for system in catalogue.systems() if group["workload"] in system.workloads]
    return {"command": "./dev lab", "date": "2001-02-03", "mode": "default", "machine": {"processor": "none", "kernel": "Linux"},
            "cores": 2, "seconds": 12, "programs": 0, "cut short": False, "profiles": {}, "pages": [page.name for page in catalogue.pages(names)],
            "skipped systems": {}, "skipped": [], "failed": [], "fewer": [], "not to be had": [], "rows": rows, **more}


def row(draw, page, group, metric, n, system):
    values = [round(10 ** draw.uniform(0, 4), 3)] * RUNS
    values = [value * draw.uniform(0.9, 1.1) for value in values]
    result = {"page": page.name, "workload": metric["id"], "system": system, "n": n, "unit": metric["unit"],
            "median": sorted(values)[RUNS // 2], "min": min(values), "max": max(values), "runs": RUNS}
    if group.get("paired"):
        result["by_run"] = {str(run): value for run, value in enumerate(values)}
    return result
