#!/usr/bin/env python3
"""Node's http client: an agent that keeps connections, uploads, streams; and pipelined requests on a raw socket."""
import json

from harness import crc, expect, main, pattern, require, run, serving, TESTS

UPLOAD = 3_000_000


def test(program):
    node = require("node")
    with serving(program) as server:
        results = json.loads(run(node, TESTS / "http/node_client.js", server.port, UPLOAD))
        expect(results, {
            "sockets": True,
            "kinds": ["plain\n", "task\n", "fiber\n"],
            "megabyte": [1048576, True],
            "upload": {"bytes": UPLOAD, "crc": crc(pattern(UPLOAD))},
            "continue": [True, {"bytes": 5, "crc": crc(b"12345")}],
            "lines": 1000,
            "trailers": {"bytes": 10, "crc": crc(pattern(10))},
            "upgrade": "over the socket",
            "aborted": 30,
            "pipelined": [200] * 200,
            "order": True,
            "malformed": [200, 200, 400],
        })
        print(server.end())


main(test)
