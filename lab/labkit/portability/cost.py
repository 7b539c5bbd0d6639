"""The cost of HOCKET_PORTABLE: the page `wait` of tasks on a loop, in a portable build and in a build that only lacks fibers."""
import datetime

from .. import against, builders, catalogue
from .compilers import FOLDER

SYSTEM = "hocket-task-loop"
ROUNDS = 9
BUILDS = {"portable": "ON", "plain": "OFF"}


def system_of(build, portable):
    builders.in_turn(build, builders.configure(FOLDER, build, *builders.RELEASE, f"-DHOCKET_PORTABLE={portable}",
                                               "-DHOCKET_LAB=OFF", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=32"),
                     builders.compile_targets(build, ["waits"]))
    system, = catalogue.systems([SYSTEM])
    system.command = [str(build / "waits")]
    return system


def measure(folder):
    portable, plain = ([system_of(folder / name, value)] for name, value in BUILDS.items())
    comparison = against.Comparison(catalogue.pages(["wait"]), portable, plain, ROUNDS)
    comparison.run()
    rows = [{"workload": row.workload, "plain": row.before, "portable": row.now, "ratio": row.ratio, "low": row.low,
             "high": row.high} for row in comparison.rows()]
    return {"date": datetime.date.today().isoformat(), "rounds": ROUNDS, "rows": rows}
