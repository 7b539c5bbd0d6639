"""Ratchets: a list has today's figure of each file, and a figure may only shrink.

A rule with a list has RATCHET. Its figures(tree) are {key: Figure}; a key begins with a path. A row of the list is the
key, the count and an optional reason, separated by tabs. A count above its row fails, and so does a row above its count:
`./dev check --shrink` lowers rows and never raises one. A key without a row has the limit of its Figure. If a file is
renamed or split, its row moves by hand.

`PYTHONPATH=tools python3 -m check.ratchet` writes all lists anew from the tree, which raises rows, too: for merges alone.
"""
import collections
import subprocess

from .tree import Finding

Figure = collections.namedtuple("Figure", "count limit places")  # places: [(line, word)], line 0 for a whole file
Row = collections.namedtuple("Row", "line count reason")


def changed_lines(tree, path):
    """The lines of a file that differ from the last commit; empty where git does not know the file."""
    diff = subprocess.run(["git", "diff", "-U0", "HEAD", "--", path], cwd=tree.root, capture_output=True, text=True)
    changed = set()
    for line in diff.stdout.splitlines() if diff.returncode == 0 else []:
        if line.startswith("@@"):
            start, _, count = line.split("+")[1].split(" ")[0].partition(",")
            changed.update(range(int(start), int(start) + int(count or 1)))
    return changed


def sample_of(tree, path, places, most):
    """The first places as text, beginning with changed lines."""
    changed = changed_lines(tree, path)
    ordered = sorted(places, key=lambda place: (place[0] not in changed, place[0]))[:most]
    return ", ".join(f"{word} (line {line})" if line else word for line, word in ordered)


class Ratchet:
    """A list file, how many columns its keys have, the noun for its figures, the function that counts, and how many places
    a finding names."""

    def __init__(self, path, columns, noun, figures, sample=5):
        self.path, self.columns, self.noun, self.figures, self.sample = path, columns, noun, figures, sample

    def rows(self, tree):
        """({key: Row}, findings): the list, and its lines that are no rows."""
        found, broken = {}, []
        for number, line in enumerate(tree.lines(self.path) if self.path in tree.texts else [], 1):
            if not line.strip() or line.startswith("#"):
                continue
            cells = line.split("\t")
            if len(cells) - self.columns in (1, 2) and cells[self.columns].isdecimal():
                found[tuple(cells[:self.columns])] = Row(number, int(cells[self.columns]), "".join(cells[self.columns + 1:]))
            else:
                broken.append(Finding(self.path, number, "expected the key, the count and an optional reason, with tabs between them"))
        return found, broken

    def sound_rows(self, tree):
        """The rows of a list that is to be written again."""
        rows, broken = self.rows(tree)
        if broken:
            raise SystemExit("\n".join(f"{path}:{line}: {text}" for path, line, text in broken))
        return rows

    def excess(self, tree, key, figure, row):
        """The finding for a figure above its row or, without one, above its limit; None for others."""
        limit = max(row.count, figure.limit) if row else figure.limit
        if figure.count <= limit:
            return None
        noun = " ".join([*(f"'{part}'" for part in key[1:]), self.noun])
        advice = "" if row else f"; if the file was renamed or split, move its row in {self.path} by hand"
        line = min((line for line, _ in figure.places), default=0)
        return Finding(key[0], line, f"{figure.count} {noun}, at most {limit}: "
                                     f"{sample_of(tree, key[0], figure.places, self.sample)}{advice}")

    def check(self, tree):
        figures, (rows, broken) = self.figures(tree), self.rows(tree)
        findings = [self.excess(tree, key, figure, rows.get(key)) for key, figure in figures.items()]
        for key, row in rows.items():
            count = lowered(row, figures.get(key))
            if count < row.count:
                findings.append(Finding(self.path, row.line, f"{' '.join(key)}: {row.count} in the list, {count or 'no row'} "
                                                             "needed: ./dev check --shrink"))
        return broken + [finding for finding in findings if finding]

    def write(self, tree, counts, rows):
        """Writes the list: the comments that open the present one, then the rows with their reasons."""
        lines = [line for line in (tree.lines(self.path) if self.path in tree.texts else []) if line.startswith("#")]
        for key in sorted(counts):
            reason = rows[key].reason if key in rows else ""
            lines.append("\t".join([*key, str(counts[key]), *([reason] if reason else [])]))
        (tree.root / self.path).write_text("\n".join(lines) + "\n")

    def shrink(self, tree):
        """Lowers the rows to the truth, and prints each that changes."""
        figures, rows = self.figures(tree), self.sound_rows(tree)
        counts = {key: lowered(row, figures.get(key)) for key, row in rows.items()}
        for key, count in counts.items():
            if count != rows[key].count:
                print(f"{self.path}: {' '.join(key)}: {rows[key].count} -> {count or 'no row'}")
        self.write(tree, {key: count for key, count in counts.items() if count}, rows)

    def write_anew(self, tree):
        counts = {key: figure.count for key, figure in self.figures(tree).items() if figure.count > figure.limit}
        self.write(tree, counts, self.sound_rows(tree))
        print(f"{self.path}: {len(counts)} rows, {sum(counts.values())} in all")


def lowered(row, figure):
    """What --shrink makes of a row's count; 0 if the row is not needed."""
    if figure is None or figure.count <= figure.limit:
        return 0
    return min(row.count, figure.count)


if __name__ == "__main__":
    from . import runner  # not above: runner imports the rules, which import this module
    checkout = runner.Tree.checkout(runner.ROOT)
    for name in runner.ratchets():
        runner.rule(name).RATCHET.write_anew(checkout)
