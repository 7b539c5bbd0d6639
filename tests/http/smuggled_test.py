#!/usr/bin/env python3
"""Requests inside of bodies, and bodies with two lengths: no byte of a body is answered as a request, and nothing is parsed behind a
malformed request. Each case is sent whole, and with a cut at each fifth byte."""
import re

from harness import exchange, expect, final_statuses, main, serving

BEFORE = b"GET /task HTTP/1.1\r\nHost: a\r\n\r\n"
LAST = b"GET /items/1 HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"
INNER = b"GET /items/1 HTTP/1.1\r\nHost: inner\r\n\r\n"   # must never be answered
N = len(INNER)


def post(path, *fields, body=INNER):
    return b"POST /%s HTTP/1.1\r\nHost: a\r\n%s\r\n%s" % (path, b"".join(field + b"\r\n" for field in fields), body)


LENGTH, CHUNKED, EXPECT = b"Content-Length: %d" % N, b"Transfer-Encoding: chunked", b"Expect: 100-continue"
IN_CHUNKS = b"%x\r\n%s\r\n0\r\n\r\n" % (N, INNER)

# The statuses behind the answer to BEFORE. The last status answers LAST, or refuses the request.
CASES = {
    "a body that is echoed": (post(b"echo", LENGTH), [200, 200]),
    "a body that is read in pieces": (post(b"upload", LENGTH), [200, 200]),
    "a body that is not read": (post(b"unread", LENGTH), [403, 200]),
    "a body without a route": (post(b"missing", LENGTH), [404, 200]),
    "a body for another method": (post(b"plain", LENGTH), [405, 200]),
    "chunks that are echoed": (post(b"echo", CHUNKED, body=IN_CHUNKS), [200, 200]),
    "chunks that are not read": (post(b"unread", CHUNKED, body=IN_CHUNKS), [403, 200]),
    "chunks without a route": (post(b"missing", CHUNKED, body=IN_CHUNKS), [404, 200]),
    "a request in an extension": (post(b"echo", CHUNKED, body=b"0;GET / HTTP/1.1\r\n\r\n"), [400]),
    "a request in a trailer": (post(b"echo", CHUNKED, body=b"0\r\nGET /items/1 HTTP/1.1\r\n\r\n"), [400]),
    "a body behind 100": (post(b"echo", LENGTH, EXPECT), [200, 200]),
    "a body behind a refused expectation": (post(b"unread", LENGTH, EXPECT), [403]),
    "a body behind an expectation without a route": (post(b"missing", LENGTH, EXPECT), [404]),
    "a body behind an expectation of another method": (post(b"plain", LENGTH, EXPECT), [405]),
    "a body behind an expectation that is too long": (post(b"short", b"Content-Length: 100000", EXPECT), [413]),
    "a body behind an unknown expectation": (post(b"echo", LENGTH, b"Expect: tea"), [417]),
    "chunks behind a refused expectation": (post(b"unread", CHUNKED, EXPECT, body=IN_CHUNKS), [403]),
    "0.CL with Expect": (b"GET /plain HTTP/1.1\r\nHost: a\r\n%s\r\n%s\r\n\r\n%s" % (LENGTH, EXPECT, INNER), None),
    "CL.TE": (post(b"echo", b"Content-Length: 6", CHUNKED, body=b"0\r\n\r\n" + INNER), [400]),
    "TE.CL": (post(b"echo", CHUNKED, b"Content-Length: 4", body=IN_CHUNKS), [400]),
    "CL.CL": (post(b"echo", b"Content-Length: 0", LENGTH), [400]),
    "equal lengths": (post(b"echo", LENGTH, LENGTH), [400]),
    "a length with a sign": (post(b"echo", b"Content-Length: +0"), [400]),
    "a length and a blank": (post(b"echo", b"Content-Length : 0"), [400]),
    "TE.TE": (post(b"echo", CHUNKED, b"Transfer-Encoding: identity", body=b"0\r\n\r\n" + INNER), [400]),
    "an obscure coding": (post(b"echo", b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n" + INNER), [400]),
    "a vertical tab before chunked": (post(b"echo", b"Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n" + INNER), [400]),
    "chunked on HTTP/1.0": (b"POST /echo HTTP/1.0\r\nHost: a\r\n%s\r\n\r\n0\r\n\r\n%s" % (CHUNKED, INNER), [400]),
    "TE.0": (b"OPTIONS /plain HTTP/1.1\r\nHost: a\r\n%s\r\n\r\n%s" % (CHUNKED, IN_CHUNKS), None),
    "a bare LF behind a chunk size": (post(b"echo", CHUNKED, body=b"%x\n%s\r\n0\r\n\r\n" % (N, INNER)), [400]),
    "a bare LF behind a chunk": (post(b"echo", CHUNKED, body=b"1\r\na\n0\r\n\r\n" + INNER), [400]),
    "a bare CR behind a chunk size": (post(b"echo", CHUNKED, body=b"1\ra\r\n0\r\n\r\n" + INNER), [400]),
    "a line end in an extension": (post(b"echo", CHUNKED, body=b"1;a\nb\r\na\r\n0\r\n\r\n" + INNER), [400]),
    "a size of 17 digits": (post(b"echo", CHUNKED, body=b"10000000000000001\r\na\r\n0\r\n\r\n" + INNER), [400]),
    "a chunk that is longer": (post(b"echo", CHUNKED, body=b"1\r\nab\r\n0\r\n\r\n" + INNER), [400]),
    "an upgrade that is refused": (b"GET /plain HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", [200, 200]),
}
INNER_ANSWERED = re.compile(rb'"first"')   # the body of /items/1


def check(port, name, request, expected):
    whole = BEFORE + request + LAST
    for cut in range(0, len(whole), 5):
        answer = exchange(port, [whole[:cut], whole[cut:]] if cut else [whole])
        statuses = final_statuses(answer)
        context = f"{name}, cut at {cut}: {answer!r}"
        expect(statuses[0], 200, context)
        if EXPECT in request and expected and expected[0] >= 400:
            expect(b"HTTP/1.1 100" in answer, False, context)
        if expected is None:   # whatever the answer is, the request inside has none
            expect(len(INNER_ANSWERED.findall(answer)) <= 1, True, context)
        else:
            expect(statuses[1:], expected, context)


def check_short_bodies(port):
    """A body that ends too early is not handled as a body. The read of a streamed one fails, which is the handler's error."""
    for path in (b"echo", b"upload"):
        for request in (post(path, LENGTH), post(path, CHUNKED, body=IN_CHUNKS)):
            head = request.index(b"\r\n\r\n") + 4
            for end in range(head, len(request)):
                answer = exchange(port, [BEFORE + request[:end]])
                statuses = final_statuses(answer)
                expect(statuses in ([200], [200, 400], [200, 500]), True, f"a body of {end - head} bytes: {answer!r}")


def test(program):
    with serving(program) as server:
        for name, (request, expected) in CASES.items():
            check(server.port, name, request, expected)
        check_short_bodies(server.port)
        print(server.end())


main(test)
