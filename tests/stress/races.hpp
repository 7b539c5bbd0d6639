// Coroutines of both kinds that wait for permits, for an event, for either, under deadlines of 0 to 50 us, and a thread
// that grants, cancels and kills beside them: for the tests that end waits by brute force (loop_races, runtime_races).
// The seed is random and printed; HOCKET_STRESS_SEED=<n> repeats its choices (the schedule is the machine's).
#pragma once
#include <hocket/base/random.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

namespace hocket_test {

using namespace hocket;

inline constexpr std::size_t permit_count = 2;
inline constexpr std::size_t coroutine_count = 16;
inline constexpr int waits_each = 25;

inline std::uint64_t chosen_seed() {
  if (const char* given = std::getenv("HOCKET_STRESS_SEED")) return std::strtoull(given, nullptr, 10);
  return std::random_device{}();
}

// What the coroutines of a round share, and count.
struct arena {
  semaphore permits{permit_count};
  event bell;
  std::atomic<int> holders{0};
  std::atomic<int> resumed_twice{0};
  std::atomic<int> too_many{0};
  std::atomic<long> waits{0};
};

// One coroutine's view: whether it runs.
class runner {
 public:
  explicit runner(arena& in) noexcept : arena_(in) {}
  void leaves() noexcept { running_.store(false); }
  void returns() noexcept {
    arena_.waits.fetch_add(1, std::memory_order_relaxed);
    if (running_.exchange(true)) ++arena_.resumed_twice;
  }

 private:
  arena& arena_;
  std::atomic<bool> running_{true};
};

// Says that the coroutine runs again, also when it unwinds.
struct absence {
  runner& who;
  explicit absence(runner& of) noexcept : who(of) { who.leaves(); }
  absence(const absence&) = delete;
  ~absence() { who.returns(); }
};

struct holding {
  arena& in;
  explicit holding(arena& of) noexcept : in(of) {
    if (in.holders.fetch_add(1) >= static_cast<int>(permit_count)) ++in.too_many;
  }
  holding(const holding&) = delete;
  ~holding() { --in.holders; }
};

inline duration short_time(detail::random_engine& random) { return std::chrono::microseconds(random.below(50)); }

inline void one_of_fibers(arena& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  runner self(in);
  for (int i = 0; i < waits_each; ++i) {
    switch (random.below(4)) {
      case 0: {
        auto got = [&] {
          absence away(self);
          return await(in.permits.acquire());
        }();
        if (got) holding now(in);
        break;
      }
      case 1: {
        auto got = [&] {
          absence away(self);
          return await(within(short_time(random), in.permits.acquire()));
        }();
        if (got) {
          holding now(in);
          absence away(self);
          await(yield());
        }
        break;
      }
      case 2: {
        absence away(self);
        static_cast<void>(await(within(short_time(random), select(in.permits.acquire(), in.bell.wait()))));
        break;
      }
      default: {
        absence away(self);
        static_cast<void>(await(within(short_time(random), in.bell.wait())));
      }
    }
  }
}

inline task<> one_of_tasks(arena& in, std::uint64_t seed) {
  detail::random_engine random(seed);
  runner self(in);
  for (int i = 0; i < waits_each; ++i) {
    switch (random.below(4)) {
      case 0: {
        absence away(self);
        static_cast<void>(co_await in.permits.acquire());
        break;
      }
      case 1: {
        std::optional<absence> waiting(std::in_place, self);
        auto got = co_await within(short_time(random), in.permits.acquire());
        waiting.reset();
        if (got) {
          holding now(in);
          absence away(self);
          co_await yield();
        }
        break;
      }
      case 2: {
        absence away(self);
        static_cast<void>(co_await within(short_time(random), select(in.permits.acquire(), in.bell.wait())));
        break;
      }
      default: {
        absence away(self);
        static_cast<void>(co_await within(short_time(random), in.bell.wait()));
      }
    }
  }
}

// The other thread: takes part in the waiting, rings, cancels and kills.
inline void disturb(arena& in, std::vector<join_handle<>>& handles, std::uint64_t seed) {
  detail::random_engine random(seed);
  for (int i = 0; i < 60; ++i) {
    auto& victim = handles[random.below(static_cast<std::uint32_t>(handles.size()))];
    switch (random.below(6)) {
      case 0: victim.cancel(); break;
      case 1: victim.kill(); break;
      case 2: in.bell.set(); break;
      case 3: in.bell.reset(); break;
      case 4: {
        static_cast<void>(sync_wait(within(short_time(random), in.permits.acquire())));
        break;
      }
      default: {
        static_cast<void>(in.permits.try_acquire());
      }
    }
  }
}

// Spawns them on `where`, and gives their handles.
template <class Where>
std::vector<join_handle<>> spawn_racers(Where& where, arena& in, detail::random_engine& random) {
  std::vector<join_handle<>> handles;
  for (std::size_t i = 0; i < coroutine_count; ++i) {
    const std::uint64_t own = random();
    const spawn_options some{.migratable = i % 4 == 0};
    if (i % 2 == 0) handles.push_back(spawn(where, some, one_of_fibers, std::ref(in), own));
    else handles.push_back(spawn(where, one_of_tasks, std::ref(in), own));
  }
  return handles;
}

// What must hold when all have ended.
inline void check_arena(const arena& in, const std::vector<join_handle<>>& handles) {
  for (auto& handle : handles) REQUIRE(handle.done());
  REQUIRE(in.holders == 0);
  REQUIRE(in.resumed_twice == 0);
  REQUIRE(in.too_many == 0);
  REQUIRE(in.permits.available() == permit_count);
}

}  // namespace hocket_test
