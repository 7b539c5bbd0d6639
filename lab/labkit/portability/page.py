"""Writes docs/portability.md from the results."""
import os
import platform

from .. import documents, machine
from .measures import REPEATS

NOT_HERE = "not here"


def table(head, rows):
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(str(cell).replace("|", "\\|") for cell in line) + " |" for line in lines)


def verdict(problem):
    return "right" if not problem else problem


def seconds(value):
    return "" if value is None else f"{value:.2f}"


def sizes(size):
    return [f"{number:,}" for number in size] if size else [""] * 3


def runs_on(compiler):
    return f"`{compiler.run[0]}`" if compiler.run else "itself"


def compilers_table(measured):
    rows = [[compiler.id, found["version"], compiler.target, compiler.bits, runs_on(compiler), found["date"]]
            for compiler, found in measured]
    return table(["", "version", "target", "bits", "run by", "measured"], rows)


def published_rows():
    """Document 000's own figures of its program (lab/documents/000.json)."""
    rows = {}
    document = next(document for document in documents.documents() if document.number == "000")
    for name in ("time", "size"):
        table_ = document.table(name)
        for row, cells in zip(table_.rows, table_.cells):
            for cell in cells:
                rows.setdefault(cell.system, {})[row["name"]] = cell.figure["value"]
    return [[f"{system} (000)", "right", seconds(row.get("real")), *sizes([row[name] for name in ("text", "data", "bss")]
             if "text" in row else None), "", ""] for system, row in rows.items()]


def control_table(measured):
    rows = []
    for compiler, found in measured:
        control = found["control"]
        frames = ["" if frame is None else frame for frame in control.get("frames", [None, None])]
        rows.append([compiler.id, verdict(control["problem"]), seconds(control.get("seconds")), *sizes(control.get("size")), *frames])
    return table(["", "prints", "seconds", "text", "data", "bss", "frame, -O0", "frame, -O2"], rows + published_rows())


def tests_of(found, kind):
    done = found.get("tests", {}).get(kind)
    return f"{done['verdict']} ({done['date']})" if done else "not run"


def hocket_table(measured):
    rows = [[compiler.id, verdict(found["hocket"]["problem"]), seconds(found["hocket"].get("seconds")),
             *sizes(found["hocket"].get("size")), tests_of(found, "stackless"), tests_of(found, "all")]
            for compiler, found in measured]
    return table(["", "fibonacci", "seconds", "text", "data", "bss", "tests without fibers", "all tests"], rows)


def patterns_table(measured):
    tried = [(compiler, found["patterns"]) for compiler, found in measured if found["patterns"] is not None]
    names = sorted({name for _, wrong in tried for name in wrong})
    rows = [[name, ", ".join(compiler.id for compiler, wrong in tried if name in wrong)] for name in names]
    clean = [compiler.id for compiler, wrong in tried if not wrong]
    text = table(["an await that is miscompiled at -O2", "by"], rows)
    return text + (f"\n\nNone is miscompiled by: {', '.join(clean)}." if clean else "")


def ir_table(rows):
    cells = []
    for row in rows:
        about = [row["compiler"], row["level"], row["target"]]
        if row["problem"]:
            cells.append([*about, row["problem"], "", "", "", "", ""])
            continue
        cells.append([*about, row["both"], row["only_one"], row["different_functions"], f"{row['different_lines']:,} of {row['lines']:,}",
                      f"{row['parts']}: " + " and ".join(map(str, row["part_blocks"])) + " blocks, "
                      + " and ".join(map(str, row["part_lines"])) + " instructions", row["part_different"]])
    return table(["compiler", "level", "x86_64 and", "functions of both", "of one alone", "that differ", "lines that differ",
                  "the coroutine: parts", "its lines that differ"], cells)


def cost_table(cost):
    rows = [[row["workload"], f"{row['plain']:.1f}", f"{row['portable']:.1f}", f"{row['ratio']:.2f}",
             f"{row['low']:.2f} to {row['high']:.2f}"] for row in cost["rows"]]
    return table(["a unit of", "plain, ns", "portable, ns", "ratio", "95 %"], rows)


def skipped_table(skipped):
    return table(["", "the command that brings it"], [[compiler.id, f"`{compiler.remedy()}`"] for compiler in skipped])


def about_wasm(measured):
    found = [found for compiler, found in measured if compiler.target == "wasm32"]
    if not found:
        return ""
    problem = found[0]["control"]["problem"]
    return ("\n## WebAssembly\n"
            + ("The generator and hocket's example run there.\n" if not problem and not found[0]["hocket"]["problem"] else
               "emscripten is tried with the generator and with hocket's example alone: the runtime needs futexes and epoll.\n"
               "Nothing is ported, so what its libraries lack is the result in the tables above.\n"))


def render(measured, skipped, ir, cost, date):
    """measured: pairs of a compiler and its results."""
    architectures = {compiler.target for compiler, _ in measured}
    text = f"""# Portability
`./dev lab portability` wrote this page on {date}. It tries {len(measured)} compilers for {len(architectures)} architectures on: {machine.cpu()},
{os.cpu_count()} cores, {platform.system()} {platform.release()}. Programs of another machine are emulated: what they print counts, and no speed is
measured there.

{compilers_table(measured)}

## A generator without a library
The program of document 000, with a generator of our own, compiled by the document's command `c++ -std=c++20 -o main main.cpp`.
Seconds are the median of {REPEATS} compilations; text, data and bss are bytes by `size`; a frame is the bytes that the
generator asks for. Rows with (000) are published by the document, of its machines.

{control_table(measured)}

## hocket in C++20 alone
`examples/fibonacci.cpp` in a build with `HOCKET_PORTABLE=ON` and -O2: its numbers and its refusal of more than 94. Seconds are
of that one file, sizes of the program with what it links. The tests without fibers run in a portable build, all tests where
there is a machine switch and a preset.

{hocket_table(measured)}

## What is miscompiled
By [hocket-compiler-check](../tools/compiler_check/hocket-compiler-check), which also says what to write instead.

{patterns_table(measured)}
{about_wasm(measured)}"""
    if ir:
        text += f"""
## The same coroutine for two targets
LLVM's intermediate representation of the program above, for x86_64 and for another target of one compiler. Document 000 calls
it practically identical for e2k; here the difference is counted, without names of values, attributes, metadata and
alignments. A line is an instruction or the beginning of a block. The parts of the coroutine are its ramp and what the
compiler splits from it. Other differences come from each target's standard library and calling convention.

{ir_table(ir)}
"""
    if cost:
        text += f"""
## What it costs
The lab's page `wait` for tasks on a loop, g++ 12 -O2 on x86_64: a portable build beside one that only has no fibers, in
{cost["rounds"]} paired rounds on {cost["date"]}.

{cost_table(cost)}
"""
    if skipped:
        text += f"\n## Not tried\n{skipped_table(skipped)}\n"
    return text
