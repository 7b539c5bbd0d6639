// FAULTS 61: a runtime that is destroyed under tasks in every state: at once, while they run and are woken by another
// thread, and when all of them wait. All unwind, nothing is left, and nothing hangs. Fibers: runtime_fibers_test.cpp of
// unit/runtime/stackful; both, beside cancellations: stress/runtime_races.cpp.
#include <hocket/base/clock.hpp>
#include <hocket/runtime/runtime.hpp>

#include "regress/every_state.hpp"
#include "support/runtime_look.hpp"

#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

enum class moment { at_once, while_woken, when_all_wait };

void destroy(std::size_t workers, moment when) {
  surroundings in;
  manual_clock clock;
  std::vector<join_handle<>> handles;
  std::thread waker;
  {
    hocket::runtime rt({.workers = workers, .clock = &clock});
    handles = spawn_in_every_state(rt, in, when == moment::when_all_wait ? busy::no : busy::yes);
    if (when == moment::when_all_wait) detail::runtime_look::wait_until_asleep(rt);
    if (when == moment::while_woken) {
      handles.front().cancel();
      handles.back().kill();
      waker = std::thread([&in] {
        in.none.release();
        in.never.set();
        in.answer.complete(1);
      });
    }
  }
  if (waker.joinable()) waker.join();
  for (auto& one : handles) CHECK(one.done());
  CHECK(in.one.done());
  CHECK(in.other.done());
}

}  // namespace

TEST_CASE("fault 61: a runtime that is destroyed leaves nothing, in whatever state its tasks are") {
  const int times = detail::recycles_frames ? 5'000 : 200;
  for (int i = 0; i < times; ++i) {
    const std::size_t workers = i % 50 == 0 ? 8 : 1 + static_cast<std::size_t>(i % 2);
    destroy(workers, moment::at_once);
    destroy(workers, i % 4 < 2 ? moment::while_woken : moment::when_all_wait);
    REQUIRE(counted::live == 0);
  }
}
