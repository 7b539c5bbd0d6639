// A shared task by brute force, for TSan: loops on several threads, and plain threads, await one at the same time, some
// for a moment only, and drop their handles in any order. The body runs at most once, everybody who waited to the end
// gets its value, and every frame is freed.
//
// The seed is random and printed; HOCKET_STRESS_SEED=<n> repeats its choices (the schedule is the machine's).
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

std::uint64_t seed_of_shared() {
  if (const char* given = std::getenv("HOCKET_STRESS_SEED")) return std::strtoull(given, nullptr, 10);
  return std::random_device{}();
}

struct tallies {
  std::atomic<int> live{0};
  std::atomic<int> begun{0};
  std::atomic<int> got{0};
  std::atomic<int> gave_up{0};
};

struct alive {
  explicit alive(std::atomic<int>& count) : of(&count) { ++*of; }
  alive(const alive& other) : alive(*other.of) {}
  ~alive() { --*of; }
  std::atomic<int>* of;
};

shared_task<int> shared_work(tallies& all, alive, int yields) {
  ++all.begun;
  for (; yields > 0; --yields) co_await yield();
  co_return 7;
}

void note_of_shared(tallies& all, const result<const int&>& r) {
  if (r && *r == 7) ++all.got;
  else if (!r) ++all.gave_up;
}

task<> await_shared(tallies& all, shared_task<int> t, bool patient) {
  if (patient) {
    auto r = co_await t.wait();
    note_of_shared(all, r);
  } else {
    auto r = co_await within(std::chrono::microseconds(1), t.wait());
    note_of_shared(all, r);
  }
}

}  // namespace

TEST_CASE("threads start, await and drop one shared task at the same time") {
  const auto seed = seed_of_shared();
  MESSAGE("HOCKET_STRESS_SEED=" << seed);
  std::mt19937_64 random(seed);
  constexpr int rounds = 300, threads = 4;
  for (int round = 0; round < rounds; ++round) {
    tallies all;
    {
      std::vector<std::thread> running;
      auto t = shared_work(all, alive(all.live), static_cast<int>(random() % 3));
      for (int i = 0; i < threads; ++i) {
        running.emplace_back([&all, mine = t, dice = random()]() mutable {
          const bool patient = dice % 4 != 0;
          if (dice % 3 == 0) {
            auto handle = std::move(mine);
            note_of_shared(all, patient ? sync_wait(handle.wait())
                                        : sync_wait(within(std::chrono::microseconds(1), handle.wait())));
            return;
          }
          loop lp;
          for (int n = 0; n < 3; ++n) spawn(lp, await_shared, std::ref(all), mine, patient || n == 1);
          mine = {};
          lp.run();
        });
      }
      t = {};
      for (auto& thread : running) thread.join();
    }
    CHECK(all.live == 0);
    CHECK(all.begun == 1);
    CHECK(all.got + all.gave_up > 0);
  }
}
