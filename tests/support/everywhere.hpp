// A task on each kind of executor: a thread, a loop, runtimes of some workers.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include <cstddef>
#include <doctest/doctest.h>
#include <utility>

namespace hocket_test {

inline constexpr std::size_t worker_counts[] = {1, 2, 4, 8};

// `body()` makes the task.
template <class F>
void everywhere(F body) {
  SUBCASE("on a thread") {
    auto whole = body();
    hocket::sync_wait(std::move(whole));
  }
  SUBCASE("on a loop") {
    hocket::loop lp;
    auto handle = hocket::spawn(lp, body);
    lp.run_until(handle);
    hocket::sync_wait(std::move(handle));
  }
  SUBCASE("on a runtime") {
    for (const std::size_t workers : worker_counts) {
      CAPTURE(workers);
      hocket::runtime rt({.workers = workers});
      hocket::sync_wait(hocket::spawn(rt, body));
    }
  }
}

}  // namespace hocket_test
