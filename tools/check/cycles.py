"""No include cycle: a header that reaches itself cannot be understood, or compiled, alone."""
from .tree import Finding

FAST = True


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


def check(tree):
    graph, done, findings = graph_of(tree), set(), []
    for path in graph:
        if path not in done:
            visit(graph, path, [], done, findings)
    return findings
