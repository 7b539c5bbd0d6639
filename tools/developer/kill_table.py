"""tests/mutants/killed.tsv: when and at which commit each mutant was killed last, and how long that took."""
import datetime
from dataclasses import dataclass

from .mutant_file import FOLDER
from .shell import Stop, head_commit

COLUMNS = ("name", "date", "commit", "seconds")


@dataclass(frozen=True)
class Kill:
    date: str
    commit: str
    seconds: str


class KillTable:
    def __init__(self, root):
        self.root = root
        self.path = root / FOLDER / "killed.tsv"
        lines = self.path.read_text().splitlines() if self.path.is_file() else []
        self.rows = dict(self.row(number, line) for number, line in enumerate(lines, 1) if number > 1)

    def row(self, number, line):
        cells = line.split("\t")
        if len(cells) != len(COLUMNS):
            raise Stop(f"{self.path}:{number}: expected {', '.join(COLUMNS)} with tabs between them")
        return cells[0], Kill(*cells[1:])

    def record(self, name, seconds):
        commit = head_commit(self.root, except_for=[self.path.relative_to(self.root)])
        self.rows[name] = Kill(datetime.date.today().isoformat(), commit, f"{seconds:.0f}")
        self.write()

    def remove(self, name):
        self.rows.pop(name, None)
        self.write()

    def write(self):
        """After each mutant, so that an interrupted run is recorded, too."""
        lines = [COLUMNS, *((name, row.date, row.commit, row.seconds) for name, row in sorted(self.rows.items()))]
        self.path.write_text("".join("\t".join(cells) + "\n" for cells in lines))

    def oldest(self, mutants, count):
        """Mutants that were never killed come first."""
        def date(mutant):
            return self.rows[mutant.name].date if mutant.name in self.rows else ""
        chosen = sorted(mutants, key=date)[:count]
        return sorted(chosen, key=lambda mutant: (mutant.target, mutant.name))
