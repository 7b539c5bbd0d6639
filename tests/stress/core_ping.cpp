// FAULTS 1 by brute force: a thread that sleeps and a poster that wakes it, a hundred thousand times each way. A lost
// wake-up is a hang, which the time limit of the test ends.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/thread/seam/thread_executor.hpp>

#include "unit/core/permit_source.hpp"

#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;

TEST_CASE("fault 01: two threads that wake each other lose no wake-up") {
  constexpr int rounds = 100'000;
  detail::thread_executor here, there;
  detail::runnable ball{};
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) here.post_from_outside(*there.take());
  });
  int returned = 0;
  for (int i = 0; i < rounds; ++i) {
    there.post_from_outside(ball);
    returned += here.take() == &ball;
  }
  other.join();
  CHECK(returned == rounds);
}

TEST_CASE("fault 03: a waiting coroutine is woken by each of a hundred thousand foreign grants") {
  constexpr int rounds = 100'000;
  permit_source asked, answered;
  std::thread other([&] {
    for (int i = 0; i < rounds; ++i) {
      if (sync_wait(asked.acquire()) == detail::wait_end::granted) answered.release();
    }
  });
  int granted = 0;
  for (int i = 0; i < rounds; ++i) {
    asked.release();
    granted += sync_wait(answered.acquire()) == detail::wait_end::granted;
  }
  other.join();
  CHECK(granted == rounds);
}
