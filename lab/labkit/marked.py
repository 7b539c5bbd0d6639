"""Rewrites the part of a file between two marking lines."""
import re


def rewrite(path, begin, end, written):
    text, found = re.subn(rf"{re.escape(begin)}.*?{re.escape(end)}", lambda _: f"{begin}\n{written}\n{end}",
                          path.read_text(encoding="utf-8"), flags=re.S)
    if found != 1:
        raise SystemExit(f"{path.name} has {found} places for the figures, not one: {begin}")
    path.write_text(text, encoding="utf-8")
    print(f"written: {path}")
