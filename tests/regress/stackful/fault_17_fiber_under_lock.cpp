// FAULT 17 for fibers: see ../fault_17_wait_under_lock.cpp. The lock may have been taken by any caller of what waits.
#include <hocket/core/checked_lock.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <mutex>

using namespace hocket;
using hocket_test::end_of_child, hocket_test::expect_fatal;

namespace {

using lock_type = checked_lock<std::mutex>;

void deep_inside(event& never) {
  auto set = await(never.wait());
  static_cast<void>(set);
}

}  // namespace

TEST_CASE("FAULT 17: a fiber that waits under a checked lock of its caller is fatal, and names both" *
          doctest::skip(!detail::debug_checks)) {
  const auto end = end_of_child([] {
    lock_type lock("inventory");
    event never;
    loop here;
    static_cast<void>(spawn(here, {.name = "careless"}, [&] {
      std::lock_guard held(lock);
      deep_inside(never);
    }));
    here.run();
  });
  CHECK(end.aborted);
  CHECK_MESSAGE(end.errors.find("holds the lock \"inventory\"") != end.errors.npos, end.errors);
  CHECK_MESSAGE(end.errors.find("careless") != end.errors.npos, end.errors);
}

TEST_CASE("FAULT 17: so is a fiber's await of what is possible at once" * doctest::skip(!detail::debug_checks)) {
  expect_fatal(
      [] {
        lock_type lock;
        event set(true);
        loop here;
        static_cast<void>(spawn(here, [&] {
          std::lock_guard held(lock);
          deep_inside(set);
        }));
        here.run();
      },
      "a coroutine waited while its thread holds the lock");
}

TEST_CASE("FAULT 17: so is a fiber's yield" * doctest::skip(!detail::debug_checks)) {
  expect_fatal(
      [] {
        lock_type lock;
        loop here;
        static_cast<void>(spawn(here, [&] {
          std::lock_guard held(lock);
          await(yield());
        }));
        here.run();
      },
      "a coroutine waited while its thread holds the lock");
}
