"""Layers: an include goes only downward.

layers.txt gives each layer the layers that it may include, and each part of a layer the parts below it. Every include of a
hocket header, public or private, keeps to that and names no extension. A private header stays within its layer, and
extensions include none. src/<layer>/CMakeLists.txt and src/<layer>/<part>/CMakeLists.txt link exactly what the list says,
so the build says the same. An umbrella that is said to be stackless reaches no stackful layer.

Each file of a layer with parts lies in the folder of a part, in include and in src. The exceptions are public headers: the
list says the part of each. The target of the layer is the sum of its parts.
"""
import collections
import re

from .tree import Finding

FAST = True
LIST = "layers.txt"
STACKFUL = {"context", "stack", "fiber"}

# below: the layers and parts that it may include. headers: of a part, the public ones in the folder of its layer.
Layer = collections.namedtuple("Layer", "below headers")
PLACE = re.compile(r"(?:include/hocket|src)/(?P<layer>[^/]+)/(?P<rest>.+)")
# Interfaces of a part for other layers, that lie beside the umbrellas.
INTERFACES = {"include/hocket/primitive.hpp": "core/wait"}


def read(tree):
    """{layer or part: Layer}, as the list has them. A part is named by its layer, a slash and its folder."""
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
    if path in INTERFACES:
        return INTERFACES[path].partition("/")[0]
    match = PLACE.match(path)
    return match.group("layer") if match else None


def part_of(path, layers):
    """The part of a source or header. Where there is none, its layer."""
    if path in INTERFACES:
        return INTERFACES[path]
    match = PLACE.match(path)
    folder, _, rest = match.group("rest").partition("/")
    named = f"{match.group('layer')}/{folder}"
    if rest:
        return named if named in layers else match.group("layer")
    holders = (part for part in parts_of(layers, match.group("layer")) if folder in layers[part].headers)
    return next(holders, match.group("layer")) if path.startswith("include/") else match.group("layer")


def may_include(layers, upper, lower):
    """Whether the list lets one layer or part include another one: it names the other one, or the layer of that part."""
    below = layers[upper].below
    return lower == upper or lower in below or lower.partition("/")[0] in below


def check_lattice(layers):
    done = set()
    for name, layer in layers.items():
        for lower in [*layer.below, *([name.partition("/")[0]] if "/" in name else [])]:
            if lower not in done:
                yield Finding(LIST, 0, f"{name} names {lower}, which no line above declares")
        done.add(name)


def check_headers(tree, layers):
    """The list has each public header of a layer with parts once, and no other."""
    for part in [name for name in layers if "/" in name]:
        folder = f"include/hocket/{part.partition('/')[0]}"
        for header in layers[part].headers:
            if f"{folder}/{header}" not in tree.texts:
                yield Finding(LIST, 0, f"{part} has {header}: there is no {folder}/{header}")
    listed = collections.Counter((name.partition("/")[0], header) for name in layers for header in layers[name].headers)
    for (layer, header), count in listed.items():
        if count > 1:
            yield Finding(LIST, 0, f"{header} of {layer} is in {count} parts")


def check_includes(tree, layers):
    for path in tree.paths("include", "src"):
        layer = layer_of(path)
        if layer is None:
            continue
        if layer not in layers:
            yield Finding(path, 1, f"folder {layer} is not a layer of {LIST}")
            continue
        part = part_of(path, layers)
        if part == layer and parts_of(layers, layer):
            yield Finding(path, 1, f"in no part of {layer}: move it to the folder of a part, or list a public header in {LIST}")
            continue
        for line, name in tree.includes(path):
            yield from check_include(tree, layers, (path, line), part, name)


def check_include(tree, layers, place, part, name):
    """An include by a file of the layer or part."""
    target = tree.resolve(place[0], name)
    if target is None and not name.startswith("hocket/"):
        return
    other = layer_of(target or f"include/{name}")
    if target and target.startswith("src/") and other != part.partition("/")[0]:
        yield Finding(*place, f"{name} is private to layer {other}")
        return
    if target and other in layers:
        other = part_of(target, layers)
    if other is None or not may_include(layers, part, other):
        yield Finding(*place, f"{'part' if '/' in part else 'layer'} {part} must not include {name} (see {LIST})")


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
        target = layer.replace("/", "_")
        call = re.search(r"hocket_layer\(\s*" + target + r"\b([^)]*)\)", text)
        if not call:
            yield Finding(path, 1, f"no hocket_layer({target} ...)")
            continue
        linked = call.group(1).partition("DEPENDS")[2].split()
        expected = [name.replace("/", "_") for name in [*below, *parts_of(layers, layer)]]
        if sorted(linked) != sorted(expected):
            yield Finding(path, 1, f"DEPENDS {' '.join(linked)}: {LIST} says {' '.join(expected)}")


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
    return [*check_lattice(layers), *check_headers(tree, layers), *check_includes(tree, layers), *check_extensions(tree),
            *check_links(tree, layers), *check_umbrellas(tree)]
