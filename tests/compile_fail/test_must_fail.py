"""test_must_fail.py <compiler>: negative controls of must_fail.py. Each planted program gets what it deserves."""
import pathlib
import sys
import tempfile

sys.dont_write_bytecode = True
from must_fail import verdict  # noqa: E402

BAD = "#ifdef SHOULD_FAIL\nstatic_assert(sizeof(int) == 1, \"too wide\");\n#endif\n"

# What the verdict begins with (None: all is well) and the program that deserves it.
CASES = [
    (None, "// expect: too w.de\n" + BAD),
    ("it has no", BAD),
    ("it must compile", "// expect: too wide\nint n = ;\n" + BAD),
    ("it compiled", "// expect: too wide\nint n;\n"),
    ("it failed for another reason", "// expect: too narrow\n" + BAD),
    (None, "// expect: too wide\nstatic_assert(sizeof(std::size_t) > 1);\n" + BAD),
    (None, "// first: too wide\n" + BAD),
    ("it failed for another reason", "// first: narrow\n" + BAD + BAD.replace("wide", "narrow")),
    ("its message has more than 12 lines", "// first: too wide\n" + BAD * 5),
    ("it must compile", "// expect: too wide\n// alone\nstatic_assert(sizeof(std::size_t) > 1);\n" + BAD),
]


def main(compiler):
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "program.cpp"
        for begins, text in CASES:
            program.write_text(text)
            said = verdict(str(program), [compiler, "-std=c++20", "-include", "cstddef", "-fsyntax-only"])
            if said is not None and begins is None or begins and not (said or "").startswith(begins):
                sys.exit(f"expected `{begins}`, got `{said}` for:\n{text}")


main(sys.argv[1])
