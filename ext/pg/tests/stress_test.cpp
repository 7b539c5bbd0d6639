// The invariant: no statement gets the answer of another. 64 coroutines share 8 connections of a real server. Every
// query carries a token, and its answer must be that token. Deadlines, cancels, kills and ended backends come from a
// printed seed. HOCKET_PG_STRESS sets the number of queries, HOCKET_PG_SEED the seed.
#include <hocket/pg/connection.hpp>
#include <hocket/pg/transaction.hpp>

#include <hocket/base/random.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/pool.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <random>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

using detail::random_engine;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

struct counts {
  std::atomic<std::uint64_t> answered{0}, wrong{0}, ended{0}, drained{0}, dropped{0}, refused{0};
};

struct stress {
  std::string where;
  std::uint64_t seed;
  counts totals{};
  pool<pg::connection> all{{.limit = 8, .check = pg::is_idle}};
  std::atomic<std::int64_t> remaining;
};

std::string value_of(const pg::rows& answer) { return PQntuples(answer.get()) ? PQgetvalue(answer.get(), 0, 0) : ""; }

// One statement of a kind, by a token. The value in its answer.
task<result<std::string>> ask(pg::connection& db, std::uint32_t kind, std::string token) {
  switch (kind) {
    case 0: co_return value_of(co_await or_return(db.query("select '" + token + "'")));
    case 1: co_return value_of(co_await or_return(db.query("select $1 from pg_sleep(0.001)", token)));
    case 2: {
      const std::string_view values[] = {token};
      const pg::statement both[] = {{"select 'other'"}, {"select $1 from pg_sleep(0.0005)", values}};
      const auto answers = co_await or_return(db.pipeline(both));
      co_return value_of(answers.back());
    }
    default: {
      pg::transaction open = co_await or_return(pg::begin(db));
      const pg::rows answer = co_await or_return(db.query("select $1 from pg_sleep(0.0005)", token));
      if (kind == 3) co_await or_return(open.commit());
      co_return value_of(answer);
    }
  }
}

void judge(stress& run, const result<std::string>& answer, const std::string& token) {
  if (answer) run.totals.answered += 1, run.totals.wrong += *answer != token;
  else if (answer.error() == pg::errc::answers_outstanding) ++run.totals.refused;
  else ++run.totals.ended;
}

// A connection in doubt is drained or dropped.
task<> restore(stress& run, pool<pg::connection>::lease& lent, random_engine& random) {
  if (lent->state() == connection_state::idle) co_return;
  if (random.below(4) != 0) {
    const auto drained = co_await lent->drain(2s);
    run.totals.drained += drained.has_value();
    if (drained) co_return;
  }
  ++run.totals.dropped;
  lent.discard();
}

task<result<void>> use_connection(stress& run, random_engine& random) {
  auto lent = co_await or_return(run.all.borrow());
  if (!lent) lent.emplace(co_await or_return(pg::connect(run.where)));
  const int rounds = 1 + static_cast<int>(random.below(4));
  for (int i = 0; i < rounds && lent; ++i) {
    const std::string token = std::to_string(random());
    const auto limit = std::chrono::microseconds(random.below(3) == 0 ? random.below(1500) : 5'000'000);
    judge(run, co_await within(limit, ask(*lent, random.below(5), token)), token);
    co_await restore(run, lent, random);
    --run.remaining;
  }
  co_return {};
}

task<> work(stress& run, std::uint64_t seed) {
  random_engine random(seed);
  while (run.remaining > 0) {
    const auto ended = co_await use_connection(run, random);
    if (!ended && ended.error() == std::errc::operation_canceled) co_return;
  }
}

// Keeps 64 workers running, and cancels or kills one of them after each millisecond. Ends a backend now and then.
task<> disturb(runtime& rt, stress& run) {
  random_engine random(run.seed);
  std::vector<join_handle<>> workers;
  for (int i = 0; i < 64; ++i) workers.push_back(spawn(rt, work, std::ref(run), random()));
  auto own = (co_await pg::connect(run.where)).value();
  while (run.remaining > 0) {
    static_cast<void>(co_await sleep_for(1ms));
    auto& chosen = workers[random.below(64)];
    if (random.below(2) == 0) chosen.cancel();
    else chosen.kill();
    static_cast<void>(co_await chosen.join());
    chosen = spawn(rt, work, std::ref(run), random());
    if (random.below(50) == 0)
      static_cast<void>(co_await own.query(
          "select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend' and "
          "pid <> pg_backend_pid() order by random() limit 1"));
  }
  for (auto& each : workers) static_cast<void>(co_await each.join());
  const auto open = co_await own.query(
      "select count(*) from pg_stat_activity where state like 'idle in transaction%' and backend_type = 'client "
      "backend'");
  CHECK(value_of(open.value()) == "0");
}

}  // namespace

TEST_CASE("no statement gets the answer of another, whatever ends the statements before it") {
  const char* const where = std::getenv("HOCKET_POSTGRES");
  if (!where) {
    MESSAGE("skipped: no server (HOCKET_POSTGRES)");
    return;
  }
  stress run{.where = where,
             .seed = number_from("HOCKET_PG_SEED", std::random_device{}()),
             .remaining{static_cast<std::int64_t>(number_from("HOCKET_PG_STRESS", 3000))}};
  CAPTURE(run.seed);
  {
    runtime rt({.workers = 2});
    sync_wait(spawn(rt, disturb, std::ref(rt), std::ref(run)));
  }
  MESSAGE("seed ", run.seed, ": answered ", run.totals.answered.load(), ", ended ", run.totals.ended.load(),
          ", drained ", run.totals.drained.load(), ", dropped ", run.totals.dropped.load());
  CHECK(run.totals.wrong == 0);
  CHECK(run.totals.refused == 0);
  CHECK(run.totals.answered > 0);
}
