"""Opens a report in headless Chromium: its script runs, its tables are sorted, and nothing but a table in its own box is
wider than the window. Without Chromium ctest counts the test as skipped."""
import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from labkit import report, webpage  # noqa: E402 (the path is set first)
import sample_report  # noqa: E402

SKIPPED = 77   # the exit status that ctest counts as skipped
CHROMIUM = shutil.which("chromium")
FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage", "--dump-dom"]
# A script at the beginning of the page, and one at its end. The page is in a frame, since Chromium has no window narrower
# than 500 pixels. The answer is in the document around the frame, which is dumped.
WATCH = "<script>const faults = []; window.onerror = (message) => faults.push(message);</script>"
ASK = """<script>{
  const answers = () => {%s};
  const result = {...answers(), faults, ready: document.documentElement.dataset.ready};
  parent.document.body.append(Object.assign(document.createElement("pre"), {textContent: encodeURIComponent(JSON.stringify(result))}));
}</script>"""
WIDTHS = """for (const details of document.querySelectorAll("details")) details.open = true;
  const root = document.documentElement;
  const wide = [...document.body.querySelectorAll("*")].filter((one) => !one.closest(".wide, figure, .axis, script")
    && one.getBoundingClientRect().right > innerWidth + 1).map((one) => one.outerHTML.slice(0, 80));
  return {page: root.scrollWidth, window: innerWidth, wide};"""
SORTED = """const table = document.querySelector("#standing table.sortable");
  const head = [...table.tHead.rows[table.tHead.rows.length - 1].cells].find((one) => one.innerText === "ratio");
  const column = () => [...table.tBodies[0].rows].map((row) => parseFloat(row.cells[head.cellIndex].innerText));
  const said = () => head.getAttribute("aria-sort");
  const before = column();
  head.click();
  const up = column(), upSaid = said();
  head.click();
  return {before, up, upSaid, down: column(), downSaid: said()};"""
MIXED = """const table = document.querySelector("#mixed table");
  const cells = () => [...table.tBodies[0].rows].map((row) => row.cells[0].innerText);
  table.tHead.rows[0].cells[0].click();
  const up = cells();
  table.tHead.rows[0].cells[0].click();
  return {up, down: cells()};"""


def evaluate(page, script, width):
    """Opens the page in a frame of this width, and returns the result of the script."""
    page = page.replace("<head>", "<head>" + WATCH, 1).replace("</body>", ASK % script + "</body>", 1)
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "frame.html")
        path.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body><iframe style="width:{width}px; height:800px; border:0" '
                        f'srcdoc="{html.escape(page)}"></iframe>', encoding="utf-8")
        done = subprocess.run([CHROMIUM, *FLAGS, f"--user-data-dir={folder}/profile", path.as_uri()],
                              capture_output=True, text=True, timeout=240)
    result = re.search(r"<pre>([^<]+)</pre>", done.stdout)
    if not result:
        raise AssertionError(f"the page has no result: {done.stderr[-2000:]}")
    return json.loads(urllib.parse.unquote(result.group(1)))


class Browser(unittest.TestCase):
    page = webpage.render(report.Report([sample_report.of_pages(["all"])]))
    small = webpage.render(report.Report([sample_report.of_pages(["wait"])]))

    def test_the_script_runs_without_an_error(self):
        answer = evaluate(self.page, "return {};", 1280)
        self.assertEqual((answer["faults"], answer["ready"]), ([], "yes"))

    def test_an_error_would_be_seen(self):
        answer = evaluate(self.small.replace('"use strict";', "nonesuch();"), "return {};", 1280)
        self.assertTrue(answer["faults"])
        self.assertNotIn("ready", answer)

    def test_nothing_is_wider_than_a_phone_or_a_desk(self):
        for width in (360, 1280):
            answer = evaluate(self.page, WIDTHS, width)
            self.assertEqual(answer["window"], width)
            self.assertEqual(answer["wide"], [])
            self.assertLessEqual(answer["page"], width)

    def test_what_is_too_wide_would_be_seen(self):
        answer = evaluate(self.small.replace("<nav>", '<div style="width:900px">wide</div><nav>'), WIDTHS, 360)
        self.assertGreater(answer["page"], 360)
        self.assertTrue(answer["wide"])

    def test_a_click_sorts_up_and_another_one_down(self):
        answer = evaluate(self.small, SORTED, 1280)
        self.assertEqual(answer["faults"], [])
        self.assertEqual((answer["up"], answer["upSaid"]), (sorted(answer["before"]), "ascending"))
        self.assertEqual((answer["down"], answer["downSaid"]), (sorted(answer["before"], reverse=True), "descending"))
        self.assertGreater(len(set(answer["up"])), 2)

    def test_figures_are_sorted_as_numbers_and_what_has_none_stays_last(self):
        rows = "".join(f"<tr><td>{text}</td></tr>" for text in ("1,200", "–", "30", "x4.00", "word"))
        mixed = f'<div id="mixed"><table class="sortable"><thead><tr><th>figure</th></tr></thead><tbody>{rows}</tbody></table></div>'
        answer = evaluate(self.small.replace("<nav>", mixed + "<nav>"), MIXED, 1280)
        self.assertEqual(answer["up"], ["x4.00", "30", "1,200", "word", "–"])
        self.assertEqual(answer["down"][-1], "–")
        self.assertLess(answer["down"].index("1,200"), answer["down"].index("30"))


if __name__ == "__main__":
    if not CHROMIUM:
        print("skipped: chromium is not installed (./dev setup installs it)")
        sys.exit(SKIPPED)
    unittest.main()
