"""Planted faults for the rules `options` and `lazy_views`, and for the outline of declarations that they read.

Run by ctest as house.options, or by hand: python3 tools/check/test_options.py.
"""
import pathlib
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from check import lazy_views, options, outline  # noqa: E402 (the path comes first)
from check.tree import Tree  # noqa: E402

HEADER, SOURCE = "include/hocket/io/a.hpp", "src/io/a.cpp"
ASSERTED = "static_assert(detail::owns_nothing<plan>);\n"
PLAN = "struct plan {\n  std::string_view text{};\n  bool twice = false;\n};\n"
RUN = "class runner {\n public:\n  %s\n};\n"


def spaced(text, space=""):
    opened, closed = (f" namespace {space} {{", "}") if space else ("", "")
    return f"namespace hocket {{ inline namespace HOCKET_ABI {{{opened}\n{text}{closed}}}}}\n"


def tree(header, source="", space=""):
    texts = {HEADER: spaced(header, space)}
    return Tree(".", {**texts, SOURCE: spaced(source)} if source else texts)


def found(rule, *arguments, **named):
    return [finding.text.split()[0] for finding in rule.check(tree(*arguments, **named))]


class Outline(unittest.TestCase):
    def names(self, code):
        return [(outline.type_of(each) or outline.function_of(each) or ("other", ""))[1]
                for each in outline.declarations(code)]

    def test_types_and_functions_are_found_at_all_depths(self):
        code = "namespace a {\nclass b {\n public:\n  struct c { int d; };\n  task<> e(int f);\n};\n}\n"
        self.assertEqual(self.names(code), ["b", "c", "", "e"])

    def test_access_is_of_all_classes_around(self):
        code = "class a {\n  struct b { int c; };\n public:\n  struct d { int e; };\n};\n"
        hidden = [outline.type_of(each)[1] for each in outline.declarations(code)
                  if outline.type_of(each) and not each.public]
        self.assertEqual(hidden, ["b"])

    def test_attributes_templates_and_constraints_are_passed_over(self):
        code = "template <class T>\n  requires(!is_task<T>)\n[[nodiscard]] task<int> f(std::span<T, 3> g, int h = {});\n"
        before, name, parameters = outline.function_of(next(iter(outline.declarations(code))))
        self.assertEqual((before.strip(), name, parameters), ("task<int>", "f", ["std::span<T, 3> g", "int h = {}"]))

    def test_a_lambda_that_waits_makes_no_coroutine_of_its_function(self):
        self.assertFalse(outline.is_coroutine("auto f = [&](int n) -> task<> { co_await g(n); }; return f(1);"))
        self.assertTrue(outline.is_coroutine("auto f = [] { return 1; }; co_return f();"))


class Aggregates(unittest.TestCase):
    def test_an_aggregate_that_a_call_takes_is_asserted(self):
        for parameter in ("const plan& with = {}", "plan with", "plan&& with", "plan const& with"):
            self.assertEqual(found(options, PLAN + RUN % f"void run({parameter});"), ["plan"], parameter)
            self.assertEqual(found(options, PLAN + ASSERTED + RUN % f"void run({parameter});"), [])

    def test_a_constructor_a_free_function_and_a_template_take_it_too(self):
        for call in (RUN % "explicit runner(const plan& with = {});", "int run(int n, const plan& with);\n",
                     "template <class F>\nauto run(F&& f, const plan& with = {}) { return f(with); }\n"):
            self.assertEqual(found(options, PLAN + call), ["plan"], call)

    def test_pointers_and_variables_of_the_caller_are_no_temporaries(self):
        for parameter in ("plan* with", "const plan* with", "plan& with"):
            self.assertEqual(found(options, PLAN + RUN % f"void run({parameter});"), [], parameter)

    def test_a_type_with_constructors_or_private_members_is_no_aggregate(self):
        call = RUN % "void run(const plan& with);"
        self.assertEqual(found(options, "struct plan {\n  plan(int n);\n  int n;\n};\n" + call), [])
        self.assertEqual(found(options, "struct plan {\n private:\n  int n;\n};\n" + call), [])

    def test_private_functions_and_details_are_free(self):
        hidden = "class runner {\n  void run(const plan& with);\n};\n"
        self.assertEqual(found(options, PLAN + hidden), [])
        self.assertEqual(found(options, PLAN + RUN % "void run(const plan& with);", space="detail"), [])

    def test_extensions_count(self):
        texts = {"ext/pg/include/hocket/pg/a.hpp": spaced(PLAN + RUN % "void run(const plan& with);")}
        self.assertEqual(len(options.check(Tree(".", texts))), 1)

    def test_the_assertion_is_in_the_same_file(self):
        texts = {HEADER: spaced(PLAN + RUN % "void run(const plan& with);"), "include/hocket/io/b.hpp": spaced(ASSERTED)}
        self.assertEqual(len(options.check(Tree(".", texts))), 1)


class Tasks(unittest.TestCase):
    def test_a_lazy_coroutine_takes_no_view(self):
        for parameter in ("std::string_view text", "std::span<const int> all", "const std::string& text",
                          "text_list texts", "std::initializer_list<std::string_view> texts"):
            lazy = RUN % f"task<int> run({parameter}) {{ co_return 1; }}"
            self.assertEqual(found(options, lazy), ["run"], parameter)
            self.assertEqual(found(options, lazy.replace("co_return 1", "return run_text(copy(1))")), [])

    def test_its_body_may_be_in_a_source(self):
        header = RUN % "task<int> run(std::string_view text);"
        self.assertEqual(found(options, header, "task<int> runner::run(std::string_view text) { co_return 1; }\n"), ["run"])
        self.assertEqual(found(options, header, "task<int> runner::run(std::string_view text) { return of(text); }\n"), [])
        self.assertEqual(found(options, header, "task<int> other::run(std::string_view text) { co_return 1; }\n"), [])

    def test_a_free_function_too(self):
        self.assertEqual(found(options, "task<int> run(std::string_view text);\n",
                               "task<int> run(std::string_view text) { co_return 1; }\n"), ["run"])

    def test_nor_an_aggregate_by_reference_or_with_views(self):
        for parameter, expected in (("const plan& with", ["run"]), ("plan with", ["run"])):
            self.assertEqual(found(options, PLAN + ASSERTED + RUN % f"task<> run({parameter}) {{ co_return; }}"), expected)
        numbers = PLAN.replace("std::string_view text{}", "int count = 0")
        self.assertEqual(found(options, numbers + ASSERTED + RUN % "task<> run(plan with) { co_return; }"), [])

    def test_buffers_and_owners_are_free(self):
        for parameter in ("const_buffer bytes", "std::span<const mutable_buffer> into", "std::string text", "int n"):
            self.assertEqual(found(options, RUN % f"task<> run({parameter}) {{ co_return; }}"), [], parameter)

    def test_private_coroutines_take_what_they_like(self):
        self.assertEqual(found(options, "class a {\n  task<> run(std::string_view text) { co_return; }\n};\n"), [])


def snippet(code, above="<!-- compile: hocket/hocket.hpp -->"):
    return {"docs/a.md": f"Words.\n\n{above}\n```cpp\n{code}\n```\n"}


class Snippets(unittest.TestCase):
    def lines(self, texts):
        return [(finding.path, finding.line) for finding in lazy_views.check(Tree(".", texts))]

    def test_a_coroutine_of_a_document_takes_no_view(self):
        for parameter in ("std::string_view text", "const std::string& text", "std::span<int> all"):
            self.assertEqual(self.lines(snippet(f"int n;\ntask<> ask({parameter}) {{ co_return; }}")), [("docs/a.md", 6)])
        self.assertEqual(self.lines(snippet("task<> ask(std::string text) { co_return; }")), [])
        self.assertEqual(self.lines(snippet("task<> ask(std::span<const const_buffer> all) { co_return; }")), [])

    def test_a_lambda_and_a_declaration_count(self):
        self.assertEqual(len(self.lines(snippet("auto f = [&](std::string_view t) -> task<> { co_return; };"))), 1)
        self.assertEqual(len(self.lines(snippet("task<int> ask(tcp::stream& peer, std::string_view text);"))), 1)

    def test_plain_functions_and_comments_are_free(self):
        self.assertEqual(self.lines(snippet("int ask(std::string_view text) { return 1; }")), [])
        self.assertEqual(self.lines(snippet("task<> ask(std::string_view text) { return of(std::string(text)); }")), [])
        self.assertEqual(self.lines(snippet("// task<> ask(std::string_view text) { co_return; }")), [])

    def test_a_trap_shows_the_fault(self):
        above = "<!-- not compiled: it is the trap -->"
        self.assertEqual(self.lines(snippet("task<> ask(std::string_view text) { co_return; }", above)), [])

    def test_examples_and_comments_of_headers_count(self):
        code = "task<> ask(std::string_view text) { co_return; }\n"
        self.assertEqual(self.lines({"examples/a.cpp": code}), [("examples/a.cpp", 1)])
        self.assertEqual(self.lines({"ext/asio/examples/a.cpp": code}), [("ext/asio/examples/a.cpp", 1)])
        self.assertEqual(self.lines({HEADER: f"// Asks.\n//\n//   {code}"}), [(HEADER, 3)])
        self.assertEqual(self.lines({"tests/unit/io/a_test.cpp": code}), [])


if __name__ == "__main__":
    unittest.main()
