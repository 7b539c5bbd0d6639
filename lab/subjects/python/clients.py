"""CPython: greenlets under gevent's monkey patches, or threads, on psycopg2 and redis-py: the workloads of
harness/clients/clients.hpp."""
import json
import os
import sys
import time

HAS_GREENLETS = sys.argv[1].startswith("gevent")
if HAS_GREENLETS:
    from gevent import monkey
    monkey.patch_all()
    import gevent
    import gevent.socket

import concurrent.futures                  # noqa: E402 (after the patches)
import queue                               # noqa: E402
import psycopg2                            # noqa: E402
import psycopg2.extensions as extensions   # noqa: E402
import redis                               # noqa: E402


def wait(connection):
    """psycopg2's wait callback for greenlets: returns when libpq is done."""
    while True:
        state = connection.poll()
        if state == extensions.POLL_OK:
            return
        if state == extensions.POLL_READ:
            gevent.socket.wait_read(connection.fileno())
        else:
            gevent.socket.wait_write(connection.fileno())


class Postgres:
    """psycopg2 puts parameters into the text, and sends a simple query."""

    def __init__(self, workload, n):
        if HAS_GREENLETS:
            extensions.set_wait_callback(wait)
        self.idle = queue.LifoQueue()
        for _ in range(n):
            connection = psycopg2.connect(os.environ["HOCKET_POSTGRES"])
            connection.autocommit = True
            self.idle.put(connection)
        self.text = "select %s::int" + " from pg_sleep(0.1)" * workload.endswith("_wait")

    def ask(self, number):
        connection = self.idle.get()
        with connection.cursor() as cursor:
            cursor.execute(self.text, (number,))
            assert cursor.fetchone() == (number,)
        self.idle.put(connection)


class Redis:
    """A connection that sends no commands of its own, such as the library's name."""
    options = {"port": int(os.environ.get("HOCKET_REDIS", 0)), "lib_name": None, "lib_version": None}

    def __init__(self, workload, n):
        self.waits = workload.endswith("_wait")
        if not self.waits:
            self.pool = redis.Redis(connection_pool=redis.BlockingConnectionPool(max_connections=n, **self.options))

    def ask(self, number):
        if self.waits:
            with redis.Redis(**self.options, single_connection_client=True) as own:
                assert own.execute_command("BLPOP", f"nothing{number}", "0.1") is None
        else:
            assert self.pool.echo(str(number)) == str(number).encode()


def at_once(threads, asks):
    """Makes all calls at once, and returns when all are done."""
    if HAS_GREENLETS:
        gevent.joinall([gevent.spawn(*ask) for ask in asks], raise_error=True)
        return
    for done in [threads.submit(*ask) for ask in asks]:
        done.result()


def main(system, workload, n, _stack, budget):
    n, budget = int(n), float(budget) / 1e3
    asker = (Redis if workload.startswith("redis") else Postgres)(workload, n)

    threads = concurrent.futures.ThreadPoolExecutor(n)

    def ask_often(number, times):
        for _ in range(times):
            asker.ask(number)

    def ask_all(times):
        begin = time.perf_counter()
        at_once(threads, [(ask_often, number, times) for number in range(n)])
        return time.perf_counter() - begin

    def emit(name, unit, value):
        print(json.dumps({"system": system, "workload": name, "n": n, "unit": unit, "value": round(value, 3)}))

    ask_all(1)
    if workload.endswith("_wait"):
        took = ask_all(1) * 1e3
        assert took >= 95, "the server has not waited"
        emit(workload, "ms", took)
        return
    times = 1
    while ask_all(times) < budget / 4:
        times *= 2
    before = time.process_time()
    took, questions = ask_all(times * 4), times * 4 * n
    emit(f"{workload}_cpu", "us", (time.process_time() - before) / questions * 1e6)
    emit(f"{workload}_time", "us", took / questions * 1e6)


if __name__ == "__main__":
    main(*sys.argv[1:])
