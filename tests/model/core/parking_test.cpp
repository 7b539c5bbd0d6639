// FAULTS 1: park against push. A worker announces that it sleeps and looks at its queue once more; a producer pushes
// and looks whether anybody sleeps. Both store and then look at the other's word: with anything less than two seq_cst
// fences each can miss the other, and the work stays in the queue for ever. (tokio#525, #1788.)
//
// Written with the library's own names, as the schedulers will write it.
#include <hocket/base/seam/atomic.hpp>

#include "verdict.hpp"

namespace {

using hocket::detail::futex_wait;
using hocket::detail::futex_wake_one;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::primitive::atomic;
using hocket::primitive::fence;
using order = std::memory_order;

struct worker {
  order parking, pushing;
  atomic<std::uint32_t> queued{0, "queued"};
  atomic<std::uint32_t> sleeping{0, "sleeping"};

  void push() {
    queued.fetch_add(1, order::release);
    fence(pushing);
    if (sleeping.load(order::relaxed) == 1 && sleeping.exchange(0, order::relaxed) == 1) futex_wake_one(sleeping);
  }

  void park() {
    sleeping.store(1, order::relaxed);
    fence(parking);
    if (queued.load(order::relaxed) != 0) {
      sleeping.store(0, order::relaxed);
      return;
    }
    while (sleeping.load(order::relaxed) == 1) futex_wait(sleeping, 1);
  }

  bool take() {
    auto count = queued.load(order::acquire);
    return count != 0 && queued.fetch_sub(1, order::acquire) != 0;
  }
};

auto foreign_pushes(order parking, order pushing) {
  return [=](execution& run) {
    worker one{parking, pushing};
    run.thread("worker", [&] {
      for (int done = 0; done < 2;) {
        if (one.take()) ++done;
        else one.park();
      }
    });
    for (const char* name : {"producer a", "producer b"}) run.thread(name, [&] { one.push(); });
    run.join();
    require(one.queued.load() == 0);
  };
}

}  // namespace

TEST_CASE("fault 01: work pushed while a worker parks is never left behind") {
  verdict::none({.preemptions = 2, .stale_reads = 2}, foreign_pushes(order::seq_cst, order::seq_cst));
}

TEST_CASE("fault 01: without the parking fence, or without the pushing one, it is") {
  verdict::found(bug::lost_wakeup, foreign_pushes(order::acq_rel, order::seq_cst));
  verdict::found(bug::lost_wakeup, foreign_pushes(order::seq_cst, order::acq_rel));
}
