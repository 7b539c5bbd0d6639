"""Layers: an include goes only downward.

layers.txt gives each layer the layers that it may include. Every include of a hocket header, public or private, keeps
to that and names no extension; a private header stays within its layer, and extensions include none; src/<layer>/CMakeLists.txt links exactly the layers of the list, so
the build says the same; an umbrella that is said to be stackless reaches no stackful layer.
"""
import collections
import re

from .tree import Finding

FAST = True
LIST = "layers.txt"
STACKFUL = {"context", "stack", "fiber"}

# below: the layers and parts that it may include. headers: of a part, the public ones in the folder of its layer.
Layer = collections.namedtuple("Layer", "below headers")


def read(tree):
    """{layer or part: Layer}, as the list has them. The name of a part is that of its layer, a slash and its folder."""
    layers = {}
    for line in tree.lines(LIST) if LIST in tree.texts else []:
        name, colon, rest = line.partition("#")[0].partition(":")
        if colon:
            below, _, headers = rest.partition("|")
            layers[name.strip()] = Layer(below.split(), headers.split())
    return layers


def parts_of(layers, layer):
    """The names of a layer's parts."""
    return [name for name in layers if name.startswith(layer + "/")]


def layer_of(path):
    """The layer of a source or header, or None: tests, the lab and umbrellas are of none."""
    match = re.match(r"(?:include/hocket|src)/([^/]+)/", path)
    return match.group(1) if match else None


def check_lattice(layers):
    done = set()
    for name, layer in layers.items():
        for lower in layer.below:
            if lower not in done:
                yield Finding(LIST, 0, f"{name} names {lower}, which no line above declares")
        done.add(name)


def check_includes(tree, layers):
    for path in tree.paths("include", "src"):
        layer = layer_of(path)
        if layer is None:
            continue
        if layer not in layers:
            yield Finding(path, 1, f"folder {layer} is not a layer of {LIST}")
            continue
        for line, name in tree.includes(path):
            target = tree.resolve(path, name)
            if target is None and not name.startswith("hocket/"):
                continue
            other = layer_of(target) if target else name.split("/")[1]
            if target and target.startswith("src/") and other != layer:
                yield Finding(path, line, f"{name} is private to layer {other}")
            elif other != layer and other not in layers[layer].below:
                yield Finding(path, line, f"layer {layer} must not include {name} (see {LIST})")


def check_extensions(tree):
    for path in [path for path in tree.paths("ext") if "/tests/" not in path]:
        for line, name in tree.includes(path):
            if (tree.resolve(path, name) or "").startswith("src/"):
                yield Finding(path, line, f"{name} is private to the library: an extension cannot need it")


def check_links(tree, layers):
    for layer, (below, _) in layers.items():
        path = f"src/{layer}/CMakeLists.txt"
        if path not in tree.texts:
            continue
        text = re.sub(r"#.*", "", tree.texts[path])
        call = re.search(r"hocket_layer\(\s*" + layer + r"\b([^)]*)\)", text)
        if not call:
            yield Finding(path, 1, f"no hocket_layer({layer} ...)")
            continue
        linked = call.group(1).partition("DEPENDS")[2].split()
        if sorted(linked) != sorted(below):
            yield Finding(path, 1, f"DEPENDS {' '.join(linked)}: {LIST} says {' '.join(below)}")


def reach(tree, path, seen):
    for _, name in tree.includes(path):
        target = tree.resolve(path, name)
        if target and target not in seen:
            seen.add(target)
            reach(tree, target, seen)
    return seen


def check_umbrellas(tree):
    path = "include/hocket/stackless.hpp"
    for reached in sorted(reach(tree, path, set())) if path in tree.texts else []:
        if layer_of(reached) in STACKFUL:
            yield Finding(path, 1, f"the stackless umbrella reaches {reached}")


def check(tree):
    layers = read(tree)
    if not layers:
        return [Finding(LIST, 0, "no layer is declared")]
    return [*check_lattice(layers), *check_includes(tree, layers), *check_extensions(tree), *check_links(tree, layers),
            *check_umbrellas(tree)]
