"""No include cycle: a header that reaches itself cannot be understood, or compiled, alone.

Nouns can include one another, too: x.hpp and x.cpp of a folder are one noun, and a layer's parts of `include`, `detail`
and `src` are one folder, with the folders of its parts (layers.txt). Nouns that reach one another are a knot.
tools/check/knots.tsv has the knots of each folder, the largest first, with their numbers of nouns: they may only shrink.
"""
import collections
import pathlib
import re

from .layers import read as read_layers
from .ratchet import Figure, Ratchet
from .tree import Finding

FAST = True
LAYER = re.compile(r"(?:include/hocket|src)/(?P<layer>[^/]+)/|(?P<ext>ext/\w+(?:/boehm)?)/(?:include/hocket(?:/\w+)?|src)/")


def graph_of(tree):
    graph = {}
    for path in tree.paths():
        targets = [(line, tree.resolve(path, name)) for line, name in tree.includes(path)]
        graph[path] = [(line, target) for line, target in targets if target]
    return graph


def visit(graph, path, trail, done, findings):
    trail.append(path)
    for line, target in graph[path]:
        if target in trail:
            cycle = trail[trail.index(target):] + [target]
            findings.append(Finding(path, line, "include cycle: " + " -> ".join(cycle)))
        elif target not in done:
            visit(graph, target, trail, done, findings)
    trail.pop()
    done.add(path)


def noun_of(path, layers):
    """(folder, noun). A layer is one folder. Below it, and below the folder of a part, the name of a folder other than
    `detail` and `seam` belongs to the noun."""
    file, layer = pathlib.PurePosixPath(path), LAYER.match(path)
    if not layer:
        return str(file.parent), file.stem
    inner = [part for part in pathlib.PurePosixPath(path[layer.end():]).parts[:-1] if part not in ("detail", "seam")]
    if inner and f"{layer['layer']}/{inner[0]}" in layers:
        inner = inner[1:]
    return layer["layer"] or layer["ext"], "/".join([*inner, file.stem])


def nouns_of(graph, layers):
    """{folder: {noun: nouns of the same folder that it includes}}"""
    folders = collections.defaultdict(lambda: collections.defaultdict(set))
    for path, edges in graph.items():
        folder, noun = noun_of(path, layers)
        targets = {noun_of(target, layers) for _, target in edges} - {(folder, noun)}
        folders[folder][noun].update(other for other_folder, other in targets if other_folder == folder)
    return folders


def reachable(edges, start):
    found, pending = set(), [start]
    while pending:
        for noun in edges[pending.pop()] - found:
            found.add(noun)
            pending.append(noun)
    return found


def knots_of(edges):
    """The sets of nouns that reach one another, the largest first."""
    reach = {noun: reachable(edges, noun) for noun in list(edges)}
    knots = {frozenset(other for other in reach[noun] if noun in reach[other]) for noun in reach if noun in reach[noun]}
    return sorted(knots, key=lambda knot: (-len(knot), min(knot)))


def figures(tree):
    counts = {}
    for folder, edges in nouns_of(graph_of(tree), read_layers(tree)).items():
        for rank, knot in enumerate(knots_of(edges), 1):
            counts[folder, f"knot {rank}"] = Figure(len(knot), 1, [(0, noun) for noun in sorted(knot)])
    return counts


RATCHET = Ratchet("tools/check/knots.tsv", 2, "nouns that include one another", figures, sample=99)


def check(tree):
    graph, done, findings = graph_of(tree), set(), []
    for path in graph:
        if path not in done:
            visit(graph, path, [], done, findings)
    return findings + RATCHET.check(tree)
