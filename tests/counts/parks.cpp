// Operations of a thread that has nothing to run: see operations.cpp.
#include <hocket/core/thread/seam/housekeeping.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/spawn.hpp>

#include "still_loop.hpp"

using hocket::spawn, hocket::task;
using std::size_t;

namespace counts {
namespace {

// So that the thread keeps frames and stacks.
void run_both_kinds() {
  hocket::loop lp;
  spawn(lp, [] {});
  spawn(lp, []() -> task<void> { co_return; });
  lp.run();
}

}  // namespace

// The cost of maintenance in a park, if nothing is due.
void park_with_nothing_to_decay(size_t k) {
  run_both_kinds();
  hocket::detail::memory_reclaimer keeps(hocket::steady_clock());
  const hocket::time_point due = keeps.reclaim();
  bool quiet = true;
  for (; k; --k) quiet &= keeps.reclaim_if_due(hocket::time_point::min()) == due;
  must(quiet, "maintenance was due");
}

// A turn of a loop that finds nothing, and what comes before a sleep.
void turn_with_nothing_to_run(size_t k) {
  run_both_kinds();
  still_loop on;
  for (; k; --k) {
    must(on.loop.begin_sleep() > hocket::time_point{}, "something was ready");
    must(!on.loop.poll(), "something was ready");
  }
}

}  // namespace counts
