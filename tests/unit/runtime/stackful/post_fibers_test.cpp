// Jobs beside fibers.
#include <hocket/core/post.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("await in a job is fatal, and the message says what to do") {
  expect_fatal(
      [] {
        loop lp;
        event never;
        post(lp, [&] { static_cast<void>(await(never.wait())); });
        lp.run();
      },
      "await was called in a task, or in a job");
}

TEST_CASE("a job wakes fibers, which go on behind it") {
  loop lp;
  event bell;
  int seen = 0;
  spawn(lp, [&] {
    static_cast<void>(await(bell.wait()));
    CHECK(seen == 1);
    ++seen;
  });
  post(lp, [&] {
    bell.set();
    ++seen;
  });
  lp.run();
  CHECK(seen == 2);
}
