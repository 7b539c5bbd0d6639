#!/usr/bin/env python3
"""Go's net/http: 50 connections that are kept, uploads with a length and in chunks, Expect, ranges, events, cancelled requests."""
import os

from harness import TESTS, expect, main, require, run, serving


def test(program):
    go = require("go")
    with serving(program) as server:
        folder = TESTS / "http/go_client"
        client = server.folder / "go_client"
        run(go, "build", "-o", client, ".", cwd=folder, seconds=300, env={**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"})
        connections = int(run(client, server.url))
        expect(connections <= 60, True, f"{connections} connections for 50 at a time")
        print(server.end())


main(test)
