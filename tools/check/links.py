"""Links: every relative link of a document leads to a file or folder, and its #anchor to a heading there.

Each document at the top of the tree and below docs/ is reachable by links from docs/README.md. A link to a folder
leads to its README.md, if there is one. Links in code are no links, and addresses of other sites are not read.
"""
import functools
import pathlib
import posixpath
import re
import urllib.parse

from .prose import lines_of_markdown
from .tree import Finding

FAST = True
INDEX = "docs/README.md"
LINK = re.compile(r"""\]\(\s*<?([^)\s>]+)>?(?:\s+"[^"]*")?\s*\)|^ {0,3}\[[^\]^][^\]]*\]:\s*<?([^\s>]+)""", re.M)
SPAN = re.compile(r"(?<!`)(`+)(?!`)(?:[^\n]|\n(?!\s*\n))+?(?<!`)\1(?!`)")
SITE = re.compile(r"[A-Za-z][\w+.-]*:|//")
HEADING = re.compile(r" {0,3}#{1,6}\s+(.*?)\s*#*\s*$")
ID = re.compile(r"""<a\s+(?:id|name)=["']([^"']+)["']""")
LINKED_TEXT = re.compile(r"\[([^\]]*)\]\([^)]*\)")
NOT_IN_ANCHOR = re.compile(r"[^\w\- ]")


def links(text):
    """(offset, target) of each link to a place in the tree or in the document itself."""
    characters = list(" " * len(text))
    for offset, line in lines_of_markdown(text):
        characters[offset:offset + len(line)] = line
    prose = SPAN.sub(lambda match: " " * len(match.group()), "".join(characters))
    for match in LINK.finditer(prose):
        target = match.group(1) or match.group(2)
        if not SITE.match(target):
            yield match.start(), urllib.parse.unquote(target)


@functools.lru_cache(maxsize=None)
def anchors(text):
    """The anchors of a document's headings, as sites that show Markdown name them."""
    found = set(ID.findall(text))
    for _, line in lines_of_markdown(text):
        if match := HEADING.match(line):
            title = LINKED_TEXT.sub(r"\1", match.group(1)).lower()
            name = anchor = NOT_IN_ANCHOR.sub("", title).replace(" ", "-")
            number = 0
            while anchor in found:
                number += 1
                anchor = f"{name}-{number}"
            found.add(anchor)
    return found


def document_of(tree, path):
    """The document that a link to this path shows, or None."""
    path = path if path.endswith(".md") else posixpath.join(path, "README.md")
    return path if path in tree.texts else None


def resolved(document, target):
    """(path, anchor): the path relative to the root, without a slash at its end."""
    path, _, anchor = target.partition("#")
    return (posixpath.normpath(posixpath.join(posixpath.dirname(document), path)) if path else document), anchor


class Links:
    def __init__(self, tree):
        self.tree = tree
        self.folders = {str(folder) for path in tree.texts for folder in pathlib.PurePosixPath(path).parents}
        self.documents = {path: list(links(text)) for path, text in tree.texts.items() if path.endswith(".md")}

    def fault(self, document, target):
        """The reason why a link is dead, or None."""
        path, anchor = resolved(document, target)
        if target.startswith("/") or path not in self.tree.texts and path not in self.folders:
            return f"leads to nothing: {target}"
        shown = document_of(self.tree, path)
        if anchor and shown and anchor not in anchors(self.tree.texts[shown]):
            return f"{shown} has no heading #{anchor}"
        return None

    def dead(self):
        for document, found in self.documents.items():
            for offset, target in found:
                if fault := self.fault(document, target):
                    yield Finding(document, self.tree.line_of(document, offset), fault)

    def reachable(self):
        """The documents that a reader of the index can reach."""
        reached, pending = set(), [INDEX] if INDEX in self.documents else []
        while pending:
            document = pending.pop()
            if document not in reached:
                reached.add(document)
                shown = (document_of(self.tree, resolved(document, target)[0]) for _, target in self.documents[document])
                pending += [path for path in shown if path]
        return reached

    def lost(self):
        reached = self.reachable()
        for document in self.documents:
            if ("/" not in document or document.startswith("docs/")) and document not in reached:
                yield Finding(document, 1, f"no link leads here from {INDEX}")


def check(tree):
    found = Links(tree)
    return [*found.dead(), *found.lost()]
