"""blocks.py finds the functions and classes of C++ as our sources write them."""
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from check import blocks  # noqa: E402 (the path comes first)

SAMPLES = {
    "a function outside its class": ("namespace a::inline HOCKET_ABI::b {\nvoid c::d() noexcept { if (x) { y(); } }\n}",
                                     [("function", "a::b::c::d")]),
    "an inline namespace inside": ("namespace a { inline namespace HOCKET_ABI { void f() {} } }", [("function", "a::f")]),
    "classes in classes": ("struct a { class b final : public c<int> { int d() const { return 1; } }; void e() {} };",
                           [("function", "a::b::d"), ("class", "a::b"), ("function", "a::e"), ("class", "a")]),
    "a class of templates": ("template <class T>\n  requires(!is<T>)\nclass a<T> {\n public:\n  template <class U> void f(U u) {}\n};",
                             [("function", "a::f"), ("class", "a")]),
    "a constructor and its initializers": ("a::a(int n) : b_{n}, c_(n), d_{[] { return 1; }()} { e(); }\nint f() { return 1; }",
                                           [("function", "a::a"), ("function", "f")]),
    "default arguments with braces": ("struct a { explicit a(options o = {}) noexcept : b_(o) {} int c_{0}; };",
                                      [("function", "a::a"), ("variable", "a::c_"), ("class", "a")]),
    "operators": ("a::operator bool() const { return true; }\nbool operator<(a x, a y) { return f(x); }\n"
                  "void a::operator()(int n) {}\na& a::operator=(a&& b)\n  requires(c)\n{}",
                  [("function", "a::operatorbool"), ("function", "operator<"), ("function", "a::operator()"),
                   ("function", "a::operator=")]),
    "a body that is a try block": ("void f() try {\n  g();\n} catch (...) {\n  h();\n}\nvoid k() {}",
                                   [("function", "f"), ("function", "k")]),
    "a result type behind the parameters": ("auto f(int n) -> task<int> { co_return n; }", [("function", "f")]),
    "a concept, an enumeration, a lambda": ("template <class T> concept a = requires(T t) { t.b(); };\nenum class c : int { d };\n"
                                            "constexpr auto e = [](int n) { return n; };",
                                            [("variable", "a"), ("class", "c"), ("variable", "e")]),
    "comments, strings and directives": ("// void a() {\n#define B {\nconst char* c() { return \"}\"; }\n", [("function", "c")]),
}


class Blocks(unittest.TestCase):
    def test_kinds_and_names(self):
        for title, (text, expected) in SAMPLES.items():
            with self.subTest(title):
                self.assertEqual(expected, [(block.kind, "::".join(block.name)) for block in blocks.blocks(text)])

    def test_a_block_reaches_from_its_first_word_to_its_last_brace(self):
        text = "// a\nint b() { return 1; }\n\nvoid c() try {\n} catch (...) {\n}\n"
        b, c = blocks.blocks(text)
        self.assertEqual("int b() { return 1; }", text[b.begin:b.end])
        self.assertEqual("void c() try {\n} catch (...) {\n}", text[c.begin:c.end])


if __name__ == "__main__":
    unittest.main()
