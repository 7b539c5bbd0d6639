// FAULTS 61: a loop or a runtime that is destroyed under fibers in every state. All unwind, nothing is left, and
// nothing hangs. Tasks: ../fault_61_loop_destroyed.cpp and ../fault_61_runtime_destroyed.cpp.
#include <hocket/base/clock.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "regress/stackful/every_fiber_state.hpp"
#include "support/runtime_look.hpp"

#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

// Those of a loop are packed, where they can be, after some of the turns.
void destroy_loop_after(int turns) {
  fiber_surroundings in;
  manual_clock clock;
  std::vector<join_handle<>> handles;
  {
    loop lp({.clock = &clock});
    handles = spawn_fibers_in_every_state(lp, in, turns % 7 == 1 ? busy::yes : busy::no);
    if (turns % 3 == 1) handles.front().cancel();
    if (turns % 5 == 1) handles.back().kill();
    for (int i = 0; i < turns; ++i) lp.step();
    if (turns % 2 == 1) hibernate_parked();
  }
  for (auto& one : handles) CHECK(one.done());
}

enum class moment { at_once, while_woken, when_all_wait };

void destroy_runtime(std::size_t workers, moment when) {
  fiber_surroundings in;
  manual_clock clock;
  std::vector<join_handle<>> handles;
  std::thread waker;
  {
    hocket::runtime rt({.workers = workers, .clock = &clock});
    handles = spawn_fibers_in_every_state(rt, in, when == moment::while_woken ? busy::yes : busy::no);
    if (when == moment::when_all_wait) detail::runtime_look::wait_until_asleep(rt);
    if (when == moment::while_woken)
      waker = std::thread([&in] {
        in.never.set();
        in.empty.close();
        in.full.close();
        in.ring.close();
        in.news.close();
        in.gate.open();
      });
  }
  if (waker.joinable()) waker.join();
  for (auto& one : handles) CHECK(one.done());
}

}  // namespace

TEST_CASE("fault 61: a loop that is destroyed after any number of turns leaves nothing of its fibers") {
  const int times = detail::recycles_frames ? 10'000 : 400;
  for (int i = 0; i < times; ++i) {
    destroy_loop_after(i % 59);
    REQUIRE(counted::live == 0);
  }
}

TEST_CASE("fault 61: a runtime that is destroyed leaves nothing, in whatever state its fibers are") {
  const int times = detail::recycles_frames ? 2'000 : 100;
  for (int i = 0; i < times; ++i) {
    const std::size_t workers = i % 50 == 0 ? 8 : 1 + static_cast<std::size_t>(i % 2);
    destroy_runtime(workers, moment::at_once);
    destroy_runtime(workers, i % 4 < 2 ? moment::while_woken : moment::when_all_wait);
    REQUIRE(counted::live == 0);
  }
}
