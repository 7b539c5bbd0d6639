"""Samples for the rule of seams: (clean trees, planted violations)."""
from .planted import EXTENSION, LAYERS, ONCE, header, page, parts, public, row, source

OUTSIDE, SEAM_ROW = "tests/install/outside/a.cpp", "| `core/seam/a.hpp` | `a` | fiber | any thread |\n"


def seam(text="struct a {};\n", user="#include <hocket/core/seam/a.hpp>\na one;\n", rows=SEAM_ROW, layer="fiber"):
    """A seam header of core, another layer that uses it, and the page with its row."""
    return {"layers.txt": LAYERS, **public(text, "detail", "core/seam/a.hpp"), **source(user, layer), "docs/seams.md": rows}


def seam_exception(name, reason="b() reads it inline"):
    return row("seam_names.txt", f"include/hocket/core/seam/a.hpp | {name} | {reason}")


def many_seams(count):
    """Seam headers of core and of base, all for fiber."""
    tree, names = {"layers.txt": LAYERS}, [(layer, f"a{n}") for layer in ("core", "base") for n in range(count)]
    for layer, name in names:
        tree |= public(f"struct {name} {{}};\n", "detail", f"{layer}/seam/{name}.hpp")
    tree["docs/seams.md"] = "".join(f"| `{layer}/seam/{name}.hpp` | `{name}` | fiber | any thread |\n" for layer, name in names)
    return tree | source("".join(f"#include <hocket/{layer}/seam/{name}.hpp>\n{name} x;\n" for layer, name in names), "fiber")


SAMPLES = (
    [seam(), {**seam(user="", rows=SEAM_ROW.replace("fiber", "outside")), OUTSIDE: "#include <hocket/core/seam/a.hpp>\na one;\n"},
     seam(layer="base", rows=SEAM_ROW.replace("fiber", "base")), many_seams(50),
     {**parts(), **source("#include <hocket/core/low/detail/a.hpp>\n", "core/low")},
     {"layers.txt": LAYERS, **header("core/detail", ""), "tests/a.cpp": "#include <hocket/core/detail/a.hpp>\n"},
     {**EXTENSION, "ext/gc/include/hocket/gc/detail/b.hpp": ONCE, "ext/gc/src/a.cpp": "#include <hocket/gc/detail/b.hpp>\n"},
     {**seam("struct a {};\nstruct b {};\na f(b one);\n", "#include <hocket/core/seam/a.hpp>\nf({});\n"),
      "docs/seams.md": SEAM_ROW.replace("`a`", "`a` `b` `f`")},  # by the declaration of f
     {**seam("struct a {};\nstruct b {};\n", rows=SEAM_ROW.replace("`a`", "`a` `b`")), **seam_exception("b")},
     {**seam("struct a {};\nstruct b {};\n", rows=SEAM_ROW.replace("`a`", "`a` `b`")), **page(("core/a.hpp", "b"))},
     {**seam("struct a {};\nstruct a;\n"), **header("core/detail", "")},
     {**seam("", "#include <hocket/core/seam/a.hpp>\n", SEAM_ROW.replace("`a`", "")), "examples/a.cpp": "#include <hocket/core/seam/a.hpp>\n"},
     {**parts(), **public("struct a {};\n", "detail", "core/low/seam/s.hpp"), "docs/seams.md":
      "| `core/low/seam/s.hpp` | `a` | core/high | any thread |\n", **source("#include <hocket/core/low/seam/s.hpp>\na one;\n", "core/high")}],
    [{"layers.txt": LAYERS, **header("core/detail", ""), **source("#include <hocket/core/detail/a.hpp>\n", "fiber")},
     {"layers.txt": LAYERS, **header("core/detail", ""), **header("fiber", "#include <hocket/core/detail/a.hpp>\n")},
     {"layers.txt": LAYERS, **header("core/detail", ""), "ext/gc/src/a.cpp": "#include <hocket/core/detail/a.hpp>\n"},
     {"layers.txt": LAYERS, "ext/gc/include/hocket/gc/detail/b.hpp": ONCE, "ext/pg/src/a.cpp": "#include <hocket/gc/detail/b.hpp>\n"},
     {"layers.txt": LAYERS, **header("core/detail", ""), "include/hocket/all.hpp": "#include <hocket/core/detail/a.hpp>\n"},
     {**parts(), **source("#include <hocket/core/low/detail/a.hpp>\n", "core/high")},
     {**parts(), "include/hocket/core/b.hpp": "#include <hocket/core/low/detail/a.hpp>\n"},
     *({"layers.txt": LAYERS, **header("core/detail", ""), path: "#include <hocket/core/detail/a.hpp>\n"}
       for path in (OUTSIDE, "lab/a.cpp", "examples/a.cpp", "ext/gc/examples/a.cpp")),
     seam(user="#include <hocket/core/seam/a.hpp>\n"), seam(layer="core"), seam(user="a one;\n"),
     seam("struct a {};\nvoid b();\n", rows=SEAM_ROW.replace("`a`", "`a` `b`")),
     seam("struct a {};\n#define B 1\n", rows=SEAM_ROW.replace("`a`", "`B` `a`")),
     {**seam(), **seam_exception("a")}, {**seam(), **seam_exception("gone")},
     {**seam("struct a {};\nstruct b {};\n", rows=SEAM_ROW.replace("`a`", "`a` `b`")), **seam_exception("b", "")},
     seam(rows=""), seam(rows=SEAM_ROW + SEAM_ROW.replace("a.hpp", "gone.hpp")), seam(rows=SEAM_ROW.replace("`a`", "`a` `b`")),
     seam(rows=SEAM_ROW.replace("fiber", "context")), seam(rows=SEAM_ROW.replace("any thread", "")), many_seams(51)])
