// hocket::redis against a server that the test starts.
#include <hocket/redis/connection.hpp>

#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/pool.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <servers/on_loop.hpp>
#include <servers/server.hpp>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;
using hocket_test::on_loop;
using hocket_test::server;

namespace {

task<redis::connection> connect(const server& db) {
  co_return (co_await redis::connect("127.0.0.1", db.port())).value();
}

std::string text_of(const redis::reply& reply) { return reply->str ? std::string(reply->str, reply->len) : "no text"; }

redis::words echo(std::string text) { return {"ECHO", std::move(text)}; }

task<std::string> answer_to(task<result<redis::reply>> command) {
  const auto reply = co_await std::move(command);
  co_return reply ? text_of(*reply) : reply.error().message();
}
template <class... Words>
task<std::string> ask(redis::connection& db, const Words&... words) {
  return answer_to(db.command(words...));
}

}  // namespace

TEST_CASE("a command is a list of words, of any bytes") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = co_await connect(db);
    const std::string odd("a b\r\n%s\0c", 10), large(5'000'000, 'z');
    CHECK(co_await ask(own, "SET", "odd", odd) == "OK");
    CHECK(co_await ask(own, "GET", "odd") == odd);
    CHECK(co_await ask(own, "ECHO", large) == large);
    const auto number = co_await own.command("STRLEN", "odd");
    CHECK((*number)->integer == 10);
    CHECK(redis::is_idle(own));
  });
}

TEST_CASE("a refusal of the server is a reply; expect() makes it an error") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = co_await connect(db);
    auto wrong = co_await own.command("NONSENSE");
    CHECK((*wrong)->type == REDIS_REPLY_ERROR);
    CHECK(redis::expect(std::move(wrong)).error() == std::errc::bad_message);
    CHECK(redis::expect(co_await own.command("PING")).has_value());
  });
}

TEST_CASE("a list of words is written where it is awaited") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  const auto echo_of = [](redis::connection& own, std::string text) -> task<result<std::string>> {
    const redis::reply answer = co_await or_return(own.run({"ECHO", "a word that is not short: " + text}));
    co_return text_of(answer);
  };
  on_loop([&]() -> task<> {
    auto own = co_await connect(db);
    CHECK((co_await echo_of(own, "a text that is not short")).value() ==
          "a word that is not short: a text that is not short");
  });
}

TEST_CASE("a command may be awaited after its words were destroyed") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = co_await connect(db);
    std::vector<redis::words> all{echo("a text that is not short"), echo("another")};
    auto first = own.run(all[0]);
    auto both = own.pipeline(all);
    all.clear();
    CHECK(text_of((co_await std::move(first)).value()) == "a text that is not short");
    CHECK(text_of((co_await std::move(both)).value()[1]) == "another");
  });
}

TEST_CASE("a pipeline is one trip, and its answers come in order") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto own = co_await connect(db);
    std::vector<redis::words> all;
    for (int i = 0; i < 10'000; ++i) all.push_back(echo(std::to_string(i) + std::string(200, '.')));
    const auto replies = co_await own.pipeline(all);
    REQUIRE(replies.has_value());
    REQUIRE(replies->size() == 10'000);
    CHECK(text_of((*replies)[9'999]) == "9999" + std::string(200, '.'));
    CHECK((co_await own.pipeline({}))->empty());
  });
}

TEST_CASE("a blocking command that a deadline ends leaves a connection that a pool discards") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  pool<redis::connection> all({.limit = 1, .check = redis::is_idle});
  on_loop([&]() -> task<> {
    {
      auto lent = (co_await all.borrow()).value();
      lent.emplace(co_await connect(db));
      const auto late = co_await within(10ms, lent->command("BLPOP", "nothing", "60"));
      CHECK(late.error() == std::errc::timed_out);
      CHECK(lent->state() == connection_state::broken);
    }
    CHECK(all.idle() == 1);
    const auto next = (co_await all.borrow()).value();
    CHECK_FALSE(next);
  });
}

TEST_CASE("a subscriber awaits messages") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  on_loop([&]() -> task<> {
    auto hears = co_await connect(db), says = co_await connect(db);
    CHECK((co_await hears.command("SUBSCRIBE", "news")).has_value());
    CHECK((co_await says.command("PUBLISH", "news", "hello")).value()->integer == 1);
    const auto message = co_await hears.next();
    CHECK(std::string((*message)->element[2]->str) == "hello");
  });
}

TEST_CASE("an unreachable server is an error, and so is a server that disconnects") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  on_loop([&]() -> task<> {
    const auto away = co_await redis::connect("127.0.0.1", 1);
    CHECK(away.error() == std::errc::connection_refused);
    auto own = co_await connect(db), other = co_await connect(db);
    const auto id = (co_await own.command("CLIENT", "ID")).value()->integer;
    CHECK((co_await other.command("CLIENT", "KILL", "ID", std::to_string(id))).value()->integer == 1);
    const auto reply = co_await own.command("PING");
    CHECK(reply.error() == std::errc::connection_reset);
    CHECK_FALSE(redis::is_idle(own));
  });
}

TEST_CASE("fibers, threads, and many tasks on several workers") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  auto of_thread = sync_wait(connect(db));
  CHECK(sync_wait(ask(of_thread, "ECHO", "thread")) == "thread");
  pool<redis::connection> all({.limit = 8, .check = redis::is_idle});
  std::atomic<int> right{0};
  runtime rt({.workers = 4});
  std::vector<join_handle<>> both;
  for (int i = 0; i < 200; ++i) {
    const std::string word = std::to_string(i);
    both.push_back(spawn(rt, [&, word]() -> task<> {
      auto lent = (co_await all.borrow()).value();
      if (!lent) lent.emplace(co_await connect(db));
      right += co_await ask(*lent, "ECHO", word) == word;
    }));
    both.push_back(spawn(rt, [&, word] {
      auto lent = await(all.borrow()).value();
      if (!lent) lent.emplace(await(connect(db)));
      right += await(ask(*lent, "ECHO", word)) == word;
    }));
  }
  for (auto& handle : both) sync_wait(handle);
  CHECK(right == 400);
}
