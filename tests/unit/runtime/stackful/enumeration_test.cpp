// Where a collector finds what fibers and the workers beneath them hold.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/own_stack.hpp"
#include "support/roots.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a fiber that runs leads to the stack of its worker" * doctest::skip(!can_enumerate_stacks())) {
  hidden below, waits;
  told_ranges told;
  hold(below, [&] {
    loop lp;
    spawn(lp, [&] { hold(waits, [] { await(yield()); }); });
    spawn(lp, [&] { told = look(); });
    lp.run();
  });
  CHECK(told.unknown == 0);
  CHECK(told.holds(below) == 1);
  CHECK(told.holds(waits) == 1);
}

TEST_CASE("a loop that a coroutine runs leads on to who has resumed that one" *
          doctest::skip(!can_enumerate_stacks())) {
  hidden native, runs;
  told_ranges told;
  coroutine<void()> outer([&](auto&) {
    hold(runs, [&] {
      loop lp;
      spawn(lp, [&] { told = look(); });
      lp.run();
    });
  });
  hold(native, [&] { outer.resume(); });
  CHECK(told.unknown == 0);
  CHECK(told.holds(runs) == 1);
  CHECK(told.holds(native) == 1);
}

TEST_CASE("a loop on a stack that its thread has called is told" * doctest::skip(!can_enumerate_stacks())) {
  hidden native, called;
  told_ranges told;
  hold(native, [&] {
    call_on_big_stack([&] {
      hold(called, [&] {
        loop lp;
        spawn(lp, [&] { told = look(); });
        lp.run();
      });
    });
  });
  CHECK(told.unknown == 0);
  CHECK(told.holds(native) == 1);
  CHECK(told.holds(called) == 1);
}
