// The upkeep of idle connections: looks, pings, ages, warm-up; reports and dumps. On virtual time.
#include <hocket/base/fatal.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/net/service.hpp>

#include "unit/pool/fake_server.hpp"

#include <csignal>
#include <fcntl.h>
#include <string>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;

namespace {

task<> use_once(fake_pool& pool) {
  auto lent = co_await pool.acquire();
  CHECK(lent.has_value());
}

std::string dump_of(loop& lp) {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  lp.dump(ends[1]);
  ::close(ends[1]);
  std::string text(65536, '\0');
  const ssize_t size = ::read(ends[0], text.data(), text.size());
  ::close(ends[0]);
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  return text;
}

std::string logged;

}  // namespace

TEST_CASE("a connection that was idle for less than 10 ms is lent without a look, for longer after a look") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options());
  world.run([&]() -> task<> {
    co_await use_once(pool);
    const int looks = world.server.looks;
    static_cast<void>(co_await sleep_for(9ms));
    co_await use_once(pool);
    CHECK(world.server.looks == looks);
    static_cast<void>(co_await sleep_for(10ms));
    co_await use_once(pool);
    CHECK(world.server.looks == looks + 1);
  });
}

TEST_CASE("a connection that the server has closed is never lent after 10 ms, and no borrower sees it") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options());
  world.run([&]() -> task<> {
    {
      auto first = (co_await pool.acquire()).value(), second = (co_await pool.acquire()).value();
    }
    world.server.dead = {1, 2};
    static_cast<void>(co_await sleep_for(10ms));
    const auto lent = (co_await pool.acquire()).value();
    CHECK(lent->id() == 3);
    CHECK(world.server.open == 1);
    CHECK(pool.statistics().dead == 2);
  });
}

TEST_CASE("the maintenance finds dead connections while they are idle, within a second or so") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options());
  world.run([&]() -> task<> {
    {
      auto first = (co_await pool.acquire()).value(), second = (co_await pool.acquire()).value();
    }
    world.server.dead = {1};
    static_cast<void>(co_await sleep_for(2500ms));
    CHECK(world.server.open == 1);
    CHECK(pool.statistics().dead == 1);
    CHECK(pool.statistics().idle == 1);
    world.server.dead = {1, 2};
    static_cast<void>(co_await sleep_for(2500ms));
    CHECK(pool.statistics().size == 0);
  });
}

TEST_CASE("a connection that was idle for longer than max_idle is closed, the others stay") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.max_idle = 10s}));
  world.run([&]() -> task<> {
    {
      auto first = (co_await pool.acquire()).value(), second = (co_await pool.acquire()).value();
    }
    for (int i = 0; i < 6; ++i) {
      static_cast<void>(co_await sleep_for(2s));
      co_await use_once(pool);  // the same one each time
    }
    CHECK(world.server.open == 1);
    CHECK(pool.statistics().expired == 1);
    CHECK(world.server.connects == 2);
  });
}

TEST_CASE("a connection is closed at its max_lifetime, less up to a tenth, idle or returned") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.max_lifetime = 100s}));
  world.run([&]() -> task<> {
    std::vector<fake_pool::lease> leases;
    for (int i = 0; i < 16; ++i) leases.push_back((co_await pool.acquire()).value());
    leases.resize(8);
    static_cast<void>(co_await sleep_for(89s));
    CHECK(world.server.open == 16);
    static_cast<void>(co_await sleep_for(5s));
    const int by_chance = world.server.open;  // not all at the same time
    CHECK(by_chance > 8);
    static_cast<void>(co_await sleep_for(8s));
    CHECK(world.server.open == 8);  // those that are lent
    leases.clear();
    CHECK(world.server.open == 0);
    CHECK(pool.statistics().expired == 16);
  });
}

TEST_CASE("a pool connects until it has min_size connections, and replaces those that end") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 5, .min_size = 3}));
  world.run([&]() -> task<> {
    static_cast<void>(co_await sleep_for(1ms));
    CHECK(world.server.open == 3);
    CHECK(pool.statistics().idle == 3);
    world.server.dead = {1, 2};
    static_cast<void>(co_await sleep_for(2500ms));
    CHECK(world.server.open == 3);
    CHECK(world.server.connects == 5);
  });
}

TEST_CASE("a connection that was idle for longer than ping_after is pinged, and closed if the server does not answer") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.ping_after = 5s}));
  world.run([&]() -> task<> {
    co_await use_once(pool);
    static_cast<void>(co_await sleep_for(4s));
    CHECK(world.server.pings == 0);
    static_cast<void>(co_await sleep_for(9s));
    CHECK(world.server.pings == 2);
    CHECK(pool.statistics().idle == 1);
    world.server.ping_error = std::make_error_code(std::errc::timed_out);
    static_cast<void>(co_await sleep_for(7s));
    CHECK(world.server.open == 0);
    CHECK(pool.statistics().dead == 1);
  });
}

TEST_CASE("a lease that is held for longer than the limit is reported once, with the places of its holder") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.report_lease_after = 5s, .name = "db"}));
  logged.clear();
  const log_handler previous = set_log_handler([](const char* text) noexcept { logged += std::string(text) + "\n"; });
  unsigned line = 0;
  world.run([&]() -> task<> {
    auto hold = [&]() -> task<> {
      line = __LINE__ + 1;
      auto lent = (co_await pool.acquire()).value();
      static_cast<void>(co_await sleep_for(20s));
    };
    auto held = spawn({.name = "holder", .location = std::source_location::current()}, hold);
    static_cast<void>(co_await sleep_for(4s));
    CHECK(logged.empty());
    co_await held;
  });
  set_log_handler(previous);
  CHECK(logged.find("pool \"db\"") != std::string::npos);
  CHECK(logged.find("upkeep_test.cpp:" + std::to_string(line)) != std::string::npos);
  CHECK(std::count(logged.begin(), logged.end(), '\n') == 1);
}

TEST_CASE("a dump has a row for the pool: waiters, leases, the places of the holders, the longest lease") {
  fake_world world;
  fake_pool pool(world.lp, world.connector(), world.options({.limit = 2, .name = "db"}));
  fake_pool other(world.lp, world.connector(), world.options({.name = "other"}));
  std::string text;
  world.run([&]() -> task<> {
    auto first = (co_await pool.acquire()).value();
    static_cast<void>(co_await sleep_for(3s));
    auto second = (co_await pool.acquire()).value();
    std::vector<join_handle<>> waiting;
    for (int i = 0; i < 17; ++i) waiting.push_back(spawn(use_once, std::ref(pool)));
    co_await run_others();
    text = dump_of(world.lp);
    first.release();
    second.release();
    for (auto& each : waiting) co_await each;
  });
  CHECK(text.find("pool \"db\": 17 waiters, 2 lent, 0 idle, 0 connecting, 0 returning; limit 2; longest lease 3") !=
        std::string::npos);
  CHECK(text.find("acquired at") != std::string::npos);
  CHECK(text.find("upkeep_test.cpp:") != std::string::npos);
  CHECK(text.find("pool \"other\"") != std::string::npos);
  loop elsewhere;
  CHECK(dump_of(elsewhere).find("pool") == std::string::npos);
}

TEST_CASE("the end of a pool waits for no connect, and for a drain") {
  fake_world world;
  event never, drained;
  fake_pool pool(world.lp, world.connector(), world.options());
  world.run([&]() -> task<> {
    auto lent = (co_await pool.acquire()).value();
    world.server.gate = &never;
    world.server.drain_gate = &drained;
    CHECK((co_await within(1ms, pool.acquire())).error() == std::errc::timed_out);
    CHECK(world.server.connecting == 1);
    lent->set_state(connection_state::awaiting_answers);
    lent.release();
    const time_point begin = now();
    auto end = spawn([&] { return pool.graceful_shutdown({.drain = 1s}); });
    co_await run_others();
    CHECK_FALSE(end.done());
    drained.set();
    const shutdown_report report = co_await end;
    CHECK(report.drained == 1);
    CHECK(report.remaining == 0);
    CHECK(now() == begin);
    CHECK(world.server.connecting == 1);
  });
}

TEST_CASE("a pool ends as a part of a service: it waits for its leases, and reports them") {
  for (const bool is_leaked : {false, true}) {
    fake_server server;
    hocket::runtime rt({.workers = 1});
    fake_pool pool(rt, connect_fake{&server}, {.limit = 1});
    event gate, is_lent;
    auto hold = spawn(rt, [&]() -> task<> {
      auto lent = (co_await pool.acquire()).value();
      is_lent.set();
      CHECK((co_await pool.acquire()).error() == errc::closed);  // by the end of the service
      if (is_leaked) static_cast<void>(co_await gate.wait());
    });
    sync_wait(is_lent.wait()).value();
    service all(rt);
    all.add(pool, "database");
    all.end();
    const service_report report = all.run_until({SIGUSR1}, {.drain = is_leaked ? 10ms : 1h, .report = -1});
    REQUIRE(report.parts.size() == 2);
    CHECK(report.parts[0].name == "database");
    CHECK(report.parts[0].report.drained == (is_leaked ? 0 : 1));
    CHECK(report.parts[0].report.remaining == (is_leaked ? 1 : 0));
    CHECK(report.exit_code() == (is_leaked ? 1 : 0));
    CHECK(server.open == 0);
  }
}
