// redis::connection in a connection_pool, against a scripted server: what one borrower leaves is nothing to the next.
#include <hocket/pool/connection_pool.hpp>

#include "scripted_server.hpp"
#include "support/waits.hpp"

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

using redis_pool = connection_pool<redis::connection>;

task<std::string> ask(redis_pool& pool, std::string key) {
  auto lent = co_await pool.acquire();
  if (!lent) co_return lent.error().message();
  co_return text_of(co_await (*lent)->command("GET", key));
}

// The first borrower has sent GET apple, and its wait has ended.
task<> abandon(redis_pool& pool, scripted_peer& peer, ending way) {
  auto ended = end_call(
      way,
      [&]() -> task<result<void>> {
        auto lent = co_await or_return(pool.acquire());
        co_await or_return(lent->command("GET", "apple"));
        co_return {};
      },
      [&] { return peer.expect({"GET", "apple"}); });
  co_await std::move(ended);
}

}  // namespace

TEST_CASE("a connection with an outstanding answer is lent again after the answer was dropped") {
  for (const ending way : all_endings)
    in_each_kind([&]() -> task<> {
      scripted_server server;
      runtime rt({.workers = 1});
      redis_pool pool(rt, redis::connector("127.0.0.1", server.port()), {.limit = 1});
      auto first = spawn([&] { return ask(pool, "first"); });
      auto peer = co_await server.accept();
      co_await peer.expect({"GET", "first"});
      co_await peer.send(bulk("1"));
      CHECK((co_await first) == "1");
      co_await abandon(pool, peer, way);
      auto plum = spawn([&] { return ask(pool, "plum"); });
      co_await peer.send(bulk("red"));
      co_await peer.expect({"GET", "plum"});
      co_await peer.send(bulk("blue"));
      CHECK((co_await plum) == "blue");
      CHECK(pool.statistics().connects == 1);
    });
}

TEST_CASE("a connection whose answer does not arrive is closed after drain_time, and another connection is lent") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    runtime rt({.workers = 1});
    redis_pool pool(rt, redis::connector("127.0.0.1", server.port()), {.limit = 1, .drain_time = 20ms});
    auto first = spawn([&] { return ask(pool, "first"); });
    auto peer = co_await server.accept();
    co_await peer.expect({"GET", "first"});
    co_await peer.send(bulk("1"));
    static_cast<void>(co_await first);
    co_await abandon(pool, peer, ending::cancelled);
    auto plum = spawn([&] { return ask(pool, "plum"); });
    CHECK((co_await peer.rest()).empty());  // the end
    auto other = co_await server.accept();
    co_await other.expect({"GET", "plum"});
    co_await other.send(bulk("blue"));
    CHECK((co_await plum) == "blue");
  });
}

TEST_CASE("a transaction that a borrower leaves open is discarded, and a changed session is closed") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    runtime rt({.workers = 1});
    redis_pool pool(rt, redis::connector("127.0.0.1", server.port()), {.limit = 1});
    auto leaves = [&](const char* name) -> task<> {
      auto lent = (co_await pool.acquire()).value();
      static_cast<void>(co_await lent->command(name, "1"));
    };
    auto watcher = spawn(leaves, "WATCH");
    auto peer = co_await server.accept();
    co_await peer.expect({"WATCH", "1"});
    co_await peer.send("+OK\r\n");
    co_await watcher;
    co_await peer.expect({"UNWATCH"});
    co_await peer.send("+OK\r\n");
    auto selector = spawn(leaves, "SELECT");
    co_await peer.expect({"SELECT", "1"});
    co_await peer.send("+OK\r\n");
    co_await selector;
    CHECK((co_await peer.rest()).empty());
    CHECK(pool.statistics().dropped == 1);
  });
}

TEST_CASE("what a connector does to the session belongs to it") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    runtime rt({.workers = 1});
    const auto connect = [&]() -> task<result<redis::connection>> {
      auto client = co_await or_return(redis::connect("127.0.0.1", server.port()));
      co_await or_return(client.command("SELECT", "3"));
      co_return client;
    };
    redis_pool pool(rt, connect, {.limit = 1});
    auto plum = spawn([&] { return ask(pool, "plum"); });
    auto peer = co_await server.accept();
    co_await peer.expect({"SELECT", "3"});
    co_await peer.send("+OK\r\n");
    co_await peer.expect({"GET", "plum"});
    co_await peer.send(bulk("blue"));
    CHECK((co_await plum) == "blue");
  });
}

TEST_CASE("after a restart of the server no borrower gets a connection that was idle for 10 ms and has ended") {
  in_each_kind([]() -> task<> {
    for (const bool resets : {false, true}) {
      scripted_server server;
      runtime rt({.workers = 1});
      redis_pool pool(rt, redis::connector("127.0.0.1", server.port()), {.limit = 4});
      std::vector<scripted_peer> peers;
      {
        std::vector<redis_pool::lease> leases;
        for (int i = 0; i < 4; ++i) {
          auto lent = co_await pool.acquire();
          leases.push_back(std::move(lent).value());
          auto peer = co_await server.accept();
          peers.push_back(std::move(peer));
        }
      }
      for (auto& peer : peers) {
        if (resets) peer.reset();
        else peer.close();
      }
      static_cast<void>(co_await sleep_for(10ms));  // the time that the promise names
      auto plum = spawn([&] { return ask(pool, "plum"); });
      auto peer = co_await server.accept();
      co_await peer.expect({"GET", "plum"});
      co_await peer.send(bulk("blue"));
      CHECK((co_await plum) == "blue");
      CHECK(pool.statistics().dead == 4);
    }
  });
}

TEST_CASE("a thousand reconnects leave no descriptor") {
  in_each_kind([]() -> task<> {
    scripted_server server;
    runtime rt({.workers = 1});
    redis_pool pool(rt, redis::connector("127.0.0.1", server.port()), {.limit = 1});
    std::size_t before = 0;
    for (int i = 0; i < 1000; ++i) {
      auto lent = co_await pool.acquire();
      REQUIRE(lent.has_value());
      auto peer = co_await server.accept();
      lent->discard();
      if (i == 10) before = open_numbers();  // the drivers exist
    }
    CHECK(open_numbers() <= before);
    CHECK(pool.statistics().connects == 1000);
  });
}
