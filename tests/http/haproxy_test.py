#!/usr/bin/env python3
"""haproxy in front of the server: the PROXY protocol in both versions, X-Forwarded-For and Forwarded, health checks, kept
connections, uploads, ranges, events, an upgrade."""
from front_end_checks import CLIENT, check_all, client_of
from harness import ask, expect, free_port, main, serving, skip
from front_ends import find_haproxy, haproxy

CONFIGURATION = """
defaults
  timeout connect 10s
  timeout client 60s
  timeout server 60s
  default-server check inter 200ms rise 1
listen front
  bind 127.0.0.1:{port}
  mode {mode}
  {option}
  server hocket {server} {extra}
"""


def check(program, mode, option, extra, *options, expected, forged):
    """`expected` is the client that the server sees, `forged` the fields that a client forges."""
    port = free_port()
    with serving(program, *options) as server:
        configuration = CONFIGURATION.format(port=port, mode=mode, option=option, server=server.address, extra=extra)
        with haproxy(server.folder, port, configuration):
            check_all(port)
            expect(client_of(port), expected, f"client: {extra}")
            expect(client_of(port, **forged), expected, f"client with a forged address: {extra}")
        server.end()


def check_untrusted(program):
    """A PROXY header of a peer that is not trusted is no request."""
    port = free_port()
    with serving(program) as server:
        configuration = CONFIGURATION.format(port=port, mode="http", option="", server=server.address, extra="send-proxy no-check")
        with haproxy(server.folder, port, configuration):
            expect(ask(port, "/plain")[0], 400, "a PROXY header where none is expected")
        server.end()


def test(program):
    if not find_haproxy():
        skip("haproxy is not installed")
    forged = {"X_Forwarded_For": "192.0.2.1", "Forwarded": "for=192.0.2.1"}
    trusting = ("--trust", "127.0.0.1")
    for mode in ("http", "tcp"):
        for extra in ("send-proxy check-send-proxy", "send-proxy-v2 check-send-proxy"):
            check(program, mode, "", extra, "--proxy-protocol", *trusting, expected=(CLIENT, "http"), forged=forged)
    check(program, "http", "option forwardfor", "", *trusting, expected=(CLIENT, "http"), forged=forged)
    option = "http-request set-header Forwarded for=%[src];proto=https"
    check(program, "http", option, "", "--forwarded", *trusting, expected=(CLIENT, "https"), forged=forged)
    check_untrusted(program)


main(test)
