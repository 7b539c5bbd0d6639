// The tests' Python code.
#pragma once

namespace python_tests {

inline constexpr const char* scripts = R"python(
import contextlib, contextvars, ctypes, os, sys, threading
import psycopg2, requests

local, variable = threading.local(), contextvars.ContextVar("number")


def connect():
    return contextlib.closing(psycopg2.connect(os.environ["HOCKET_POSTGRES"]))


def ask(text, *values):
    """One row without its first column, by a connection of its own."""
    with connect() as db, db.cursor() as rows:
        rows.execute(text, values)
        return rows.fetchone()[1:]


def wait(number):
    """100 ms at the server."""
    return ask("select pg_sleep(0.1), %s", number)


def select(number):
    return ask("select pg_sleep(0.002), %s, repeat(md5(%s::text), 5000)", number, number)


def fetch(number):
    web, results = f"https://localhost:{os.environ['HOCKET_HTTPS']}", []
    with requests.Session() as session:
        session.trust_env, session.verify = False, os.environ["HOCKET_HTTPS_CA"]
        for path in ("/wait?2", f"/bytes?{100000 + number}"):
            answer = session.get(web + path)
            results += [answer.status_code, len(answer.text)]
    return results


def keep_own(number):
    """What belongs to a thread state stays as it was while others run."""
    local.number = number
    variable.set(number)
    try:
        raise KeyError(number)
    except KeyError:
        wait(number)
        return local.number, variable.get(), sys.exc_info()[1].args


def fail_if_odd(number):
    row = wait(number)
    if number % 2:
        raise ValueError(row)
    return row


def wait_for_minute(number):
    return ask("select pg_sleep(60), %s", number)


def until_waits(number):
    """Until wait_for_minute(number) waits at the server."""
    waiting = "select 0, count(*) from pg_stat_activity where wait_event = 'PgSleep' and query like %s"
    while ask(waiting, f"%(60), {number}") != (1,):
        pass


def cancel_nothing(number):
    with connect() as db:
        db.cancel()
    return number


def call_back(number):
    """libc's qsort() calls Python, by PyGILState_Ensure()."""
    kind, local.number, states = ctypes.c_int * 20, number, set()
    values = kind(*((i * 7 + number) % 20 for i in range(20)))

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_int), ctypes.POINTER(ctypes.c_int))
    def compare(first, second):
        states.add(getattr(local, "number", "another state"))
        return first[0] - second[0]
    wait(number)
    ctypes.CDLL(None).qsort(values, len(values), ctypes.sizeof(ctypes.c_int), compare)
    return list(values) == list(range(20)), states


def recurse(number):
    def through_c(value):
        return sorted([value], key=through_c)
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(number)
    try:
        return through_c(0)
    finally:
        sys.setrecursionlimit(limit)
)python";

}  // namespace python_tests
