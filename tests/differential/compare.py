#!/usr/bin/env python3
"""Compares our verdicts of requests with other parsers: h11 (Debian's python3-h11), llhttp and nginx.

  compare.py <program verdicts> [--mutations N] [--show]

The C source of llhttp 9.4.3 is a part of PyPI's sdist httptools, which `./dev setup` unpacks (sources.txt). HOCKET_LLHTTP names
another folder with it. nginx runs on loopback with `return 200`, and each request has a connection of its own.

The requests are the table of tests/unit/http/wire, and N mutations of them in a fixed order. nginx gets the table alone. A
disagreement fails, unless STRICTER or LOOSER has it, with the reason. A parser that is not installed is left out, with a message.
"""
import argparse
import collections
import contextlib
import ctypes
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS / "servers"))

import front_ends  # noqa: E402 (the path comes first)
from exchange import exchange  # noqa: E402
from with_servers import free_port  # noqa: E402

SKIPPED = 77
LLHTTP = TESTS.parent / ".venv/sources/httptools-0.9.0/vendor/llhttp"
DELIMITERS = [bytes([c]) for c in b"\r\n \t:;,=\"\\/?%.*#@[]{}015aAfFgG+-_\0\x7f\x80"] + [b"\r\n", b"chunked", b"0", b"Host: b\r\n"]

# Requests that we refuse and the other parser accepts: by our section, why we refuse them.
STRICTER = {
    "h11": {
        "RFC 3986, 2.1": "h11 does not read the target",
        "RFC 3986, 3.3": "h11 does not read the target",
        "RFC 3986, 5.2.4": "h11 does not read the target",
        "RFC 9112, 3.2": "h11 reads neither the target nor the value of Host, and accepts `#` and quotes in a target",
        "RFC 9112, 3.2.2": "h11 does not read the target",
        "RFC 9112, 3.2.3": "h11 does not read the target",
        "RFC 9112, 3.2.4": "h11 does not read the target",
        "RFC 9112, 2.2": "h11 accepts a bare LF as a line end; we use the right to refuse it",
        "RFC 9112, 5.2": "h11 unfolds folded lines; the section allows 400",
        "RFC 9112, 6.1": "h11 accepts chunked on HTTP/1.0",
        "RFC 9112, 6.3": "h11 accepts equal lengths twice",
        "RFC 9112, 7.1.1": "h11 does not read chunk extensions",
        "RFC 9112, 7.1.2": "h11 accepts a bare LF in trailers",
        "RFC 9112, 3": "we refuse a method of more than 32 characters",
        "RFC 9110, 2.5": "h11 accepts other major versions",
        "RFC 9110, 5.5": "h11 accepts control characters in values",
        "RFC 9110, 7.6.1": "h11 ignores malformed options of Connection",
        "RFC 9110, 9.3.8": "h11 accepts a body with TRACE",
        "RFC 9110, 10.1.1": "h11 ignores unknown expectations",
    },
    "llhttp": {
        "RFC 3986, 2.1": "llhttp does not decode the target",
        "RFC 3986, 3.3": "llhttp does not decode the target",
        "RFC 3986, 5.2.4": "llhttp does not decode the target",
        "RFC 9112, 2.2": "llhttp skips empty lines with a bare LF, and several",
        "RFC 9112, 2.3": "llhttp accepts several spaces before a version",
        "RFC 9112, 3": "llhttp accepts several spaces before a target",
        "RFC 9112, 3.2": "llhttp does not read Host, and accepts quotes and a fragment in a target",
        "RFC 9112, 3.2.2": "llhttp does not restrict the scheme",
        "RFC 9112, 3.2.3": "llhttp reads ports of any size",
        "RFC 9112, 3.2.4": "llhttp accepts the asterisk with each method",
        "RFC 9112, 6.1": "llhttp ends the request of a CONNECT at its head",
        "RFC 9112, 6.3": "llhttp ends the request of a CONNECT at its head",
        "RFC 9110, 2.5": "llhttp accepts HTTP/0.9 and HTTP/2.0",
        "RFC 9110, 7.6.1": "llhttp ignores malformed options of Connection",
        "RFC 9110, 9.3.6": "llhttp ends the request of a CONNECT at its head",
        "RFC 9110, 9.3.8": "llhttp accepts a body with TRACE",
        "RFC 9110, 10.1.1": "llhttp ignores unknown expectations",
    },
    "nginx": {
        "RFC 3986, 3.3": "nginx accepts a backslash in a path",
        "RFC 3986, 5.2.4": "nginx removes dot segments; we refuse them, because a proxy and a server could remove them differently",
        "RFC 9112, 2.2": "nginx accepts a bare LF as a line end, several empty lines, and blanks and digits behind the version",
        "RFC 9112, 2.3": "nginx accepts several spaces before a version, and HTTP/0.9",
        "RFC 9112, 3": "nginx accepts several spaces before a target; we refuse a method of more than 32 characters",
        "RFC 9112, 3.2": "nginx checks little of Host, accepts `#` and quotes in a target, and HTTP/0.9",
        "RFC 9112, 3.2.2": "nginx does not restrict the scheme",
        "RFC 9112, 5.1": "nginx ignores a field whose name is no token",
        "RFC 9112, 6.3": "nginx accepts a length of 20 digits that begins with zeros",
        "RFC 9110, 5.5": "nginx accepts control characters in values",
        "RFC 9110, 7.6.1": "nginx ignores malformed options of Connection",
        "RFC 9110, 10.1.1": "nginx ignores unknown expectations",
    },
}

# Requests that we accept and the other parser refuses: an expression for the request, and why we accept it.
LOOSER = {
    "h11": [
        (rb"\A\r\n[^\r\n]", "RFC 9112, 2.2: an empty line before a request line is skipped; h11 refuses it"),
        (rb"\A[^ ]+ [^ ]+ HTTP/1\.[2-9]\r\n", "RFC 9110, 2.5: a higher minor version is read as 1.1; h11 takes 1.0 and 1.1"),
    ],
    "llhttp": [
        (rb"(?i)chunked *\t", "RFC 9110, 5.5: a tab behind a value is white space"),
        (rb"\A(\r\n)?(?!(DELETE|GET|HEAD|POST|PUT|CONNECT|OPTIONS|TRACE|PATCH|PURGE) )[^ ]+ ", "RFC 9110, 9.1: methods are tokens; llhttp has a list"),
        (rb"\A(\r\n)?[^ ]+ [^ ]+ HTTP/1\.[2-9]\r\n", "RFC 9110, 2.5: a higher minor version is read as 1.1"),
        (rb"\A(\r\n)?CONNECT ", "llhttp's grammar of an authority has no closing bracket"),
        (rb"(?i)\r\nupgrade:", "llhttp stops at an upgrade"),
    ],
    "nginx": [
        (rb"\A[a-z]+ ", "RFC 9110, 9.1: methods are tokens; nginx takes capital letters alone"),
        (rb"\AOPTIONS \* ", "RFC 9112, 3.2.4: the asterisk is the target of OPTIONS; nginx has no such target"),
        (rb"\A(CONNECT|TRACE) ", "RFC 9110, 9.3.6, 9.3.8: both methods are valid; nginx has neither"),
        (rb"\r\nHost: \r\n", "RFC 9112, 3.2: Host is empty if the target has no authority; nginx refuses that"),
        (rb"\t\r\n", "RFC 9110, 5.5: a tab behind a value is white space; nginx reads it as a part of the value"),
    ],
}

Verdict = collections.namedtuple("Verdict", "request status size section")


def judge(program, requests=None):
    text = None if requests is None else "".join(request.hex() + "\n" for request in requests)
    arguments = [program] + (["table"] if requests is None else [])
    lines = subprocess.run(arguments, input=text, capture_output=True, text=True, check=True).stdout.splitlines()
    for line in lines:
        request, status, size, section = line.split(" ", 3)
        yield Verdict(bytes.fromhex(request), int(status), int(size), section)


def mutate(requests, count):
    generator = random.Random(1)
    for _ in range(count):
        request = bytearray(generator.choice(requests))
        for _ in range(generator.randint(1, 2)):
            at = generator.randint(0, len(request))
            change = generator.randint(0, 2)
            if change == 0:
                request[at:at] = generator.choice(DELIMITERS)
            elif change == 1:
                del request[at:at + generator.randint(1, 2)]
            else:
                request[at:at + 1] = generator.choice(DELIMITERS)
        yield bytes(request)


class H11:
    name = "h11"

    def __init__(self):
        if "/usr/lib/python3/dist-packages" not in sys.path:
            sys.path.append("/usr/lib/python3/dist-packages")
        import h11
        self.h11 = h11

    def accepts(self, request):
        """True, False, or None if it wants more bytes."""
        connection = self.h11.Connection(self.h11.SERVER)
        try:
            connection.receive_data(request)
            while True:
                event = connection.next_event()
                if event is self.h11.NEED_DATA:
                    return None
                if isinstance(event, self.h11.EndOfMessage) or event is self.h11.PAUSED:
                    return True
        except self.h11.RemoteProtocolError:
            return False


class Llhttp:
    name = "llhttp"
    REQUEST, OK, PAUSED, PAUSED_UPGRADE = 1, 0, 21, 22

    def __init__(self, source):
        library = pathlib.Path(tempfile.mkdtemp()) / "llhttp.so"
        subprocess.run(["cc", "-O1", "-w", "-shared", "-fPIC", "-o", library, f"-I{source}/include",
                        *sorted(str(path) for path in pathlib.Path(source).glob("src/*.c"))], check=True)
        self.library = ctypes.CDLL(str(library))
        # The callbacks are pointers in the order of the header. The one at the end of a message stops the parser.
        header = (pathlib.Path(source) / "include/llhttp.h").read_text()
        members = re.findall(r"llhttp_(?:data_)?cb\s+(\w+);", header.partition("struct llhttp_settings_s {")[2].partition("}")[0])
        self.complete = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p)(lambda _: self.PAUSED)
        self.settings = (ctypes.c_void_p * 64)()
        self.settings[members.index("on_message_complete")] = ctypes.cast(self.complete, ctypes.c_void_p).value

    def accepts(self, request):
        parser = ctypes.create_string_buffer(1024)
        self.library.llhttp_init(parser, self.REQUEST, self.settings)
        error = self.library.llhttp_execute(parser, request, ctypes.c_size_t(len(request)))
        return None if error == self.OK else error in (self.PAUSED, self.PAUSED_UPGRADE)


class Nginx:
    name = "nginx"

    def __init__(self, port):
        self.port = port

    def accepts(self, request):
        answer = exchange(self.port, [request])
        while answer.startswith(b"HTTP/1.1 1"):   # interim answers
            answer = answer.partition(b"\r\n\r\n")[2]
        has_head = answer.startswith(b"HTTP/1.1 ")   # an answer of HTTP/0.9 has none
        return answer.startswith(b"HTTP/1.1 2") if has_head else bool(answer)


@contextlib.contextmanager
def run_nginx():
    """None if nginx is not installed."""
    if not front_ends.find_nginx():
        print("left out: nginx is not installed")
        yield None
        return
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        with front_ends.nginx(folder, port, f"server {{ listen 127.0.0.1:{port}; return 200 accepted; }}"):
            yield Nginx(port)


def reason_for(parser, verdict, accepted):
    """The reason of a disagreement, "" if there is none to list, None if the verdicts agree."""
    if verdict.status == 200 and accepted is False:
        return next((reason for pattern, reason in LOOSER[parser.name] if re.search(pattern, verdict.request)), "")
    if verdict.status >= 400 and accepted is True:
        return STRICTER[parser.name].get(verdict.section, "")
    return None


def compare(parser, verdicts, show):
    reasons, examples, failures = collections.Counter(), {}, []
    for verdict in verdicts:
        # Requests that follow would be read, too.
        request = verdict.request[:verdict.size] if verdict.status == 200 else verdict.request
        reason = reason_for(parser, verdict, parser.accepts(request))
        if reason == "":
            failures.append(verdict)
        elif reason:
            reasons[verdict.section or "accepted", reason] += 1
            examples.setdefault((verdict.section or "accepted", reason), verdict.request)
    for (section, reason), count in sorted(reasons.items()):
        if show:
            print(f"{parser.name}: {count:5} {section}: {reason}: {examples[section, reason]!r}")
    for verdict in failures[:40]:
        print(f"{parser.name} disagrees: {verdict.status} {verdict.section}: {verdict.request!r}")
    print(f"{parser.name}: {len(verdicts)} requests, {sum(reasons.values())} listed disagreements, {len(failures)} others")
    return not failures


def in_process_parsers():
    try:
        yield H11()
    except ImportError:
        print("left out: h11 is not installed (Debian: python3-h11)")
    source = pathlib.Path(os.environ.get("HOCKET_LLHTTP", LLHTTP))
    if source.is_dir():
        yield Llhttp(source)
    else:
        print("left out: llhttp is not downloaded (./dev setup)")


def main():
    arguments = argparse.ArgumentParser()
    arguments.add_argument("program")
    arguments.add_argument("--mutations", type=int, default=20000)
    arguments.add_argument("--show", action="store_true")
    options = arguments.parse_args()
    parsers = [*in_process_parsers()]
    table = list(judge(options.program))
    mutations = judge(options.program, list(mutate([row.request for row in table], options.mutations))) if parsers else ()
    verdicts = [*table, *mutations]
    agree = [compare(parser, verdicts, options.show) for parser in parsers]
    with run_nginx() as nginx:
        if nginx:
            agree.append(compare(nginx, table, options.show))
    return SKIPPED if not agree else 0 if all(agree) else 1


if __name__ == "__main__":
    sys.exit(main())
