// A runtime of two workers whose first one gets stuck.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/worker_at.hpp>

#include "support/readiness_driver.hpp"
#include "support/runtime_look.hpp"

#include <atomic>
#include <chrono>
#include <doctest/doctest.h>
#include <thread>

namespace hocket_test {

struct stuck_worker {
  hocket::manual_clock time;
  readiness_drivers io;
  hocket::runtime rt{{.workers = 2, .clock = &time}};
  hocket::detail::worker_at place{rt, 0};  // where what is to be held up begins
  std::atomic<int> served{0};

  stuck_worker() { io.on(rt); }

  // When all that was spawned waits: a coroutine of the first worker does not let go until so many are served, or for
  // much longer than that may take. Whether they were. meanwhile() is called when it holds.
  template <class Meanwhile>
  bool holds_until(int count, Meanwhile meanwhile) {
    hocket::detail::runtime_look::wait_until_asleep(rt);
    std::atomic<bool> holds{false};
    auto hold = [&]() -> hocket::task<bool> {
      holds = true;
      const auto begun = std::chrono::steady_clock::now();
      while (served < count && std::chrono::steady_clock::now() - begun < std::chrono::seconds(10))
        std::this_thread::yield();
      co_return served >= count;
    };
    auto holder = hocket::spawn(place, hold);
    while (!holds) std::this_thread::yield();
    meanwhile();
    return hocket::sync_wait(std::move(holder));
  }
};

}  // namespace hocket_test
