// The return of a connection: drains, hooks, and what is never lent. On virtual time.
#include <hocket/core/sync_wait.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>

#include "unit/pool/fake_server.hpp"

#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr connection_state in_doubt[] = {connection_state::awaiting_answers, connection_state::in_transaction,
                                         connection_state::subscribed, connection_state::copying,
                                         connection_state::changed};

// Without drain(), ping() and accept_session().
struct plain_connection {
  connection_state now = connection_state::idle;
  connection_state state() const noexcept { return now; }
  bool is_idle() noexcept { return now == connection_state::idle; }
};
task<result<plain_connection>> connect_plain() { co_return plain_connection{}; }

}  // namespace

TEST_CASE("a connection that is returned in doubt is drained before it is lent, in every state") {
  for (const connection_state state : in_doubt) {
    fake_world world;
    event gate;
    world.server.drain_gate = &gate;
    fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
    world.run([&]() -> task<> {
      auto lent = (co_await pool.acquire()).value();
      lent->set_state(state);
      lent.release();
      CHECK(pool.statistics().returning == 1);
      auto next = spawn([&]() -> task<connection_state> { co_return (co_await pool.acquire()).value()->state(); });
      co_await run_others();
      CHECK_FALSE(next.done());
      gate.set();
      CHECK(co_await next == connection_state::idle);
      CHECK(world.server.connects == 1);
      CHECK(pool.statistics().drained == 1);
    });
  }
}

TEST_CASE("a connection whose drain fails, or is broken, is closed, and another one takes its place") {
  for (const bool is_broken : {false, true}) {
    fake_world world;
    world.server.drain_error = std::make_error_code(std::errc::protocol_error);
    fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
    world.run([&]() -> task<> {
      auto lent = (co_await pool.acquire()).value();
      lent->set_state(is_broken ? connection_state::broken : connection_state::in_transaction);
      auto next = spawn([&]() -> task<int> { co_return (co_await pool.acquire()).value()->id(); });
      co_await run_others();
      lent.release();
      CHECK(co_await next == 2);
      CHECK(world.server.open == 1);
      CHECK(world.server.drains == (is_broken ? 0 : 1));
      CHECK(pool.statistics().dropped == 1);
    });
  }
}

TEST_CASE("a connection in doubt without drain() is closed") {
  fake_world world;
  connection_pool<plain_connection> pool(world.lp, connect_plain, world.options());
  world.run([&]() -> task<> {
    auto lent = (co_await pool.acquire()).value();
    lent->now = connection_state::changed;
    lent.release();
    CHECK(pool.statistics().size == 0);
    CHECK(pool.statistics().dropped == 1);
  });
}

TEST_CASE("drains are bounded in number and in time") {
  fake_world world;
  event never;
  world.server.drain_gate = &never;
  fake_pool pool(world.lp, world.connector(), world.options({.drain_time = 3s, .max_drains = 2}));
  world.run([&]() -> task<> {
    std::vector<fake_pool::lease> leases;
    for (int i = 0; i < 5; ++i) leases.push_back((co_await pool.acquire()).value());
    for (auto& each : leases) each->set_state(connection_state::awaiting_answers);
    leases.clear();
    co_await run_others();
    CHECK(world.server.max_draining == 2);
    CHECK(world.server.open == 2);
    static_cast<void>(co_await sleep_for(2s));
    CHECK(world.server.open == 2);
    static_cast<void>(co_await sleep_for(1500ms));
    CHECK(world.server.open == 0);
    CHECK(pool.statistics().returning == 0);
    CHECK(pool.statistics().dropped == 5);
  });
}

TEST_CASE("a lease that ends while its coroutine unwinds, or is killed, returns its connection by its state") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options());
  world.run([&]() -> task<> {
    auto use = [&]() -> task<> {
      auto lent = (co_await pool.acquire()).value();
      lent->set_state(connection_state::in_transaction);
      static_cast<void>(co_await sleep_for(1h));
    };
    auto killed = spawn(use);
    co_await run_others();
    killed.kill();
    static_cast<void>(co_await killed.join());
    co_await run_others();
    CHECK(world.server.drains == 1);
    CHECK(pool.statistics().idle == 1);
  });
}

TEST_CASE("connections that the warm-up makes before the hook on create is set are closed, also if they connect then") {
  for (const bool is_connecting : {false, true}) {
    fake_world world;
    fake_pool pool(world.lp, world.connector(), world.options({.limit = 4, .min_size = 2}));
    std::set<int> prepared;
    const auto set_hook = [&] {
      pool.on_create([&](fake_connection& created) -> task<result<void>> {
        prepared.insert(created.id());
        co_return {};
      });
    };
    if (is_connecting) world.server.at_accept = set_hook;
    world.run([&]() -> task<> {
      co_await run_others();
      CHECK(world.server.open == 2);
      if (!is_connecting) set_hook();
      co_await run_others();
      CHECK(world.server.connects == (is_connecting ? 3 : 4));
      CHECK(world.server.open == 2);
      CHECK(pool.statistics().idle == 2);
      const auto first = (co_await pool.acquire()).value(), second = (co_await pool.acquire()).value();
      CHECK(prepared == std::set<int>{first->id(), second->id()});
    });
  }
}

TEST_CASE("the hook on create runs before the first lease, may wait, and its error fails the connect") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
  std::vector<std::string> order;
  bool fails = true;
  pool.on_create([&](fake_connection& created) -> task<result<void>> {
    static_cast<void>(co_await sleep_for(5ms));
    order.push_back("create");
    CHECK(world.server.accepted == 0);
    created.set_state(connection_state::idle);
    if (std::exchange(fails, false)) co_return failure(std::errc::permission_denied);
    co_return {};
  });
  world.run([&]() -> task<> {
    CHECK((co_await pool.acquire()).error() == std::errc::permission_denied);
    CHECK(world.server.open == 0);
    const auto lent = (co_await pool.acquire()).value();
    order.push_back("lent");
    CHECK(world.server.accepted == 1);
  });
  CHECK(order == std::vector<std::string>{"create", "create", "lent"});
}

TEST_CASE("the hook on recycle runs after each return and after the drain, and its error closes the connection") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
  int recycled = 0;
  bool fails = false;
  pool.on_recycle([&](fake_connection& used) -> task<result<void>> {
    CHECK(used.state() == connection_state::idle);
    static_cast<void>(co_await sleep_for(5ms));
    ++recycled;
    if (fails) co_return failure(std::errc::io_error);
    co_return {};
  });
  world.run([&]() -> task<> {
    for (const connection_state state : {connection_state::idle, connection_state::in_transaction}) {
      auto lent = (co_await pool.acquire()).value();
      lent->set_state(state);
    }
    auto lent = (co_await pool.acquire()).value();
    CHECK(recycled == 2);
    CHECK(world.server.drains == 1);
    CHECK(lent->id() == 1);
    fails = true;
    lent.release();
    const auto other = (co_await pool.acquire()).value();
    CHECK(other->id() == 2);
    CHECK(world.server.open == 1);
  });
}

TEST_CASE("a hook that throws or hangs closes the connection") {
  for (const bool hangs : {false, true}) {
    fake_world world;
    fake_pool pool(world.lp, world.connector(), world.options({.drain_time = 1s}));
    event never;
    pool.on_recycle([&](fake_connection&) -> task<result<void>> {
      if (!hangs) throw 7;
      co_await or_return(never.wait());
      co_return {};
    });
    world.run([&]() -> task<> {
      (co_await pool.acquire()).value().release();
      static_cast<void>(co_await sleep_for(1100ms));
      CHECK(world.server.open == 0);
      CHECK(pool.statistics().size == 0);
    });
  }
}

TEST_CASE("a connector and hooks that are plain functions run as fibers, and may wait there") {
  fake_world world;
  fake_pool pool(
      world.lp,
      [&]() -> result<fake_connection> {
        static_cast<void>(await(sleep_for(3ms)));
        return await(connect_to(world.server));
      },
      world.options({.limit = 1}));
  int hooks = 0;
  const auto hook = [&](fake_connection&) -> result<void> {
    static_cast<void>(await(sleep_for(3ms)));
    ++hooks;
    return {};
  };
  pool.on_create(hook);
  pool.on_recycle(hook);
  auto in_fiber = spawn(world.lp, [&] {
    for (int i = 0; i < 2; ++i) {
      auto lent = await(within(1s, pool.acquire())).value();
      CHECK(lent->id() == 1);
    }
  });
  world.lp.run();
  sync_wait(in_fiber);
  CHECK(hooks >= 2);
}

TEST_CASE("the exception of a connector that runs as a fiber is the error of its waiter") {
  fake_world world;
  fake_pool pool(
      world.lp, []() -> result<fake_connection> { throw std::system_error(ECONNREFUSED, std::system_category()); },
      world.options({.limit = 1}));
  world.run([&]() -> task<> {
    const auto lent = co_await pool.acquire();
    REQUIRE_FALSE(lent);
    CHECK(lent.error() == std::errc::connection_refused);
  });
}

TEST_CASE("discard() closes the connection, and makes room for the next waiter") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 1}));
  world.run([&]() -> task<> {
    auto lent = (co_await pool.acquire()).value();
    auto next = spawn([&]() -> task<int> { co_return (co_await pool.acquire()).value()->id(); });
    co_await run_others();
    lent.discard();
    CHECK(co_await next == 2);
    CHECK(world.server.open == 1);
  });
}
