// A worker that has never run a fiber, and has no memory for what that needs, is no end for one that moves to it.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/auto_reset_event.hpp>

#include "support/alloc.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <optional>
#include <thread>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("a fiber that moves to a worker where there is no memory goes on when there is some") {
  auto_reset_event bell;
  std::optional<allocation_watch> watch;  // the other worker's, from where it rings to where the fiber goes on
  std::atomic<int> come{0};
  std::atomic<bool> gone_on{false};
  hocket::runtime rt({.workers = 2});
  auto ring = [&](const void* home) -> task<> {
    ++come;
    while (come.load() < 2) std::this_thread::yield();  // one on each worker
    if (&detail::this_thread() != home) {
      watch.emplace(1);
      bell.set();
      co_return;
    }
    while (!gone_on.load()) std::this_thread::yield();
  };
  bool moved = false, failed = false;
  sync_wait(spawn(rt, {.migratable = true}, [&] {
    const void* const home = &detail::this_thread();
    for (int i = 0; i < 2; ++i) static_cast<void>(spawn(rt, ring, home));
    await(or_throw(bell.wait()));
    moved = &detail::this_thread() != home;
    failed = watch->has_failed();
    watch.reset();
    gone_on = true;
  }));
  CHECK(moved);
  CHECK(failed);
}
