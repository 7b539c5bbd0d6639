// Workers that sleep, and work that comes, under every schedule: a worker does not sleep on beside work that it could
// take. And the protocol without the one or the other half of its fence, which must lose a wake-up.
#include <hocket/core/frame.hpp>
#include <hocket/core/inbox.hpp>
#include <hocket/core/stealable_queue.hpp>

#include "runtime/idle_workers.hpp"
#include "runtime/injection.hpp"
#include "verdict.hpp"

#include <array>

namespace hocket::inline HOCKET_ABI {

// What the protocol needs of a worker: a place to sleep.
class worker {
 public:
  void nudge() noexcept { in.nudge(); }

  futex_parker bed;
  inbox in{bed};
  bool searching = false;
};

}  // namespace hocket::inline HOCKET_ABI

namespace {

using hocket::atomic;
using hocket::demand;
using hocket::idle_workers;
using hocket::injection;
using hocket::runnable;
using hocket::stealable_queue;
using hocket::worker;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
namespace model = hocket::model;

using heavy = decltype([] { hocket::heavy_fence(); });
using full = decltype([] { hocket::fence(std::memory_order_seq_cst); });
using no_fence = decltype([] {});

// As worker::rest() and find_work(): until find() says that it found something.
template <class Fence, class FindersFence = full, bool looks_when_alone = true>
void look_for_work(worker& self, idle_workers& idle, auto find, auto in_reach, auto over) {
  for (;;) {
    static_cast<void>(self.in.take());
    self.searching = self.searching || idle.begin_search();
    if (self.searching && find()) break;
    const auto [looks_again, others_awake, watches] = idle.begin_sleep(self, self.searching);
    static_cast<void>(others_awake);
    Fence{}();
    const bool ends = over();  // the nudge after it may have been used up before
    if (!ends && (!looks_again || !in_reach())) self.in.sleep(hocket::time_point::max());
    self.searching = idle.end_sleep(self, watches);
    if (ends) return;
  }
  self.searching = false;
  const auto [last, alone] = idle.end_search();
  if (!last) return;
  if (alone) FindersFence{}();
  if (alone && !(looks_when_alone && in_reach())) return;
  if (worker* next = idle.notify()) next->nudge();
}

// One brings two entries to its own queue and looks after neither; the other must take one.
template <class SleepersFence, bool Asks>
void worker_and_thief(execution& run) {
  struct office {
    idle_workers idle{2};
    stealable_queue queue{idle.wanted(), 2};
    ~office() {
      while (queue.pop()) {
      }
    }
  } room;
  worker thief;
  std::array<hocket::frame_head, 2> work{};
  run.thread("owner", [&, &idle = room.idle, &queue = room.queue] {
    for (auto& one : work) require(queue.try_push(hocket::handle_of(one)));
    const bool wanted = Asks ? queue.wanted() : idle.wanted().load(std::memory_order_relaxed) != demand::none;
    if (!wanted) return;
    if (worker* one = idle.notify()) one->nudge();
  });
  run.thread("thief", [&, &idle = room.idle, &queue = room.queue] {
    std::array<std::coroutine_handle<>, 2> loot;
    look_for_work<SleepersFence>(
        thief, idle, [&] { return queue.steal(loot, 2) != 0; }, [&] { return queue.in_reach() >= 2; },
        [] { return false; });
  });
  run.join();
}

// Other threads post; workers take all of it in the end.
template <std::size_t Posts, std::size_t Workers, class PostersFence>
void posters_and_workers(execution& run) {
  idle_workers idle(Workers);
  injection injected;
  atomic<std::uint32_t> left{Posts};
  std::array<worker, Workers> workers;
  std::array<runnable, Posts> work;
  for (auto& one : work) {
    one.handle = std::noop_coroutine();
    run.thread("poster", [&] {
      injected.post(one);
      PostersFence{}();
      if (idle.wanted().load(std::memory_order_relaxed) == demand::none) return;
      if (worker* sleeper = idle.notify()) sleeper->nudge();
    });
  }
  for (auto& one : workers) {
    run.thread("worker", [&] {
      while (left.load(std::memory_order_relaxed) != 0) {
        look_for_work<full>(
            one, idle,
            [&] {
              const auto taken = static_cast<std::uint32_t>(injected.take([](runnable&) {}));
              if (taken == 0) return false;
              if (left.fetch_sub(taken, std::memory_order_relaxed) == taken) {
                for (auto& other : workers) other.nudge();
              }
              return true;
            },
            [&] { return !injected.empty(); }, [&] { return left.load(std::memory_order_relaxed) == 0; });
      }
    });
  }
  run.join();
}

// Two posts, of which a worker takes what is there, and does not come back: the rest is the other's.
template <class FindersFence, bool looks_when_alone>
void posters_and_stuck_workers(execution& run) {
  idle_workers idle(2);
  injection injected;
  atomic<std::uint32_t> left{2};
  std::array<worker, 2> workers;
  std::array<runnable, 2> work;
  for (auto& one : work) {
    one.handle = std::noop_coroutine();
    run.thread("poster", [&] {
      injected.post(one);
      full{}();
      if (idle.wanted().load(std::memory_order_relaxed) == demand::none) return;
      if (worker* sleeper = idle.notify()) sleeper->nudge();
    });
  }
  for (auto& one : workers) {
    run.thread("worker", [&] {
      look_for_work<full, FindersFence, looks_when_alone>(
          one, idle,
          [&] {
            const auto taken = static_cast<std::uint32_t>(injected.take([](runnable&) {}));
            if (taken == 0) return false;
            if (left.fetch_sub(taken, std::memory_order_relaxed) == taken) {
              for (auto& other : workers) other.nudge();
            }
            return true;
          },
          [&] { return !injected.empty(); }, [&] { return left.load(std::memory_order_relaxed) == 0; });
    });
  }
  run.join();
}

}  // namespace

TEST_SUITE_BEGIN("model/runtime/idle_workers");

TEST_CASE("what a busy worker has too much of wakes one that sleeps") {
  verdict::none({.preemptions = 3, .stale_reads = 2}, &worker_and_thief<heavy, true>);
}

TEST_CASE("without one half of the fence a worker sleeps on beside work") {
  verdict::found(bug::lost_wakeup, &worker_and_thief<no_fence, true>);
  verdict::found(bug::lost_wakeup, &worker_and_thief<heavy, false>);
}

TEST_CASE("what is posted from outside is taken") {
  verdict::none({.preemptions = 2, .stale_reads = 2}, &posters_and_workers<1, 1, full>);
  verdict::none({.preemptions = 2, .stale_reads = 1}, &posters_and_workers<2, 1, full>);
  verdict::none({.preemptions = 1, .stale_reads = 1}, &posters_and_workers<1, 2, full>);
  verdict::found(bug::lost_wakeup, &posters_and_workers<1, 1, no_fence>);
}

TEST_CASE("what is posted while a worker searches is taken, though that worker does not come back from what it found") {
  verdict::none({.preemptions = 2, .stale_reads = 0}, &posters_and_stuck_workers<full, true>);
  verdict::none({.preemptions = 1, .stale_reads = 1}, &posters_and_stuck_workers<full, true>);
}

TEST_CASE("unless the one that is awake alone looks for more, behind a fence") {
  verdict::found(bug::lost_wakeup, {.preemptions = 2, .stale_reads = 1}, &posters_and_stuck_workers<full, false>);
  verdict::found(bug::lost_wakeup, {.preemptions = 2, .stale_reads = 1}, &posters_and_stuck_workers<no_fence, true>);
}

TEST_SUITE_END();
