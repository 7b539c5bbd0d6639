// FAULTS 16: a timed wait expires as it is signalled, and the waiter is enqueued twice, or the signal is lost.
// (google/marl#59, boostorg/fiber#212, brpc#617.) Here for waits of plain threads: several of them wait with time-outs
// of 0 to 50 us, while others signal in the same steps. The only check of time is that no wait times out early: each
// wait ends once, by a signal or a time-out, and every signal has ended a wait or is still there.
#include <hocket/core/context.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/thread/seam/thread_executor.hpp>

#include "unit/core/permit_source.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <thread>
#include <vector>

using namespace hocket;
using hocket_test::permit_source;

namespace {

constexpr int longest = 50;  // microseconds, and as many steps of a signaller
constexpr int sweeps = 20, waiters = 3, signallers = 2;

struct tally {
  std::uint64_t granted = 0, timed_out = 0, other = 0, early = 0;
};

// As a coroutine does it, in sync_wait.
detail::wait_end wait_in_sync_wait(permit_source& source, context& ctx) {
  detail::running_scope running({nullptr}, &ctx);
  return sync_wait(source.acquire());
}

// As a thread does it that has no coroutine: what is posted is the wait's own runnable.
detail::wait_end wait_by_hand(permit_source& source, context& ctx) {
  detail::thread_executor home;
  detail::running_scope running({&home}, &ctx);
  permit_source::acquisition permit(source);
  if (permit.await_suspend({})) REQUIRE(home.take()->next == nullptr);
  return permit.await_resume();
}

template <class Wait>
void sweep(permit_source& source, tally& counts, Wait wait) {
  for (int step = 0; step < sweeps * (longest + 1); ++step) {
    const time_point until = deadline_after(steady_clock().now(), std::chrono::microseconds(step % (longest + 1)));
    auto ctx = context::child_of(context::root(), {.deadline = until});
    const detail::wait_end how = wait(source, *ctx);
    if (how == detail::wait_end::granted) ++counts.granted;
    else if (how == detail::wait_end::timed_out) ++counts.timed_out;
    else ++counts.other;
    if (how == detail::wait_end::timed_out && steady_clock().now() < until) ++counts.early;
  }
}

std::uint64_t signal_until(permit_source& source, const std::atomic<int>& waiting) {
  std::uint64_t released = 0;
  for (int pause = 0; waiting.load() > 0; pause = (pause + 1) % longest) {
    for (int step = 0; step < pause * 100; ++step) detail::cpu_relax();
    if (source.has_waiters()) {
      source.release();
      ++released;
    }
  }
  return released;
}

template <class Wait>
void signals_meet_deadlines(Wait wait) {
  permit_source source;
  std::atomic<int> waiting{waiters};
  tally counts[waiters];
  std::uint64_t released[signallers] = {};
  std::vector<std::thread> threads;
  for (auto& own : counts) {
    threads.emplace_back([&] {
      sweep(source, own, wait);
      --waiting;
    });
  }
  for (auto& own : released) threads.emplace_back([&] { own = signal_until(source, waiting); });
  for (auto& thread : threads) thread.join();
  std::uint64_t all_released = 0, all_granted = 0, ends = 0;
  for (auto own : released) all_released += own;
  for (auto& own : counts) {
    all_granted += own.granted;
    ends += own.granted + own.timed_out;
    CHECK(own.other == 0);
    CHECK(own.early == 0);
  }
  CHECK(ends == std::uint64_t{waiters} * sweeps * (longest + 1));
  CHECK(all_released == all_granted + static_cast<std::uint64_t>(source.free()));
  CHECK_FALSE(source.has_waiters());
}

}  // namespace

TEST_CASE("fault 16: a thread's waits that are signalled as they expire end once, and no signal is lost") {
  signals_meet_deadlines(wait_by_hand);
}

TEST_CASE("fault 16: the same in sync_wait") { signals_meet_deadlines(wait_in_sync_wait); }

TEST_CASE("a deadline ends a thread's wait that nobody signals") {
  permit_source source;
  for (auto wait : {wait_by_hand, wait_in_sync_wait}) {
    for (time_point until : {time_point::min(), time_point{}, deadline_after(steady_clock().now(), duration(1))}) {
      auto ctx = context::child_of(context::root(), {.deadline = until});
      CHECK(wait(source, *ctx) == detail::wait_end::timed_out);
    }
  }
  CHECK_FALSE(source.has_waiters());
}
