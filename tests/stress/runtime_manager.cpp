// Task managers by brute force, on runtimes of 1 to 4 workers and from threads beside them (FAULTS 12 to 19): whatever
// meets whatever, each spawned coroutine ends in one way, each promised reply has one outcome, and nothing is left:
// neither a place nor a count, nor the manager's own enrolment at the runtime, whose end would wait for it.
#include <hocket/runtime/runtime.hpp>

#include "stress/managed_races.hpp"

using namespace hocket_test;

namespace {

constexpr bool quick = detail::sanitizer != detail::sanitizer_kind::plain || detail::conforming_mode;
constexpr int rounds = quick ? 100 : 400;
constexpr int actions = quick ? 100 : 300;
constexpr int deadlines_each = quick ? 1000 : 3000;
constexpr std::size_t thread_count = 3;

void check_manager(managed_arena& in) {
  const manager_counts counts = in.tm.counts();
  REQUIRE(in.tm.size() == 0);
  REQUIRE(counts.live == 0);
  REQUIRE(counts.expected == 0);
  REQUIRE(counts.spawned == static_cast<std::size_t>(in.spawned));
  REQUIRE(counts.refused >= static_cast<std::size_t>(in.refused));
  REQUIRE(counts.spawned == counts.returned + counts.thrown + counts.cancelled + counts.timed_out + counts.killed);
  REQUIRE(counts.promised == counts.completed + counts.expired + counts.abandoned);
  REQUIRE(counts.completed == static_cast<std::size_t>(in.completed + in.failed));
  REQUIRE(in.received <= in.completed);
  for (std::uint64_t group = 0; group < 4; ++group) REQUIRE(in.tm.group_size(group) == 0);
}

// `frames`: the clock that the manager goes by, which two threads move meanwhile; null: the runtime's.
void act_on_threads(managed_arena& in, detail::random_engine& random, manual_clock* frames) {
  std::atomic<bool> over{false};
  std::vector<std::thread> threads, ticking;
  for (std::size_t i = 0; i < thread_count; ++i) threads.emplace_back(act_on_manager, std::ref(in), random(), actions);
  for (int i = 0; frames && i < 2; ++i) {
    ticking.emplace_back([&] {
      while (!over) {
        frames->advance(std::chrono::microseconds(5));
        in.tm.tick();
        std::this_thread::yield();
      }
    });
  }
  for (auto& one : threads) one.join();
  over = true;
  for (auto& one : ticking) one.join();
}

// What is told of all rounds, so that it shows that something happens.
struct totals {
  std::size_t spawned = 0, timed_out = 0, completed = 0, expired = 0, received = 0;
  void add(const managed_arena& in) {
    const manager_counts counts = in.tm.counts();
    spawned += counts.spawned;
    timed_out += counts.timed_out;
    completed += counts.completed;
    expired += counts.expired;
    received += static_cast<std::size_t>(in.received);
  }
};

void one_round(runtime& rt, detail::random_engine& random, totals& all) {
  const std::size_t limit = random.below(4) == 0 ? 40 : 0xffff'ffff;
  manual_clock frames;
  const bool ticks = random.below(4) == 0;
  auto tm = std::make_unique<task_manager>(
      rt, manager_options{.limit = limit,
                          .clock = ticks ? &frames : nullptr,
                          .on_unhandled = [](std::exception_ptr, const context&) noexcept {}});
  managed_arena in(*tm);
  act_on_threads(in, random, ticks ? &frames : nullptr);
  all.add(in);
  if (random.below(2)) {
    tm->close();
    if (random.below(2)) tm->cancel_all();
    else tm->kill_all();
    const auto joined = sync_wait(tm->join());
    REQUIRE(joined);
    check_manager(in);
  }
  tm.reset();
  REQUIRE(in.bodies == 0);
  REQUIRE(in.wrong == 0);
}

task<> wait_for_ever(event& never) { co_await or_throw(never.wait()); }

// Nothing but deadlines ends what this one waits for.
void wait_for_deadlines(task_manager& tm, event& never, std::uint64_t seed, std::atomic<int>& passed) {
  detail::random_engine random(seed);
  for (int i = 0; i < deadlines_each; ++i) {
    const duration soon = std::chrono::microseconds(random.below(20)) - std::chrono::microseconds(2);
    if (random.below(2)) {
      auto reply = tm.expect<int>({.within = soon});
      auto got = sync_wait(reply);
      if (!got && got.error() == std::errc::timed_out) ++passed;
    } else {
      auto one = spawn(tm, {.within = soon}, wait_for_ever, std::ref(never));
      auto ended = sync_wait(one.join());
      if (!ended && ended.error() == std::errc::timed_out) ++passed;
    }
  }
}

}  // namespace

// One that is lost holds its thread up for ever.
TEST_CASE("every deadline of a task manager passes, though it comes and goes to rest all the time") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  for (const std::size_t workers : {1u, 2u, 4u}) {
    CAPTURE(workers);
    event never;
    std::atomic<int> passed{0};
    runtime rt({.workers = workers});
    task_manager tm(rt);
    std::vector<std::thread> threads;
    for (int i = 0; i < 2; ++i)
      threads.emplace_back(wait_for_deadlines, std::ref(tm), std::ref(never), random(), std::ref(passed));
    for (auto& one : threads) one.join();
    CHECK(passed == 2 * deadlines_each);
    CHECK(sync_wait(tm.join()));
    const manager_counts counts = tm.counts();
    CHECK(counts.timed_out + counts.expired == 2 * deadlines_each);
  }
}

TEST_CASE("a task manager loses nothing, whatever meets whatever") {
  const std::uint64_t seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=", seed);
  detail::random_engine random(seed);
  for (const std::size_t workers : {1u, 2u, 4u}) {
    CAPTURE(workers);
    totals all;
    auto rt = std::make_unique<runtime>(runtime_options{.workers = workers});
    for (int round = 0; round < rounds; ++round) {
      if (round % 4 == 0) rt = std::make_unique<runtime>(runtime_options{.workers = workers});
      one_round(*rt, random, all);
    }
    rt.reset();
    CHECK(all.spawned > 0);
    CHECK(all.timed_out > 0);
    CHECK(all.completed > 0);
    CHECK(all.expired > 0);
    CHECK(all.received > 0);
  }
}
