// acquire(): who gets which connection, and which error. On virtual time.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/select.hpp>

#include "unit/pool/fake_server.hpp"

#include <stdexcept>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

const auto refused = std::make_error_code(std::errc::connection_refused);
const auto unreachable = std::make_error_code(std::errc::host_unreachable);

}  // namespace

TEST_CASE("a connection that was returned is lent again, the one used last first") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options());
  world.run([&]() -> task<> {
    auto first = (co_await pool.acquire()).value();
    auto second = (co_await pool.acquire()).value();
    CHECK(first->id() != second->id());
    const int last = first->id();
    second.release();
    first.release();
    CHECK_FALSE(first);
    const auto again = (co_await pool.acquire()).value();
    CHECK(again->id() == last);
    CHECK(world.server.connects == 2);
    CHECK(pool.statistics().lent == 1);
    CHECK(pool.statistics().idle == 1);
    CHECK(pool.statistics().connects == 2);
  });
}

TEST_CASE("waiters are served in the order of their arrival, and the limit holds") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 2}));
  std::vector<int> order;
  int held = 0, max_held = 0;
  world.run([&]() -> task<> {
    auto use = [&](int number) -> task<> {
      auto lent = (co_await pool.acquire()).value();
      order.push_back(number);
      max_held = std::max(max_held, ++held);
      static_cast<void>(co_await sleep_for(1ms));
      --held;
    };
    std::vector<join_handle<>> all;
    for (int i = 0; i < 20; ++i) all.push_back(spawn(use, i));
    for (auto& each : all) co_await each;
  });
  CHECK(order.size() == 20);
  CHECK(std::is_sorted(order.begin(), order.end()));
  CHECK(max_held == 2);
  CHECK(world.server.connects == 2);
}

TEST_CASE("the error of a failed connect goes to the waiter that it was for, and the others wait for theirs") {
  fake_world world;
  world.server.errors = {refused, unreachable};
  event gate;
  world.server.gate = &gate;
  fake_pool pool(world.lp, world.connector(), world.options());
  std::vector<std::string> ends(3);
  world.run([&]() -> task<> {
    auto use = [&](std::size_t number) -> task<> {
      const auto lent = co_await pool.acquire();
      ends[number] = lent ? "lent" : lent.error().message();
    };
    std::vector<join_handle<>> all;
    for (std::size_t i = 0; i < 3; ++i) all.push_back(spawn(use, i));
    co_await run_others();
    CHECK(world.server.connecting == 3);
    gate.set();
    for (auto& each : all) co_await each;
    CHECK(pool.statistics().failed_connects == 2);
    CHECK(pool.statistics().last_error == unreachable);
  });
  CHECK(ends == std::vector<std::string>{refused.message(), unreachable.message(), "lent"});
}

TEST_CASE("while connects fail they are tried one at a time, after pauses that grow from 10 ms to 1 s") {
  fake_world world;
  world.server.errors.assign(12, refused);
  world.server.latency = 1ms;
  fake_pool pool(world.lp, world.connector(), world.options());
  world.run([&]() -> task<> {
    auto use = [&]() -> task<> { static_cast<void>(co_await pool.acquire()); };
    std::vector<join_handle<>> all;
    all.push_back(spawn(use));
    static_cast<void>(co_await sleep_for(2ms));  // the first one has failed
    for (int i = 0; i < 12; ++i) all.push_back(spawn(use));
    for (auto& each : all) co_await each;
  });
  CHECK(world.server.max_connecting == 1);
  REQUIRE(world.server.tries.size() == 13);
  for (std::size_t i = 1; i < world.server.tries.size(); ++i) {
    const duration pause = world.server.tries[i] - world.server.tries[i - 1];
    const duration least = std::min<duration>(10ms * (1 << (i - 1)), 800ms);
    CHECK(pause >= least);
    CHECK(pause <= least + least / 4 + 3ms);
  }
}

TEST_CASE("after a success connects are made at the same time again, and the first pause is 10 ms again") {
  fake_world world;
  world.server.errors = {refused, refused, refused, {}, refused, {}};
  world.server.latency = 1ms;
  fake_pool pool(world.lp, world.connector(), world.options());
  world.run([&]() -> task<> {
    for (int i = 0; i < 3; ++i) CHECK_FALSE((co_await pool.acquire()).has_value());
    const auto lent = (co_await pool.acquire()).value();
    CHECK((co_await pool.acquire()).error() == refused);
    const auto other = (co_await pool.acquire()).value();
    const auto& tries = world.server.tries;
    CHECK(tries[5] - tries[4] < 20ms);
  });
}

TEST_CASE("a waiter that leaves does not end its connect: the connection goes to the next waiter, or becomes idle") {
  for (const bool has_next : {true, false}) {
    fake_world world;
    world.server.latency = 50ms;
    fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
    world.run([&]() -> task<> {
      auto leaver = spawn([&]() -> task<bool> { co_return (co_await within(10ms, pool.acquire())).has_value(); });
      co_await run_others();
      auto next = [&]() -> task<bool> { co_return (co_await pool.acquire()).has_value(); };
      join_handle<bool> other;
      if (has_next) other = spawn(next);
      CHECK_FALSE(co_await leaver);
      if (has_next) CHECK(co_await other);
      else static_cast<void>(co_await sleep_for(50ms));
      CHECK(world.server.connects == 1);
      CHECK(pool.statistics().idle == 1);
      CHECK(pool.statistics().waiters == 0);
    });
  }
}

TEST_CASE("the error of a connect whose waiter has left goes to the waiter that has adopted it, or to none") {
  for (const bool has_next : {true, false}) {
    fake_world world;
    world.server.latency = 50ms;
    world.server.errors = {refused};
    fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
    world.run([&]() -> task<> {
      CHECK((co_await within(10ms, pool.acquire())).error() == std::errc::timed_out);
      if (has_next) CHECK((co_await pool.acquire()).error() == refused);
      else static_cast<void>(co_await sleep_for(60ms));
      CHECK((co_await pool.acquire()).has_value());
      CHECK(world.server.tries.size() == 2);
    });
  }
}

TEST_CASE("a waiter that is served by a returned connection leaves its connect to the next waiter") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 2}));
  world.run([&]() -> task<> {
    auto lent = (co_await pool.acquire()).value();
    world.server.latency = 1s;
    auto first = spawn([&]() -> task<int> { co_return (co_await pool.acquire()).value()->id(); });
    co_await run_others();
    CHECK(pool.statistics().connecting == 1);
    const int number = lent->id();
    lent.release();
    CHECK(co_await first == number);
    auto held = (co_await pool.acquire()).value();
    CHECK(held->id() == number);
    world.server.errors = {refused};
    CHECK((co_await pool.acquire()).error() == refused);
    CHECK(world.server.tries.size() == 2);
  });
}

TEST_CASE("a cancelled, late or killed waiter takes nothing, and the next one is served") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
  world.run([&]() -> task<> {
    auto lent = (co_await pool.acquire()).value();
    std::error_code end;
    auto use = [&]() -> task<> {
      const auto late = co_await pool.acquire();
      end = late ? std::error_code() : late.error();
    };
    auto cancelled_waiter = spawn(use);
    co_await run_others();
    cancelled_waiter.cancel();
    static_cast<void>(co_await cancelled_waiter.join());
    CHECK(end == std::errc::operation_canceled);
    CHECK((co_await within(5ms, pool.acquire())).error() == std::errc::timed_out);
    auto killed_waiter = spawn(use);
    co_await run_others();
    killed_waiter.kill();
    static_cast<void>(co_await killed_waiter.join());
    CHECK(pool.statistics().waiters == 0);
    auto next = spawn(use);
    co_await run_others();
    lent.release();
    co_await next;
    CHECK_FALSE(end);
  });
}

TEST_CASE("a connection that was granted to a waiter that is killed before it runs goes to the next one") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
  world.run([&]() -> task<> {
    auto lent = (co_await pool.acquire()).value();
    auto use = [&]() -> task<> {
      const auto granted = co_await pool.acquire();
      static_cast<void>(co_await sleep_for(1ms));
    };
    auto first = spawn(use), second = spawn(use);
    co_await run_others();
    lent.release();
    first.kill();
    static_cast<void>(co_await first.join());
    co_await second;
    CHECK(pool.statistics().idle == 1);
    CHECK(pool.statistics().lent == 0);
  });
}

TEST_CASE("a connector that throws, hangs or gives a dead connection is an error of the waiter") {
  fake_world world;
  world.run([&]() -> task<> {
    const auto error_with = [&](std::function<task<result<fake_connection>>()> connect) -> task<std::error_code> {
      fake_pool pool(world.lp, std::move(connect), world.options({.connect_time = 2s}));
      const auto lent = co_await pool.acquire();
      co_return lent ? std::error_code() : lent.error();
    };
    auto& server = world.server;
    auto throws = error_with([]() -> task<result<fake_connection>> { throw std::system_error(refused); });
    CHECK(co_await std::move(throws) == refused);
    auto throws_at_once = error_with([]() -> task<result<fake_connection>> {
      co_await yield();
      throw std::bad_alloc();
    });
    CHECK(co_await std::move(throws_at_once) == std::errc::not_enough_memory);
    auto throws_other = error_with([]() -> task<result<fake_connection>> {
      co_await yield();
      throw std::runtime_error("no");
    });
    CHECK(co_await std::move(throws_other) == std::errc::state_not_recoverable);
    const time_point begin = world.clock.now();
    event never;
    server.gate = &never;
    auto hangs = error_with([&] { return connect_to(server); });
    CHECK(co_await std::move(hangs) == std::errc::timed_out);
    CHECK(world.clock.now() - begin >= 2s);
    CHECK(world.clock.now() - begin < 3s);
    server.gate = nullptr;
    server.gives_dead = true;
    auto dead = error_with([&] { return connect_to(server); });
    CHECK(co_await std::move(dead) == std::errc::not_connected);
    CHECK(server.open == 0);
  });
}

TEST_CASE("close() gives each waiter errc::closed, and leases outlive the pool") {
  fake_world world;
  world.run([&]() -> task<> {
    auto pool = std::make_unique<fake_pool>(world.lp, world.connector(), world.options({.limit = 1}));
    auto lent = (co_await pool->acquire()).value();
    std::error_code end;
    auto waiting = spawn([&]() -> task<> { end = (co_await pool->acquire()).error(); });
    co_await run_others();
    pool->close();
    co_await waiting;
    CHECK(end == errc::closed);
    CHECK((co_await pool->acquire()).error() == errc::closed);
    pool.reset();
    CHECK(world.server.open == 1);
    lent->set_state(connection_state::in_transaction);
    lent.release();
    CHECK(world.server.open == 0);
    CHECK(world.server.drains == 0);
  });
}

TEST_CASE("a connect and a drain outlive the pool, and their connections are closed") {
  fake_world world;
  event gate, drain_gate;
  world.server.drain_gate = &drain_gate;
  world.run([&]() -> task<> {
    auto pool = std::make_unique<fake_pool>(world.lp, world.connector(), world.options());
    auto lent = (co_await pool->acquire()).value();
    lent->set_state(connection_state::awaiting_answers);
    lent.release();
    world.server.gate = &gate;
    static_cast<void>(co_await within(1ms, pool->acquire()));
    CHECK(world.server.connecting == 1);
    CHECK(world.server.draining == 1);
    pool.reset();
    gate.set();
    drain_gate.set();
    co_await run_others();
    CHECK(world.server.connects == 2);
    CHECK(world.server.open == 0);
  });
}

TEST_CASE("resize() closes surplus connections, idle ones now and others at their return, and makes room") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 3}));
  world.run([&]() -> task<> {
    auto first = (co_await pool.acquire()).value();
    auto second = (co_await pool.acquire()).value();
    auto third = (co_await pool.acquire()).value();
    third.release();
    pool.resize(1);
    CHECK(world.server.open == 2);
    CHECK((co_await within(1ms, pool.acquire())).error() == std::errc::timed_out);
    first.release();
    CHECK(world.server.open == 1);
    second.release();
    CHECK(world.server.open == 1);
    auto only = (co_await pool.acquire()).value();
    auto waiting = spawn([&]() -> task<bool> { co_return (co_await pool.acquire()).has_value(); });
    co_await run_others();
    pool.resize(2);
    CHECK(co_await waiting);
  });
}

TEST_CASE("the pool's coroutines end with the loop's run, and begin again with the next one") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
  for (int i = 0; i < 3; ++i) {
    world.run([&]() -> task<> {
      auto lent = (co_await pool.acquire()).value();
      lent.discard();
    });
    CHECK(world.lp.live() == 0);
  }
  CHECK(world.server.connects == 3);
}

TEST_CASE("a waiter of another thread gets operation_canceled when the pool's target ends") {
  fake_world world;
  event gate;
  world.server.gate = &gate;
  fake_pool pool(world.lp, world.connector(), world.options());
  loop other;
  auto waiting = spawn(other, [&]() -> task<std::error_code> { co_return (co_await pool.acquire()).error(); });
  other.poll();
  world.run([]() -> task<> { co_await run_others(); });
  other.run();
  CHECK(sync_wait(waiting) == std::errc::operation_canceled);
  CHECK(pool.statistics().connecting == 0);
}

TEST_CASE("acquire() takes part in a select, and the loser takes nothing") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
  world.run([&]() -> task<> {
    auto lent = (co_await pool.acquire()).value();
    event other;
    auto chosen = spawn([&]() -> task<std::size_t> {
      auto arm = co_await select(pool.acquire(), other.wait());
      co_return arm->index();
    });
    co_await run_others();
    other.set();
    CHECK(co_await chosen == 1);
    CHECK(pool.statistics().waiters == 0);
    lent.release();
    CHECK(pool.statistics().idle == 1);
  });
}
