#!/usr/bin/env python3
"""curl: kept connections, HTTP/1.0, ranges, uploads with and without Expect, chunked uploads, HEAD, refused requests, paths
that try to leave the folder."""
import json
import subprocess

from harness import MEGABYTE, crc, expect, main, pattern, require, run, serving

FORMAT = "%{response_code} %{num_connects} %{size_download}\n"


def status(curl, server, path, *options):
    """The status and the field lines of one answer."""
    words = run(curl, "-s", "-o", "/dev/null", "-w", "%{response_code} %{num_connects}", *options, server.url + path).split()
    return int(words[0])


def check_kept_connections(curl, server):
    paths = ["/plain", "/task", "/fiber", "/items/1", "/lines?count=3", "/missing", "/megabyte"]
    outputs = [word for path in paths for word in ("-o", "/dev/null", server.url + path)]
    lines = run(curl, "-s", "-w", FORMAT, *outputs).decode().splitlines()
    expect([line.split()[0] for line in lines], ["200"] * 5 + ["404", "200"], "statuses")
    expect([line.split()[1] for line in lines], ["1"] + ["0"] * 6, "new connections")


def check_http_1_0(curl, server):
    expect(run(curl, "-s", "--http1.0", server.url + "/plain"), b"plain\n")
    expect(run(curl, "-s", "--http1.0", server.url + "/lines?count=3"), b"line 0\nline 1\nline 2\n", "until the end")
    head = run(curl, "-s", "-i", "--http1.0", server.url + "/lines?count=1").decode()
    expect("Transfer-Encoding" in head, False, "chunked for HTTP/1.0")
    run(curl, "-s", "--http1.0", "-H", "Connection: keep-alive", server.url + "/plain", server.url + "/plain")


def check_ranges(curl, server):
    url = server.url + "/files/large.bin"
    expect(run(curl, "-s", url), MEGABYTE, "file")
    expect(run(curl, "-s", "-r", "1000-1999", url), MEGABYTE[1000:2000], "range")
    expect(run(curl, "-s", "-r", "-100", url), MEGABYTE[-100:], "suffix")
    expect(status(curl, server, "/files/large.bin", "-r", "1048576-"), 416)
    several = run(curl, "-s", "-r", "0-9,500000-500099", url)
    expect(MEGABYTE[500000:500100] in several and several.count(b"Content-Range:") == 2, True, "two ranges")
    part = server.folder / "part"
    part.write_bytes(MEGABYTE[:300000])
    run(curl, "-s", "-C", "-", "-o", part, url)
    expect(part.read_bytes(), MEGABYTE, "continued download")


def check_uploads(curl, server):
    body = pattern(5_000_000)
    path = server.folder / "upload"
    path.write_bytes(body)
    expected = {"bytes": len(body), "crc": crc(body)}
    ways = {"with Expect": ["--data-binary", f"@{path}", "-H", "Expect: 100-continue"], "without Expect": ["--data-binary", f"@{path}", "-H", "Expect:"],
            "chunked": ["-X", "POST", "-T", path, "-H", "Transfer-Encoding: chunked"], "PUT": ["-T", path],
            "1.0": ["--http1.0", "--data-binary", f"@{path}"]}
    for name, options in ways.items():
        expect(json.loads(run(curl, "-s", *options, server.url + "/upload")), expected, name)
    small = run(curl, "-s", "-F", "a=b", "-F", f"file=@{server.folder}/public/index.html", server.url + "/echo")
    expect(b"<p>hello" in small, True, "form")


def check_refusals(curl, server):
    expect(status(curl, server, "/missing"), 404)
    expect(status(curl, server, "/plain", "-X", "DELETE"), 405)
    expect(b"Allow: GET, HEAD" in run(curl, "-s", "-i", "-X", "DELETE", server.url + "/plain"), True, "Allow")
    expect(status(curl, server, "/items/x"), 400)
    expect(status(curl, server, "/plain", "-H", "X: " + "a" * 9000), 431)
    expect(status(curl, server, "/" + "a" * 9000), 414)
    expect(status(curl, server, "/plain", "-X", "BREW"), 501)
    expect(status(curl, server, "/plain", "-H", "Expect: tea"), 417)
    path = server.folder / "two_megabytes"
    path.write_bytes(MEGABYTE * 2)
    expect(status(curl, server, "/echo", "--data-binary", f"@{path}"), 413)
    expect(status(curl, server, "/echo", "-X", "POST", "-T", str(path), "-H", "Transfer-Encoding: chunked"), 413)
    expect(status(curl, server, "/unread", "--data-binary", f"@{path}"), 403)
    path.write_bytes(MEGABYTE[:250_000])   # a refused body of up to 256 KB is dropped; a longer one may be reset
    expect(status(curl, server, "/unread", "--data-binary", f"@{path}", "-H", "Expect:"), 403)
    expect(status(curl, server, "/short", "--data-binary", f"@{path}", "-H", "Expect:"), 413)


def check_paths(curl, server):
    for path in ("../secret", "sub/../../secret", "%2e%2e/secret", "..%2fsecret", "%2e%2e%2fsecret", "..\\secret", ".hidden", "outside",
                 "%00", "sub/", "./index.html", "/index.html", "large.bin%00.html"):
        answer = run(curl, "-s", "-i", "--path-as-is", f"{server.url}/files/{path}")
        expect(answer.split()[1] in (b"400", b"404"), True, f"{path}: {answer[:200]!r}")
        expect(b"secret" in answer.partition(b"\r\n\r\n")[2] or b"hidden" in answer, False, path)


def check_heads(curl, server):
    head = run(curl, "-s", "-I", server.url + "/megabyte").decode()
    expect("Content-Length: 1048576" in head, True, head)
    encoded = run(curl, "-s", "-i", "--compressed", server.url + "/plain").decode()
    expect("Content-Encoding" in encoded, False, encoded)
    expect(run(curl, "-s", server.url + "/events?count=2").decode().count("event: count"), 2, "events")


def check_broken_bodies(curl, server):
    """A body that has failed does not look complete. 18: "a partial file"."""
    for path in ("stream", "text", "short"):
        done = subprocess.run([curl, "-s", f"{server.url}/broken/{path}"], capture_output=True, timeout=60)
        expect((done.returncode, done.stdout), (18, b"a part of it\n"), path)


def check_rest(curl, server):
    created = run(curl, "-s", "-i", "-d", "second", server.url + "/items").decode()
    expect("HTTP/1.1 201" in created and "Location: /items/2" in created, True, created)
    expect(json.loads(run(curl, "-s", server.url + "/items/2")), {"id": 2, "text": "second"})
    expect(status(curl, server, "/items/2", "-X", "DELETE"), 204)
    expect(status(curl, server, "/items/2"), 404)


def test(program):
    curl = require("curl")
    with serving(program) as server:
        for check in (check_kept_connections, check_http_1_0, check_ranges, check_uploads, check_refusals, check_paths, check_heads, check_broken_bodies,
                      check_rest):
            check(curl, server)
        print(server.end())


main(test)
