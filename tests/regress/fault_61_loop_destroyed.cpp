// FAULTS 61: a loop that is destroyed under tasks in every state. All unwind, nothing is left, and nothing hangs.
#include <hocket/base/clock.hpp>
#include <hocket/runtime/loop.hpp>

#include "regress/every_state.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

namespace {

void destroy_after(int turns) {
  surroundings in;
  manual_clock clock;
  std::vector<join_handle<>> handles;
  {
    loop lp({.clock = &clock});
    handles = spawn_in_every_state(lp, in, busy::yes);
    if (turns % 3 == 1) handles.front().cancel();
    if (turns % 5 == 1) handles.back().kill();
    for (int i = 0; i < turns; ++i) lp.step();
  }
  for (auto& one : handles) CHECK(one.done());
  CHECK(in.one.done());
  CHECK(in.other.done());
}

}  // namespace

TEST_CASE("a loop that is destroyed after any number of turns leaves nothing") {
  const int times = detail::recycles_frames ? 10'000 : 400;
  for (int i = 0; i < times; ++i) {
    destroy_after(i % 47);
    REQUIRE(counted::live == 0);
  }
}
