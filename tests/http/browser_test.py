#!/usr/bin/env python3
"""Chromium without a window loads the page of http_peers: its script fetches, uploads, and reads server-sent events."""
import html
import re
import tempfile

from harness import MEGABYTE, crc, expect, main, require, run, serving

FLAGS = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage", "--no-proxy-server",
         "--virtual-time-budget=60000", "--dump-dom"]
RESULTS = {
    "plain": "plain", "lines": "100", "megabyte": "1048576 true", "upload": f'{{"bytes":1048576,"crc":{crc(MEGABYTE)}}}', "range": "206",
    "missing": "404", "head": "1048576", "together": "true", "events": "0:0,1:1,2:2,3:3,4:4", "done": "true"}


def test(program):
    chromium = require("chromium")
    with serving(program) as server, tempfile.TemporaryDirectory() as profile:
        dom = run(chromium, *FLAGS, f"--user-data-dir={profile}", server.url + "/", seconds=100).decode()
        text = html.unescape(re.search(r'<pre id="results">(.*?)</pre>', dom, re.S).group(1))
        expect(dict(line.split("=", 1) for line in text.splitlines()), RESULTS, "results of the page")
        print(server.end())


main(test)
