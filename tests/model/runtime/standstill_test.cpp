// A standstill under every schedule: the requester reads and changes a worker's data without a race; the worker
// continues afterwards; and a worker that was too late for one phase does not count as stopped in the next.
#include <hocket/core/thread/seam/inbox.hpp>

#include "runtime/standstill.hpp"
#include "verdict.hpp"

namespace {

using hocket::time_point;
using hocket::detail::standstill;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
namespace model = hocket::model;

struct one_worker {
  standstill still;
  standstill::mark mark{0, "mark"};
  var<int> state{0, "what the worker knows"};

  void work(int turns) {
    for (; turns > 0; --turns) {
      still.halt(mark);
      state = state + 1;
    }
  }
  void look(std::uint32_t phase) {
    if (standstill::wait_stopped(mark, phase, time_point{})) state = state + 100;
    still.end();
  }
};

void asked_twice(execution& run) {
  one_worker t;
  run.thread("works", [&] { t.work(2); });
  run.thread("asks", [&] {
    t.look(t.still.begin());
    if (const std::uint32_t phase = t.still.try_begin()) t.look(phase);
  });
  run.join();
  require(t.state % 100 == 2);
}

void asked_by_two(execution& run) {
  one_worker t;
  run.thread("works", [&] { t.work(1); });
  run.thread("asks", [&] { t.look(t.still.begin()); });
  run.thread("asks, too", [&] { t.look(t.still.begin()); });
  run.join();
  require(t.state % 100 == 1);
}

// A worker that falls asleep: the nudge may arrive after its halt(), and the next take() uses it up. So the worker
// checks once more before it sleeps.
template <bool looks>
void asked_before_it_sleeps(execution& run) {
  standstill still;
  standstill::mark mark{0, "mark"};
  hocket::futex_parker bed;
  hocket::detail::inbox in{bed};
  hocket::primitive::atomic<bool> over{false};
  run.thread("works", [&] {
    for (;;) {
      still.halt(mark);
      static_cast<void>(in.take());
      if (over.load(std::memory_order_relaxed)) return;
      if (!looks || !still.is_requested()) in.sleep(time_point::max());
    }
  });
  run.thread("asks", [&] {
    const std::uint32_t phase = still.begin();
    in.nudge();
    require(standstill::wait_stopped(mark, phase, time_point::max()));
    still.end();
    over.store(true, std::memory_order_relaxed);
    in.nudge();
  });
  run.join();
}

// Takes any mark for one of its own phase.
void asks_carelessly(execution& run) {
  one_worker t;
  run.thread("works", [&] { t.work(2); });
  run.thread("asks", [&] {
    for (int i = 0; i < 2; ++i) {
      static_cast<void>(t.still.begin());
      if (t.mark.load(std::memory_order_acquire) != 0) t.state = t.state + 100;
      t.still.end();
    }
  });
  run.join();
}

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("whoever asked for a standstill has the worker to himself") {
  ::verdict::none(bounds, asked_twice);
  ::verdict::none(bounds, asked_by_two);
}

TEST_CASE("a mark of an earlier phase says nothing of this one") {
  ::verdict::found(bug::data_race, bounds, asks_carelessly);
}

TEST_CASE("a worker that is asked as it falls asleep stands") { ::verdict::none(bounds, asked_before_it_sleeps<true>); }

TEST_CASE("a worker that does not look once more before it sleeps, sleeps through") {
  ::verdict::found(bug::lost_wakeup, bounds, asked_before_it_sleeps<false>);
}
