// A completion, bindings and shields by brute force, for TSan: loops on several threads and a plain thread wait for one
// completion, some for a moment only, while two threads race to complete each round; coroutines spawned on other loops
// have the bound values; any thread cancels while some code is shielded. Every waiter gets the value of the round for
// which it waited.
//
// The seed is random and printed; HOCKET_STRESS_SEED=<n> repeats its choices (the schedule is the machine's).
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/context_local.hpp>
#include <hocket/coro/shielded.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/completion.hpp>
#include <hocket/time/within.hpp>

#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <random>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;

namespace {

std::uint64_t seed_of_completion() {
  if (const char* given = std::getenv("HOCKET_STRESS_SEED")) return std::strtoull(given, nullptr, 10);
  return std::random_device{}();
}

struct round_tallies {
  completion<std::string> answer;
  std::atomic<int> got{0}, gave_up{0}, wrong{0}, first{0};

  void note(const result<const std::string&>& r, const std::string& expected) {
    if (!r) ++gave_up;
    else if (*r == expected) ++got;
    else ++wrong;
  }
};

task<> wait_in_round(round_tallies& all, const std::string& expected, bool patient) {
  if (patient) {
    auto r = co_await all.answer.wait();
    all.note(r, expected);
  } else {
    auto r = co_await within(std::chrono::microseconds(1), all.answer.wait());
    all.note(r, expected);
  }
}

context_local<std::string> told;

struct shield_tallies {
  std::atomic<int> cleaned{0}, lost{0};
};
task<> check_told(shield_tallies& all, int n) {
  for (int i = 0; i < 3; ++i) co_await yield();
  if (!told.get() || *told != std::to_string(n)) ++all.lost;
}
task<> clean_up(shield_tallies& all, completion<>& gate) {
  auto r = co_await gate.wait();
  ++(r ? all.cleaned : all.lost);
}
task<> work_and_clean(shield_tallies& all, loop& other, completion<>& gate, int n) {
  static_cast<void>(co_await gate.wait());  // cancelled, or not
  auto binding = told.with(std::to_string(n), [&all, &other, n]() -> task<> {
    spawn(other, check_told, std::ref(all), n);
    co_await check_told(all, n);
  });
  co_await std::move(binding);
  auto cleanup = shielded(clean_up(all, gate));
  co_await std::move(cleanup);
}

}  // namespace

TEST_CASE("threads complete, wait for and reset one completion, round after round") {
  const auto seed = seed_of_completion();
  MESSAGE("HOCKET_STRESS_SEED=" << seed);
  std::mt19937_64 random(seed);
  round_tallies all;
  int patient = 0, hasty = 0;
  constexpr int rounds = 150;
  for (int i = 0; i < rounds; ++i) {
    const std::string expected = "the value of round " + std::to_string(i);
    auto late = all.answer.make_completer();
    loop loops[2];
    for (loop& lp : loops)
      for (int k = 0; k < 4; ++k) {
        const bool stays = random() % 3 != 0;
        ++(stays ? patient : hasty);
        spawn(lp, wait_in_round, std::ref(all), expected, stays);
      }
    std::thread threads[] = {
        std::thread([&] { loops[0].run(); }),
        std::thread([&] { loops[1].run(); }),
        std::thread([&] { all.first += all.answer.complete(expected); }),
        std::thread([&] { all.first += late.complete(expected); }),
    };
    all.note(sync_wait(all.answer.wait()), expected);
    for (auto& one : threads) one.join();
    all.answer.reset();
  }
  CHECK(all.wrong == 0);
  CHECK(all.first == rounds);
  CHECK(all.got + all.gave_up == patient + hasty + rounds);
  CHECK(all.gave_up <= hasty);
}

TEST_CASE("what is bound goes along to other threads, and what is shielded is cancelled by none") {
  const auto seed = seed_of_completion();
  MESSAGE("HOCKET_STRESS_SEED=" << seed);
  std::mt19937_64 random(seed);
  shield_tallies all;
  constexpr int rounds = 100, workers = 4;
  for (int i = 0; i < rounds; ++i) {
    completion<> gate;
    loop one, other;
    std::vector<join_handle<>> handles;
    for (int n = 0; n < workers; ++n) {
      loop& mine = random() % 2 ? one : other;
      handles.push_back(
          spawn(mine, work_and_clean, std::ref(all), std::ref(&mine == &one ? other : one), std::ref(gate), n));
    }
    // The loops end when all has ended: each may still be given something by the other.
    auto until_all = [&](loop& lp) {
      for (bool over = false; !over;) {
        lp.run_for(std::chrono::microseconds(50));
        over = true;
        for (auto& handle : handles) over = over && handle.done();
      }
    };
    std::thread threads[] = {
        std::thread([&] { until_all(one); }),
        std::thread([&] { until_all(other); }),
        std::thread([&] {
          for (auto& handle : handles) handle.cancel();
        }),
        std::thread([&] { gate.complete(); }),
    };
    for (auto& thread : threads) thread.join();
    one.run();
    other.run();
  }
  CHECK(all.lost == 0);
  CHECK(all.cleaned == rounds * workers);
}
