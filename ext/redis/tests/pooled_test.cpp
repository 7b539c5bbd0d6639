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
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

using redis_pool = connection_pool<redis::connection>;

// The port of the server; 0: there is none.
int port_of_server() {
  const char* const text = std::getenv("HOCKET_REDIS");
  if (!text) MESSAGE("skipped: no server (HOCKET_REDIS): see [clients] in tools/packages.txt");
  return text ? std::atoi(text) : 0;
}
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

// All connections of the pool are idle again: no session is in a transaction, and none has another database.
task<> check_sessions(redis_pool& pool) {
  std::vector<redis_pool::lease> leases;
  for (int i = 0; i < 8; ++i) {
    auto lent = co_await within(10s, pool.acquire());
    REQUIRE(lent.has_value());
    leases.push_back(std::move(*lent));
  }
  const auto listed = co_await leases[0]->command("CLIENT", "LIST");
  const auto own = co_await leases[0]->command("CLIENT", "GETNAME");
  REQUIRE(listed.has_value());
  CHECK(own.has_value());
  const std::string text = text_of(*listed);
  for (std::size_t i = text.find(" multi="); i != std::string::npos; i = text.find(" multi=", i + 1))
    CHECK(text.compare(i, 9, " multi=-1") == 0);
  for (std::size_t i = text.find(" db="); i != std::string::npos; i = text.find(" db=", i + 1))
    CHECK(text.compare(i, 6, " db=0 ") == 0);
}

// Moves jobs to the list of this worker, until all of `jobs` are counted.
task<result<void>> move_job(redis_pool& pool, std::string own_list) {
  auto lent = co_await or_return(pool.acquire());
  co_await or_return(lent->command("BLMOVE", "jobs", own_list, "LEFT", "RIGHT", "0"));
  co_return {};
}

task<long long> length_of(redis::connection& client, std::string list) {
  const auto answer = co_await client.command("LLEN", list);
  co_return answer ? (*answer)->integer : -1;
}

}  // namespace

TEST_CASE("64 coroutines over 8 connections, with deadlines, cancels, kills and pauses: no answer is another one's") {
  const int port = port_of_server();
  if (port == 0) return;
  const std::uint64_t seed = seed_of_run();
  const unsigned rounds = rounds_of_run();
  MESSAGE("seed ", seed);
  CAPTURE(seed);
  tally counts;
  runtime rt({.workers = 2});
  redis_pool pool(rt, redis::connector("127.0.0.1", port), {.limit = 8, .drain_time = 200ms});
  const auto work = [&](unsigned index) -> task<> {
    hocket::detail::random_engine random(seed + index);
    for (unsigned i = 0; i < rounds; ++i) {
      const std::string token = std::to_string(index) + "." + std::to_string(i);
      auto one_use = [&pool, &counts, token, number = random()] { return use(pool, token, number, counts); };
      const auto limit = std::chrono::microseconds(random.below(15000));
      auto handle = spawn({.within = 20ms}, std::move(one_use));
      const auto ended = co_await within(limit, handle);
      if (ended || handle.done()) continue;
      ++counts.ended;
      if (random.below(2) == 0) handle.kill();
      else handle.cancel();
      static_cast<void>(co_await handle.join());
    }
  };
  std::atomic<bool> is_over{false};
  auto pauses = spawn(rt, [&]() -> task<> {
    auto own = (co_await redis::connect("127.0.0.1", port)).value();
    hocket::detail::random_engine random(seed);
    while (!is_over) {
      static_cast<void>(co_await own.command("CLIENT", "PAUSE", std::to_string(1 + random.below(10)), "ALL"));
      static_cast<void>(co_await sleep_for(std::chrono::milliseconds(20 + random.below(30))));
      if (random.below(8) == 0)
        static_cast<void>(co_await own.command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"));
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
  sync_wait(spawn(rt, check_sessions, std::ref(pool)));
  const auto report = sync_wait(pool.graceful_shutdown({.drain = 30s}));
  CHECK(report.remaining == 0);
  MESSAGE(counts.right.load(), " right answers, ", counts.ended.load(), " ended waits, ", pool.statistics().connects,
          " connects, ", pool.statistics().drained, " drained, ", pool.statistics().dropped, " dropped");
  CHECK(counts.wrong == 0);
  CHECK(counts.right > 0);
}

TEST_CASE("jobs that workers take by BLMOVE with deadlines, cancels and kills: each is in exactly one list") {
  const int port = port_of_server();
  if (port == 0) return;
  constexpr unsigned workers = 16;
  constexpr long long jobs = 2000;
  const std::uint64_t seed = seed_of_run();
  MESSAGE("seed ", seed);
  CAPTURE(seed);
  runtime rt({.workers = 2});
  redis_pool pool(rt, redis::connector("127.0.0.1", port), {.limit = 8});
  std::atomic<bool> is_over{false};
  const auto work = [&](unsigned index) -> task<> {
    hocket::detail::random_engine random(seed + index);
    const std::string own_list = "jobs:" + std::to_string(index);
    while (!is_over) {
      auto handle = spawn(move_job, std::ref(pool), own_list);
      const auto ended = co_await within(std::chrono::microseconds(random.below(2000)), handle);
      if (ended || handle.done()) continue;
      if (random.below(2) == 0) handle.kill();
      else handle.cancel();
      static_cast<void>(co_await handle.join());
    }
  };
  std::vector<join_handle<>> all;
  for (unsigned i = 0; i < workers; ++i) all.push_back(spawn(rt, work, i));
  auto count = spawn(rt, [&]() -> task<> {
    auto own = (co_await redis::connect("127.0.0.1", port)).value();
    for (long long i = 0; i < jobs; ++i) static_cast<void>(co_await own.command("RPUSH", "jobs", std::to_string(i)));
    for (long long rest = jobs; rest != 0; rest = co_await length_of(own, "jobs")) static_cast<void>(co_await yield());
    is_over = true;
  });
  sync_wait(count);
  for (auto& each : all) sync_wait(each);
  static_cast<void>(sync_wait(pool.graceful_shutdown({.drain = 30s})));
  auto sum = spawn(rt, [&]() -> task<long long> {
    auto own = (co_await redis::connect("127.0.0.1", port)).value();
    long long total = co_await length_of(own, "jobs");
    for (unsigned i = 0; i < workers; ++i) total += co_await length_of(own, "jobs:" + std::to_string(i));
    co_return total;
  });
  CHECK(sync_wait(sum) == jobs);
}
