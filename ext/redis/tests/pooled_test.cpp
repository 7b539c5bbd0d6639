// The stress of the invariant, against a server that the test starts: 64 coroutines over 8 connections; each command
// carries a token and checks its answer. Waits end by deadlines, cancels and kills, and the server pauses, from a seed.
#include <hocket/base/random.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/pool/connection_pool.hpp>
#include <hocket/redis/connection.hpp>
#include <hocket/runtime/runtime.hpp>

#include <atomic>
#include <cstdlib>
#include <servers/told.hpp>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;
using hocket_test::server;

namespace {

using redis_pool = connection_pool<redis::connection>;

std::uint64_t seed_of_run() {
  const char* const text = std::getenv("HOCKET_TEST_SEED");
  return text ? std::strtoull(text, nullptr, 10) : hocket::detail::random_seed();
}
unsigned rounds_of_run() {
  const char* const text = std::getenv("HOCKET_TEST_ROUNDS");  // of each coroutine
  return text ? static_cast<unsigned>(std::atoi(text)) : 150;
}

struct tally {
  std::atomic<int> right{0}, wrong{0}, ended{0};
};

std::string text_of(const redis::reply& reply) { return reply->str ? std::string(reply->str, reply->len) : ""; }

// One use of a connection: what kind is chosen by `number`.
task<result<void>> use(redis_pool& pool, std::string token, std::uint64_t number, tally& counts) {
  auto lent = co_await or_return(pool.acquire());
  switch (number % 8) {
    case 0: {
      const std::vector<redis::words> all{{"ECHO", token}, {"ECHO", token + "2"}};
      const auto answers = co_await or_return(lent->pipeline(all));
      const bool is_right = text_of(answers[0]) == token && text_of(answers[1]) == token + "2";
      ++(is_right ? counts.right : counts.wrong);
      break;
    }
    case 1: co_await or_return(lent->command("MULTI")); [[fallthrough]];
    case 2: {
      const auto answer = co_await or_return(lent->command("ECHO", token));
      const std::string expected = number % 8 == 1 ? "QUEUED" : token;
      ++(text_of(answer) == expected ? counts.right : counts.wrong);
      break;  // a transaction is left open
    }
    case 3: co_await or_return(lent->command("BLPOP", "nothing:" + token, "0")); break;
    case 4: co_await or_return(lent->command("SELECT", "1")); break;
    default: {
      const auto answer = co_await or_return(lent->command("ECHO", token));
      ++(text_of(answer) == token ? counts.right : counts.wrong);
    }
  }
  co_return {};
}

}  // namespace

TEST_CASE("64 coroutines over 8 connections, with deadlines, cancels, kills and pauses: no answer is another one's") {
  const server db("HOCKET_REDIS");
  if (!db) return;
  const std::uint64_t seed = seed_of_run();
  const unsigned rounds = rounds_of_run();
  MESSAGE("seed ", seed);
  CAPTURE(seed);
  tally counts;
  runtime rt({.workers = 2});
  redis_pool pool(rt, redis::connector("127.0.0.1", db.port()), {.limit = 8, .drain_time = 200ms});
  const auto work = [&](unsigned index) -> task<> {
    hocket::detail::random_engine random(seed + index);
    for (unsigned i = 0; i < rounds; ++i) {
      const std::string token = std::to_string(index) + "." + std::to_string(i);
      auto one_use = [&pool, &counts, token, number = random()] { return use(pool, token, number, counts); };
      const auto limit = std::chrono::microseconds(random.below(5000));
      auto handle = spawn({.within = 20ms}, std::move(one_use));
      const auto ended = co_await within(limit, handle);
      if (ended) continue;
      ++counts.ended;
      if (random.below(2) == 0) handle.kill();
      else handle.cancel();
      static_cast<void>(co_await handle.join());
    }
  };
  std::atomic<bool> is_over{false};
  auto pauses = spawn(rt, [&]() -> task<> {
    auto own = (co_await redis::connect("127.0.0.1", db.port())).value();
    hocket::detail::random_engine random(seed);
    while (!is_over) {
      static_cast<void>(co_await own.command("CLIENT", "PAUSE", std::to_string(1 + random.below(10)), "ALL"));
      static_cast<void>(co_await sleep_for(std::chrono::milliseconds(20 + random.below(30))));
      if (random.below(8) == 0) static_cast<void>(co_await own.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"));
    }
  });
  std::vector<join_handle<>> all;
  for (unsigned i = 0; i < 64; ++i) {
    if (i % 2 == 0) all.push_back(spawn(rt, work, i));
    else all.push_back(spawn(rt, [&, i] { await(work(i)); }));
  }
  for (auto& each : all) sync_wait(each);
  is_over = true;
  sync_wait(pauses);
  const auto report = sync_wait(pool.graceful_shutdown({.drain = 30s}));
  CHECK(report.remaining == 0);
  MESSAGE(counts.right.load(), " right answers, ", counts.ended.load(), " ended waits, ", pool.statistics().connects,
          " connects, ", pool.statistics().drained, " drained, ", pool.statistics().dropped, " dropped");
  CHECK(counts.wrong == 0);
  CHECK(counts.right > 0);
}
