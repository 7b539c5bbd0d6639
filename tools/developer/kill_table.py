"""tests/mutants/killed.tsv: when and at which commit each mutant was killed last, and how long that took."""
import datetime
from dataclasses import dataclass

from .mutant_file import FOLDER
from .shell import head_commit

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
        lines = self.path.read_text().splitlines()[1:] if self.path.is_file() else []
        self.rows = {name: Kill(*cells) for name, *cells in (line.split("\t") for line in lines)}

    def record(self, name, seconds, killed):
        """Writes at once, so that an interrupted run is recorded, too."""
        self.rows.pop(name, None)
        if killed:
            commit = head_commit(self.root, except_for=[self.path.relative_to(self.root)])
            self.rows[name] = Kill(datetime.date.today().isoformat(), commit, f"{seconds:.0f}")
        lines = [COLUMNS, *((name, row.date, row.commit, row.seconds) for name, row in sorted(self.rows.items()))]
        self.path.write_text("".join("\t".join(cells) + "\n" for cells in lines))

    def oldest(self, mutants, count):
        """Mutants that were never killed come first."""
        def date(mutant):
            return self.rows[mutant.name].date if mutant.name in self.rows else ""
        chosen = sorted(mutants, key=date)[:count]
        return sorted(chosen, key=lambda mutant: (mutant.target, mutant.name))
