#!/usr/bin/env python3
"""Node on the page `net`, called as `server.py <system> http 1`. This program becomes `node server.js`."""
import os
import pathlib
import shutil
import sys


def skip(why):
    print("skip", why, flush=True)
    sys.exit()


def main():
    _, _, mode, workers = sys.argv
    program = shutil.which("node")
    if not program:
        skip("Node is not installed: `apt-get install nodejs`")
    if mode != "http" or workers != "1":
        skip("Node is one process here, for http alone")
    os.execv(program, ["node", str(pathlib.Path(__file__).with_name("server.js"))])


main()
