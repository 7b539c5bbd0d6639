// Fault 2: two foreign wakes while the task parks, of which one is lost. Two threads wake one task at the same time,
// round by round, and each wake-up leads to one more run of it: it ends when it has run as often as it was woken, and
// hangs otherwise.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/semaphore.hpp>

#include <atomic>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;

namespace {

constexpr int wakes = detail::sanitizer == detail::sanitizer_kind::plain ? 10'000 : 1'000;

struct sleeper {
  semaphore wake{0};
  std::atomic<int> runs{0};

  task<> body() {
    while (runs.load() < 2 * wakes) {
      auto woken = co_await wake.acquire();
      woken->forget();
      ++runs;
    }
  }
};

void wake_from_two_threads(sleeper& who, auto run) {
  auto waker = [&who] {
    for (int i = 0; i < wakes; ++i) {
      while (who.runs.load() < 2 * i) std::this_thread::yield();
      who.wake.release();
    }
  };
  std::thread one(waker), other(waker);
  run();
  one.join();
  other.join();
  CHECK(who.runs == 2 * wakes);
  CHECK(who.wake.available() == 0);
}

}  // namespace

TEST_CASE("fault 2: a task on a loop runs once for each of the wakes of two threads") {
  sleeper who;
  loop lp;
  auto body = spawn(lp, &sleeper::body, &who);
  wake_from_two_threads(who, [&] { lp.run_until(body); });
}

TEST_CASE("fault 2: a task on a runtime runs once for each of the wakes of two threads") {
  for (const std::size_t workers : {1u, 2u, 4u}) {
    CAPTURE(workers);
    sleeper who;
    hocket::runtime rt({.workers = workers});
    auto body = spawn(rt, &sleeper::body, &who);
    wake_from_two_threads(who, [&] { sync_wait(std::move(body)); });
  }
}
