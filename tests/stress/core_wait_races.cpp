// FAULTS 10, 12, 16, 20 and 25 by brute force: threads wait for permits while others grant, cancel, kill and let
// deadlines pass, at random. No wait may hang or end twice, and the permits must balance: each released permit was
// granted to a wait that returned with it, or is still there.
//
// The seed is random and printed; HOCKET_STRESS_SEED=<n> repeats its choices (the schedule is the machine's).
#include <hocket/core/context.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/thread/seam/thread_executor.hpp>
#include <hocket/core/wait/seam/suspension.hpp>

#include "unit/core/permit_source.hpp"
#include "unit/core/script.hpp"

#include <array>
#include <atomic>
#include <cstdlib>
#include <doctest/doctest.h>
#include <memory>
#include <random>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

std::uint64_t chosen_seed() {
  if (const char* given = std::getenv("HOCKET_STRESS_SEED")) return std::strtoull(given, nullptr, 10);
  return std::random_device{}();
}

// A loop of one thread that has timers: thread_executor for the queue, hand_timers for the deadlines.
class timed_executor final : public executor {
 public:
  explicit timed_executor(hand_timers& timers) noexcept : timers_(timers) {}
  void post_from_outside(detail::runnable& work) noexcept override { inner_.post_from_outside(work); }
  detail::timer_service* timers() noexcept override { return &timers_; }

  // Resumes posted coroutines until a runnable without a handle arrives.
  void run() {
    for (bool signalled = false; !signalled;) {
      for (detail::runnable* work = inner_.take(); work;) {
        detail::runnable* next = work->next;
        std::coroutine_handle<> handle = work->handle;
        work = next;
        if (!handle) {
          signalled = true;
          continue;
        }
        detail::running_scope running({this}, detail::header_of(handle).ctx);
        handle.resume();
      }
    }
  }

 private:
  detail::thread_executor inner_;
  hand_timers& timers_;
};

struct shared {
  permit_source sources[2];
  hand_timers timers{time_point{}};
  std::array<std::atomic<stop_source*>, 4> stops{};  // one per waiter
  std::atomic<int> running{0};
};

struct tally {
  std::uint64_t by_verdict[7] = {};
  std::uint64_t permits[2] = {};
};

// Waits `rounds` times, each under a stop source of its own, which others find in its slot.
script wait_often(shared& all, std::size_t me, int rounds, std::mt19937_64 random, tally& counts, executor& home,
                  detail::runnable& finished) {
  for (int round = 0; round < rounds; ++round) {
    auto stop = std::make_unique<stop_source>();
    auto ctx = context::child_of(context::root(), {.stop = stop.get(), .deadline = time_point{}});
    detail::this_thread().ctx = ctx.get();
    all.stops[me].store(stop.get());
    detail::wait_end how;
    std::size_t index = 0;
    if (random() % 2 == 0) {
      how = co_await all.sources[0].acquire();
    } else {
      auto result = co_await permit_source::choice(all.sources[0], all.sources[1]);
      how = result.how;
      index = result.index;
    }
    ++counts.by_verdict[static_cast<int>(how)];
    if (how == detail::wait_end::granted) ++counts.permits[index];
    // The thread that took the source out of its slot puts it back after its use.
    stop_source* mine = stop.get();
    while (!all.stops[me].compare_exchange_weak(mine, nullptr)) {
      mine = stop.get();
      std::this_thread::yield();
    }
  }
  --all.running;
  home.post_from_outside(finished);
}

struct meddled {
  std::uint64_t released[2] = {};
};

void meddle(shared& all, std::mt19937_64 random, meddled& done) {
  while (all.running.load() > 0) {
    auto dice = static_cast<std::size_t>(random());
    auto& slot = all.stops[dice / 16 % all.stops.size()];
    switch (dice % 4) {
      case 0:
      case 1: {
        auto which = dice / 4 % 2;
        ++done.released[which];
        all.sources[which].release();
        break;
      }
      case 2: {
        stop_source* taken = slot.exchange(nullptr);
        if (!taken) break;
        taken->request(dice / 8 % 2 ? stop_level::cancel : stop_level::kill);
        slot.store(taken);
        break;
      }
      default: all.timers.fire_due(time_point{}); break;
    }
    if (dice / 1024 % 8 == 0) std::this_thread::yield();
  }
}

}  // namespace

TEST_CASE("faults 10, 12, 16: grant, cancel, kill and deadline race; permits balance and nothing hangs") {
  constexpr int waiters = 4, meddlers = 2, rounds = 5'000;
  const auto seed = chosen_seed();
  MESSAGE("HOCKET_STRESS_SEED=" << seed);
  shared all;
  all.running = waiters;
  tally counts[waiters];
  meddled done[meddlers];
  std::vector<std::thread> threads;
  for (std::size_t me = 0; me < waiters; ++me) {
    threads.emplace_back([&, me] {
      timed_executor home(all.timers);
      detail::runnable finished{};
      auto body = wait_often(all, me, rounds, std::mt19937_64(seed + me), counts[me], home, finished);
      body.start(home);
      home.run();
    });
  }
  for (std::size_t me = 0; me < meddlers; ++me) {
    threads.emplace_back([&, me] { meddle(all, std::mt19937_64(seed + 100 + me), done[me]); });
  }
  for (auto& thread : threads) thread.join();

  std::uint64_t ends = 0;
  for (std::size_t which : {0u, 1u}) {
    std::uint64_t released = 0, granted = 0;
    for (auto& one : done) released += one.released[which];
    for (auto& one : counts) granted += one.permits[which];
    CHECK(released == granted + static_cast<std::uint64_t>(all.sources[which].free()));
    CHECK_FALSE(all.sources[which].has_waiters());
  }
  for (auto& one : counts) {
    for (detail::wait_end how : {detail::wait_end::granted, detail::wait_end::cancelled, detail::wait_end::timed_out,
                                 detail::wait_end::killed}) {
      ends += one.by_verdict[static_cast<int>(how)];
    }
  }
  CHECK(ends == std::uint64_t{waiters} * rounds);
  CHECK(all.timers.empty());
}
