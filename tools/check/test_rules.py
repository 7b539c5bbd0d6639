"""Negative controls: each rule must report its planted faults, and pass its clean samples.

Run by ctest as house.rules, or by hand: python3 tools/check/test_rules.py. A rule without samples fails.
"""
import pathlib
import platform
import shutil
import sys
import tempfile
import unittest
import unittest.mock

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from check import planted_seams, runner, size  # noqa: E402 (the path comes first)
from check.planted import EXTENSION, LAYERS, ONCE, PARTS, header, page, parts, public, row, source  # noqa: E402
from check.tools import Unavailable  # noqa: E402
from check.tree import Tree  # noqa: E402

HEAVY = ("algorithm", "filesystem", "future", "ranges", "regex")
STYLE = (runner.ROOT / ".clang-format").read_text()
ALLOWED, INTERFACE = "tools/check/allowed.txt", "docs/decisions/054-interface-for-extensions.md"
CTAGS = {".ctags.d/hocket.ctags": (runner.ROOT / ".ctags.d/hocket.ctags").read_text()}
OPENED, CLOSED = "namespace hocket { inline namespace HOCKET_ABI {", "}}  // namespace hocket\n"


def sources(*texts):
    return [source(text) for text in texts]


def long_function(lines):
    return "void f() {\n" + "  g();\n" * (lines - 2) + "}\n"


def extension(text, space="gc", path="gc/include/hocket/gc/a.hpp"):
    """A header of an extension, with names in a namespace below hocket."""
    return {f"ext/{path}": ONCE + f"namespace hocket {{ inline namespace HOCKET_ABI {{ namespace {space} {{\n{text}}}}}}}\n"}


def indexed(text, b=None, **pages):
    """An index with this text, pages beside it, and b.md at the top of the tree."""
    above = {} if b is None else {"b.md": b}
    return {"docs/README.md": text + "\n", **above, **{f"docs/{name}.md": page_text for name, page_text in pages.items()}}


def errors(*rows):
    """One error in the source, and the page with these rows."""
    return {"include/hocket/base/error.hpp": "enum class errc {\n  full = 1,  // no room\n};\n", "docs/waits.md": "".join(rows),
            "src/base/error.cpp": 'case errc::full: return "the queue is full";\n'
                                  "case errc::full: return std::errc::resource_unavailable_try_again;\n"}


def knot(layer, nouns):
    """Headers without a cycle of files: each source includes the header of the next noun."""
    files = {}
    for i in range(nouns):
        files |= header(layer, "", f"n{i}")
        files[f"src/{layer}/n{i}.cpp"] = f"#include <hocket/{layer}/n{(i + 1) % nouns}.hpp>\n"
    return files


PROGRAMS = {"dev": "#!/usr/bin/env python3\n", ".ci/run": "#!/usr/bin/env bash\n"}
RELATIVE = "src/core/a.cpp\trelative\t3"
CONCEPT = "template <class T>\nconcept a = true;\n"
ORDER = "// ORDER: release, pairs with the load in take()\n"

# Rule -> (clean samples, planted violations); a sample is a tree: path -> text.
SAMPLES = {
    "layers": (
        [{"layers.txt": LAYERS, **header("fiber", "#include <hocket/core/a.hpp>\n"), **header("core", "")},
         {"layers.txt": LAYERS, "src/core/CMakeLists.txt": "hocket_layer(core SOURCES a.cpp\n  DEPENDS base)\n"},
         {"layers.txt": LAYERS, **source('#include "core/b.hpp"\n'), "src/core/b.hpp": ""},
         {"layers.txt": LAYERS, **header("core", "// #include <hocket/fiber/a.hpp>\n")},
         {"layers.txt": LAYERS, **header("core", ""), "ext/gc/src/a.cpp": "#include <hocket/core/a.hpp>\n"},
         {**parts(), **source("#include <hocket/core/a.hpp>\n#include <hocket/core/low/detail/a.hpp>\n", "core/high")},
         {**parts(), **source('#include "core/low/b.hpp"\n', "core/high"), "src/core/low/b.hpp": ""},
         {**parts(), **source("#include <hocket/core/b.hpp>\n#include <hocket/core/high/detail/a.hpp>\n", "fiber")},
         {**parts(), "src/core/CMakeLists.txt": "hocket_layer(core INTERFACE DEPENDS base core_low core_high)\n",
          "src/core/high/CMakeLists.txt": "hocket_layer(core_high PART_OF core SOURCES a.cpp\n  DEPENDS base core_low)\n"}],
        [{"layers.txt": LAYERS, **header("core", "#include <hocket/fiber/a.hpp>\n"), **header("fiber", "")},
         {"layers.txt": LAYERS, **header("core", "#include <hocket/context/gone.hpp>\n")},
         {"layers.txt": LAYERS, **header("net", "")},
         {"layers.txt": "core: base\nbase:\n"},
         {"layers.txt": LAYERS, "src/core/CMakeLists.txt": "hocket_layer(core SOURCES a.cpp)\n"},
         {"layers.txt": LAYERS, "src/core/CMakeLists.txt": "hocket_layer(core DEPENDS base context)\n"},
         {"layers.txt": LAYERS, **source("#include <base/b.hpp>\n"), "src/base/b.hpp": ""},
         {"layers.txt": LAYERS, **header("core", "#include <hocket/gc/a.hpp>\n"), **EXTENSION},
         {"layers.txt": LAYERS, **source('#include "gc/a.hpp"\n'), "ext/gc/include/gc/a.hpp": ONCE},
         {"layers.txt": LAYERS, "ext/gc/src/a.cpp": "#include <core/b.hpp>\n", "src/core/b.hpp": ""},
         *({**parts(), **source(f"#include <hocket/core/{name}.hpp>\n", "core/low")} for name in ("b", "high/detail/a")),
         {**parts(), **source('#include "core/high/b.hpp"\n', "core/low"), "src/core/high/b.hpp": ""},
         {**parts(), **source('#include "core/low/b.hpp"\n', "fiber"), "src/core/low/b.hpp": ""},
         {**parts(), **source("#include <hocket/core/high/detail/gone.hpp>\n", "core/low")},
         {**parts(), **header("core", "", "c")}, {**parts(), **source("")}, {**parts(), **header("core/middle", "")},
         {**parts(), "layers.txt": PARTS.replace("b.hpp", "b.hpp a.hpp")}, {**parts(), "layers.txt": PARTS.replace("b.hpp", "gone.hpp")},
         {**parts(), "layers.txt": "base:\ncore/low: base | a.hpp b.hpp\ncore: base\ncore/high: base\n"},
         {**parts(), "src/core/CMakeLists.txt": "hocket_layer(core INTERFACE DEPENDS base core_low)\n"},
         {**parts(), "src/core/low/CMakeLists.txt": "hocket_layer(core_low PART_OF core DEPENDS base core_high)\n"},
         {"layers.txt": LAYERS, "include/hocket/stackless.hpp": "#include <hocket/core/a.hpp>\n",
          **header("core", "#include <hocket/context/b.hpp>\n"), **header("context", "", "b")}]),
    "cycles": (
        [{**header("base", "#include <hocket/base/b.hpp>\n"), **header("base", "", "b")},
         {**knot("core", 3), **row("knots.tsv", "core\tknot 1\t3")}],
        [{**header("base", "#include <hocket/base/b.hpp>\n"),
          **header("base", "#include <hocket/base/a.hpp>\n", "b")},
         *({f"ext/{folder}/include/hocket/gc/{name}.hpp": f"#include <hocket/gc/{'ba'[name == 'b']}.hpp>\n" for name in "ab"}
           for folder in ("gc", "gc/boehm")),
         {**EXTENSION, "ext/gc/include/hocket/gc/b.hpp": "", "ext/gc/src/b.cpp": "#include <hocket/gc/a.hpp>\n",
          "ext/gc/src/a.cpp": "#include <hocket/gc/b.hpp>\n"},
         knot("core", 2), {**knot("core", 3), **row("knots.tsv", "core\tknot 1\t2")},
         {**knot("core", 2), **row("knots.tsv", "core\tknot 1\t3")},
         {**knot("core", 2), **knot("base", 2), **row("knots.tsv", "core\tknot 1\t2")}]),
    "namespaces": (
        sources(f"{OPENED}\nint n;\n{CLOSED}", f"{OPENED} namespace a {{\n}}  // namespace a\n{CLOSED}",
                OPENED + " namespace a::b { namespace {\n}  // namespace\n\n}}}  // namespace hocket::a::b\n",
                "namespace h = hocket::detail;\nusing namespace hocket;\n", "// namespace hocket::inline HOCKET_ABI {\n",
                "namespace hocket_test {\n}\n"),
        sources("namespace hocket::inline HOCKET_ABI {\n}\n", "namespace hocket {\nint n;\n}\n", "namespace hocket::detail {\n}\n",
                "namespace hocket {\ninline namespace HOCKET_ABI {\n}}  // namespace hocket\n",
                "namespace a { inline namespace b {\n}}\n", OPENED + " namespace a {\n}}}  // namespace hocket\n",
                OPENED + "\n}\n}\n", OPENED + "\n}}\n", OPENED + "\nint n;\n",
                OPENED + " namespace a {\n}  // namespace a\n", OPENED + "\nvoid f() {\n" + CLOSED)),
    "names": (
        [*sources("int is_one, one_more, told_by_name;  // one of what\nauto text = \"one\";\n",
                  "void f() { a.keep(1); go(); b->tell(); return look(x) + note::come(2); }\n",
                  "void f() { (*go)(1); f((*go)(2), a(*tell)(3)); return (*look)(4); auto go = h<int>; }\n",
                  "void f() {\n  try { g(); } catch (const std::exception& error) { print(error.what()); }\n}\n",
                  "struct a : std::exception {\n  const char* what() const noexcept override { return \"a\"; }\n};\n",
                  "const char* n::a::what() const noexcept {\n  return n;\n}\n"),
         {**source("bool keep_alive(int fd);\n"), "tools/check/field_words.txt": "keep_alive | TCP\n"},
         {"tools/a.py": '"""What one is told."""\nfound = [item for item in "one"]\nlist.keep()\n'},
         {**source("int one, told;\n"), **row("names.tsv", "src/core/a.cpp\t2")}],
        [*sources("int one;\n", "struct a { int told_; };\n", "use(a.what());\n", "const char* what();\n",
                  "struct a {\n  std::string what() const noexcept;\n};\n", "bool keep_alive(int fd);\n",
                  "template <class T>\nstd::vector<T> go_on(T a) {\n}\n", "int& a::look() {\n}\n",
                  "struct a {\n public:\n  [[nodiscard]] bool stay() const;\n};\n", "auto tell_all = [] {};\n",
                  "void (*stand)(int);\n", "void f(int n, const t* (*tell_all)(int));\n", "int (a::*look)() = &a::b;\n",
                  "std::function<void()> go;\n", "void f(const std::function<void(a<int>)>& want);\n",
                  "struct a {\n  detail::inline_function<int(int)> keep_all = nullptr;\n};\n"),
         *({"tools/a.py": text} for text in (
             "import how\n", "import a.left\n", "from x import left\n", "from how import x\n", "from x import left as a\n",
             "def f(a):\n    match a:\n        case what:\n            pass\n",
             "def f(a):\n    match a:\n        case [1, *what]:\n            pass\n",
             "def f(a):\n    match a:\n        case {1: 2, **what}:\n            pass\n",
             "def f(a):\n    match a:\n        case g(what=1):\n            pass\n",
             "def f():\n    global here\n", "def f(a):\n    def g():\n        nonlocal here\n")),
         {"tools/a.py": "def f(wanted): pass\n"}, {"tools/a.py": "def _look(): pass\n"},
         {"dev": PROGRAMS["dev"] + "here = 1\n"},
         *({**source(text), **row("names.tsv", "src/core/a.cpp\t2")} for text in ("int one, told, gone;\n", "int one;\n", ""))]),
    "prose": (
        [*sources("// The one who waits.\n", 'auto text = "who, who, whom";\n',
                  "// who\n" + "// a lock is held by the owner of a word\n" * 140 + "// those\n// whom\n"),
         {"docs/a.md": "`who` who\n\n    who whom\n\n```\nwho\n```\n"},
         {"a.go": "s := `// who, who`\n", "a.rs": "let s = r#\"a\" // who, who\"#;\n", "a.java": 's = """\n  "// who, who""";\n',
          "a.js": "s = '// who, who';\n", "a.mutant": "why: it waits\n--- find\nwhy: who, whom\n", "a.css": "a: //who who\n"},
         {"docs/decisions/001-a.md": "who whom whose\n"}, {"tools/a.py": 'text = "who who"\n'},
         {**source("// who, who, whom\n"), **row("prose.tsv", RELATIVE)}],
        [*sources("// The one who waits for those.\n", "/* nobody and\n   somebody */\n", "// what\n// is, what has\n",
                  "// comes, came\n", "// told, tells\n", "// stand, stood\n", "// goes on and goes on\n", "// one that; one that\n"),
         {"docs/a.md": "Who and whom.\n"}, {"docs/decisions/099-a.md": "who whom whose\n"},
         *({f"a.{ending}": "f('a', \"b\") // who\n/* whom */\n"} for ending in ("go", "rs", "java", "js", "S")),
         {"a.rs": "fn f<'a>(s: &'a str) {}  // who, whom, it's\n"}, {"a.css": "/* who, whom */\n"},
         *({f"a.{ending}": "a: 1  # who, whom\n"} for ending in ("yml", "yaml", "toml")),
         {"tests/mutants/a.mutant": "target: b\nwhy: who and whom\nfile: src/a.cpp\n--- find\na\n--- replace\nb\n"},
         {"tools/a.py": '"""Who."""\n\n\ndef f():\n    """Whom."""  # whose\n'}, {"src/CMakeLists.txt": "# who\n# whom\n"},
         *({**source(text), **row("prose.tsv", RELATIVE)}
           for text in ("// who, who, whom, those\n", "// who, who, whom, told, told\n", "// who, whom\n"))]),
    "ctags": (
        [{**CTAGS, **source(OPENED + "\ntemplate <class T>\nconcept a = true;\nstruct b {};\n" + CLOSED)},
         source('#include "b.hpp"\n'), {**source(CONCEPT), "tools/check/unread.txt": "src/core/a.cpp | a | a test\n"}],
        [source("namespace hocket::inline HOCKET_ABI {\nstruct a {};\n}\n"), source(CONCEPT),
         {**source("struct a {};\n"), "tools/check/unread.txt": "src/core/a.cpp | a | a test\n"},
         *({**source(""), ".ctags.d/hocket.ctags": option} for option in ("--nonsense\n", "--regex-C++=/(/\\1/C/\n"))]),
    "restricted": (
        [source("// h.resume() is a worker's business\nauto text = \"thread_local asm\";\n"),
         {**source("h.resume();\n"), ALLOWED: "src/core/a.cpp | resume | the worker loop\n"},
         {"src/context/x86_64/a.S": "ret\n", ALLOWED: "src/context/x86_64/* | asm | the switch\n"},
         {"tests/unit/core/a_test.cpp": "h.resume();\n"}],
        [source("h.resume();\n"), source("h->destroy();\n"), source("auto h = handle<>::from_address(p);\n"),
         source('void f() { asm volatile(""); }\n'), {"src/core/a.S": "ret\n"}, source("thread_local int n;\n"),
         source("#ifdef FAST\n#endif\n"), source("int n = __GNUC__;\n"), source("std::atomic<int> n;\n"),
         source('void f() { std::printf("x"); }\n'),
         {**source("h.resume();\n"), ALLOWED: "src/core/a.cpp | asm | another word\n"},
         {**source(""), ALLOWED: "src/core/a.cpp | resume | no longer true\n"},
         {**source("h.resume();\n"), ALLOWED: "src/core/a.cpp | resume |\n"}]),
    "size": (
        [source("int n;\n" * size.FILE_LINES), source(long_function(size.FUNCTION_LINES)),
         source("namespace a {\n" + "int n;\n" * 99 + "}\n"), source("struct a {\n" + "void f() {}\n" * 99 + "};\n"),
         {**source(long_function(61)), "tools/check/long.txt": "src/core/a.cpp | f() | a table\n"}],
        [source("int n;\n" * (size.FILE_LINES + 1)), source(long_function(size.FUNCTION_LINES + 1)),
         source("struct a {\n  " + long_function(61) + "};\n"), {"tools/a.py": "def f():\n" + "    g()\n" * 60},
         source("a::a(int n) noexcept : n_(n) {\n" + "  g();\n" * 60 + "}\n"),
         {**source(""), "tools/check/long.txt": "src/core/a.cpp | f() | it is gone\n"}]),
    "orderings": (
        [source(ORDER + "n.store(1, std::memory_order_release);\n"),
         source("n.load(std::memory_order_acquire);  " + ORDER),
         source("// ORDER: relaxed, a counter that nobody reads\nn.fetch_add(1, std::memory_order_relaxed);\n"),
         source("// ORDER: seq_cst, forbids the load before the store\nfence(std::memory_order_seq_cst);\n"),
         source("// ORDER: release, pairs with\n// the load in take()\nn.store(1, std::memory_order_release);\n"),
         source("auto a = list.load(file);\n")],
        [source("n.store(1, std::memory_order_release);\n"), source("n.fetch_add(1);\n"),
         source("n.compare_exchange_strong(a, b);\n"),
         source("// ORDER: release\nn.store(1, std::memory_order_release);\n"),
         source("// ORDER: seq_cst, pairs with f()\nn.store(1, std::memory_order_seq_cst);\n"),
         source("// ORDER: acquire, pairs with f()\nfence(std::memory_order_acquire);\n"),
         source(ORDER + "\n" * 4 + "n.store(1, std::memory_order_release);\n"),
         source("n.exchange(\n  1,\n  std::memory_order::acq_rel);\n")]),
    "public_includes": (
        [header("base", "#include <chrono>\n"), {"src/base/a.cpp": "#include <functional>\n"}],
        [header("base", "#include <iostream>\n"), header("base", "#include <functional>\n"),
         {"include/hocket/base/a.hpp": "int n;\n"}, {**header("base", "#include <base/b.hpp>\n"), "src/base/b.hpp": ""},
         {**header("base", '#include "b.hpp"\n'), **header("base", "", "b")},
         {**header("base", "#include <hocket/gc/a.hpp>\n"), **EXTENSION}]),
    "doors": (
        [{**public("// A.\nstruct a {};\n"), **page(("core/a.hpp", "a"))},
         {**public("// Gives one.\ndetail::of f(int n);\nstruct later;\n"), **page(("core/a.hpp", "f"))},
         {**public("struct a {};\n", "detail"), **page(("core/a.hpp",))},
         {**public("struct a {};\n", "detail", "core/detail/a.hpp")},
         {**public("// A.\nstruct a {};\n", "", "core/detail/a.hpp"), **public("struct b {};\n", "detail"),
          **page(("core/a.hpp", "a"))},
         {**extension("// A.\nstruct a {};\n"), **page(("gc/a.hpp", "gc::a"))},
         {**extension("// A.\nstruct a {};\n", "gc::of", "gc/of/include/hocket/gc/of.hpp"), **page(("gc/of.hpp", "gc::of::a"))},
         extension("struct a {};\n", "gc::detail", "gc/include/hocket/gc/detail/a.hpp")],
        [public("// A.\nstruct a {};\n"), {**public("// A.\nstruct a {};\n"), **page(("core/a.hpp",))},
         {**public("struct a {};\n"), **page(("core/a.hpp", "a"))},
         {**public("// A.\nstruct a {};\n"), **page(("core/a.hpp", "a", "gone"))}, page(("core/gone.hpp",)),
         {**public("// Gives one.\ndetail::f_adaptor f(int n);\n"), **page(("core/a.hpp",))},
         public("// A.\nstruct a {};\n", "", "core/detail/a.hpp"),
         extension("// A.\nstruct a {};\n"), {**extension("// A.\nstruct a {};\n"), **page(("gc/a.hpp",))},
         {**extension("struct a {};\n"), **page(("gc/a.hpp", "gc::a"))},
         {**extension("// A.\nstruct a {};\n"), **page(("gc/a.hpp", "gc::a", "gc::gone"))},
         extension("// A.\nstruct a {};\n", "gc", "gc/include/hocket/gc/detail/a.hpp"),
         {**public("".join(f"// N.\nstruct a{n} {{}};\n" for n in range(11)), "primitive"),
          **page(("core/a.hpp", *(f"primitive::a{n}" for n in range(11))))}]),
    "seams": planted_seams.SAMPLES,
    "collisions": (
        [page(("core/a.hpp", "channel"))],
        [page(("core/a.hpp", "clock")), page(("core/a.hpp", "errno"))]),
    "debugger": (
        [{"docs/a.md": "`hocket-bt` in gdb\n", "tools/gdb/hocket.py": 'super().__init__("hocket-bt", 1)\n'},
         {"docs/a.md": "pkg-config `hocket-gc`\n"}],
        [{"docs/a.md": "`hocket tree` in gdb\n", "tools/gdb/hocket.py": 'super().__init__("hocket-bt", 1)\n'},
         {"docs/a.md": "gdb: `hocket-tree 3`\n"}]),
    "workplace": (
        [source("// see docs/a.md and build/lab/report.json\n"), source('auto p = "/usr/include";\n')],
        [source("// see /home" + "/jo/notes\n"), source("// https://reg" + "istry.example.org/x\n"),
         {"README.md": "written by a sub" + "agent\n"}, {"tools/a.py": "open('/tm" + "p/x')\n"}]),
    "links": (
        [indexed("[a](a.md#the-lock-and-its-owner) [b](../b.md)", a="# The `lock`, and its owner\n", b="[a](docs/a.md)\n"),
         indexed("[a](a.md#a-1)", a="# A\n## A\n"), indexed("[c](#c)\n\n## C\n[d](decisions)\n", **{"decisions/README": ""}),
         indexed("[a]\n\n[a]: a.md\n", a=""), indexed('[a](a.md "A page")', a='<a id="x"></a>\n[x](#x)\n'),
         indexed("`[](auto x)`\n\n```\n[a](gone.md)\n```\n\n    [](gone.md)\n[b](https://example.org/gone)\n"),
         {**indexed("[s](../src) [a](../src/core/a.cpp#L3)"), **source(""), "tests/README.md": "[s](../src/core/)\n"}],
        [*(indexed(text, a="# A\n") for text in ("", "[a](a.md) [b](b.md)", "[a](a.md#b)", "[a](a.md) [b](#b)", "[a](/docs/a.md)",
                                                "[a]\n\n[a]: a.md#b\n", "`[a](a.md)`")),
         {"docs/a.md": ""}, indexed("", b=""), indexed("[d](decisions)", **{"decisions/001-a": ""}),
         {**indexed(""), "tests/README.md": "text\n[s](gone.py)\n"}]),
    "errors": (
        [errors("| `errc::full` | `resource_unavailable_try_again` | the queue is full | a try |\n")],
        [errors(row) for row in (
            "", "| `errc::full` | `timed_out` | the queue is full | |\n",
            "| `errc::full` | `resource_unavailable_try_again` | it is full | |\n",
            "| `errc::full` | `resource_unavailable_try_again` | the queue is full | |\n| `errc::gone` | `io_error` | gone | |\n")]),
    "extension_interface": (
        [{INTERFACE: "| `core/a.hpp` | `a` | `f` |\n", **header("core", "class [[nodiscard]] a final : b {\n};\nint f(int n);\n"),
          "src/fiber/a.cpp": "int exit_hook, gcd;\n", "src/io/a.cpp": "// as ext/hook does\n"}],
        [{INTERFACE: "| `core/gone.hpp` | | `f` |\n"}, {"src/fiber/a.cpp": "void* hook;\n"},
         *({INTERFACE: f"| `core/a.hpp` | {types} | {functions} |\n", **header("core", "struct a {};\nvoid b();\nclass c;\nint g(f);\n")}
           for types, functions in (("`c`", ""), ("`a` `a`", ""), ("", "`f`"), (13 * "`a`", ""), ("", 21 * "`b`")))]),
    "sleeps": (
        [{"tests/unit/core/a_test.cpp": "// no sleep_for here\nlp.run_for(1s);\n"}, source("usleep(1);\n"),
         {"tests/a.cpp": 'TEST_CASE("x" * doctest::skip(!debug_checks)) {}\n'},
         {"tests/a.cpp": "usleep(1);\n", "tools/check/sleeping.txt": "tests/a.cpp | tests usleep itself\n"}],
        [{"tests/unit/core/a_test.cpp": "std::this_thread::sleep_for(1ms);\n"}, {"tests/a.cpp": "::usleep(1);\n"},
         {"tests/a.py": "time.sleep(1)\n"}, {"tests/a.cpp": 'TEST_CASE("x" * doctest::skip()) {}\n'}]),
    "executables": (
        [PROGRAMS],
        [{"dev": PROGRAMS["dev"]}, {**PROGRAMS, "dev": "echo\n"}]),
    "formatting": (
        [{".clang-format": STYLE, **source("int f() { return 1; }\n")}],
        [{".clang-format": STYLE, **source("int  f( ) {return 1;}\n")}]),
    "spelling": (
        [source("// the value is received\n"),
         {**source("// recie" + "ve\n"), "tools/check/words.txt": "recie" + "ve\n"}],
        [source("// the value is recie" + "ved\n")]),
    "headers": (
        [header("base", "#include <cstddef>\ninline std::size_t f() { return 1; }\n")],
        [header("base", "inline std::size_t f() { return 1; }\n"), {"include/hocket/base/a.hpp": "struct a {};\n"},
         header("base", "inline int f(long n) { return n; }\n"),
         header("base", "#include <typeinfo>\ninline auto& f() { return typeid(int); }\n"),
         header("base", f"{OPENED}\n{CLOSED}")]),
    "options": (  # more of these: test_options.py
        [public("struct plan { int n; };\nstatic_assert(detail::owns_nothing<plan>);\nvoid run(const plan& with);\n")],
        [public("struct plan { std::string text; };\nvoid run(const plan& with);\n"),
         public("task<> run(std::string_view text) { co_return; }\n")]),
    "lazy_views": (
        [{"examples/a.cpp": "task<> ask(std::string text) { co_return; }\n"}],
        [{"examples/a.cpp": "task<> ask(std::string_view text) { co_return; }\n"}]),
    "weight": (
        [header("base", "#include <cstddef>\n")],
        [header("base", "".join(f"#include <{name}>\n" for name in HEAVY))]),
}


AARCH64 = "include/hocket/context/aarch64/a.hpp"


def assembly_of_aarch64(register):
    return {AARCH64: ONCE + f'inline void f() {{ asm volatile("" ::: "{register}"); }}\n'}


def findings(name, sample):
    with tempfile.TemporaryDirectory() as folder:
        tree = Tree.planted(folder, sample)
        for path in sample.keys() & PROGRAMS.keys():
            (tree.root / path).chmod(0o755)
        return runner.rule(name).check(tree)


class Rules(unittest.TestCase):
    def test_every_rule_has_both_kinds_of_samples(self):
        self.assertEqual(set(runner.RULES), set(SAMPLES))
        for clean, planted in SAMPLES.values():
            self.assertTrue(clean and planted)

    def test_every_rule_explains_itself(self):
        for name in runner.RULES:
            self.assertTrue(runner.rule(name).__doc__, name)

    @unittest.skipUnless(platform.machine() == "aarch64" or shutil.which("aarch64-linux-gnu-g++"),
                         "aarch64-linux-gnu-g++ is not installed")
    def test_headers_of_another_architecture(self):
        self.assertEqual(findings("headers", assembly_of_aarch64("x0")), [])
        self.assertTrue(findings("headers", assembly_of_aarch64("rax")))

    def test_headers_names_what_it_cannot_compile(self):
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch("shutil.which", lambda name: name == "g++"):
            tree = Tree.planted(folder, assembly_of_aarch64("x0"))
            self.assertEqual(runner.rule("headers").left_out(tree), [f"{AARCH64}: aarch64-linux-gnu-g++ is not installed"])

    @unittest.skipUnless(shutil.which("ctags"), "ctags is not installed")
    def test_a_broken_option_of_ctags_is_found_in_its_file_and_another_ctags_is_left_out(self):
        sample = {**source("int f() { return 1; }\n"), ".ctags.d/hocket.ctags": "--nonsense\n"}
        self.assertEqual(findings("ctags", sample), [(".ctags.d/hocket.ctags", 0, "ctags: Unknown option: --nonsense")])
        with unittest.mock.patch("check.ctags.output", lambda command: (0, "Exuberant Ctags 5.8")):
            self.assertRaises(Unavailable, findings, "ctags", sample)

    def check_samples(self, name):
        clean, planted = SAMPLES[name]
        for sample in clean:
            self.assertEqual(findings(name, sample), [], sample)
        for sample in planted:
            self.assertTrue(findings(name, sample), f"nothing was found in {sample}")


def add_test(name):
    def test(self):
        try:
            self.check_samples(name)
        except Unavailable as reason:
            self.skipTest(str(reason))
    setattr(Rules, f"test_{name}", test)


for rule_name in runner.RULES:
    add_test(rule_name)

if __name__ == "__main__":
    unittest.main()
