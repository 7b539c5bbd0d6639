// The semaphore, for every kind.
#pragma once
#include <hocket/sync/event.hpp>
#include <hocket/sync/semaphore.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <vector>

namespace hocket_test {

inline void raise_to(std::atomic<int>& most, int number) {
  int seen = most.load();
  while (seen < number && !most.compare_exchange_weak(seen, number)) {
  }
}

template <class Kind>
using semaphore_of = hocket::basic_semaphore<typename Kind::strength>;

TEST_CASE_TEMPLATE("a semaphore gives the permits that it has, and takes them back", Kind, HOCKET_SUITE_KINDS) {
  semaphore_of<Kind> permits(3);
  Kind world;
  auto work = [&]() -> typename Kind::body {
    {
      auto two = co_await permits.acquire(2);
      CHECK(two->count() == 2);
      CHECK(permits.available() == 1);
      CHECK_FALSE(permits.try_acquire(2));
      auto one = permits.try_acquire();
      CHECK(static_cast<bool>(one));
      CHECK(permits.available() == 0);
      one.release();
      CHECK(one.count() == 0);
      CHECK(permits.available() == 1);
    }
    CHECK(permits.available() == 3);
    auto lost = co_await permits.acquire(3);
    CHECK(lost->forget() == 3);
    CHECK(lost->forget() == 0);
  };
  int only = world.start(work);
  world.settle();
  CHECK(world.ended(only) == fate::ended);
  CHECK(permits.available() == 0);
  permits.release(5);
  CHECK(permits.available() == 5);
}

TEST_CASE_TEMPLATE("who wants many permits is not overtaken by those who want few", Kind, HOCKET_SUITE_KINDS) {
  semaphore_of<Kind> permits(2);
  record_of<Kind, int> order;
  Kind world;
  auto take = [&](int n, std::size_t wanted) -> typename Kind::body {
    auto mine = co_await permits.acquire(wanted);
    order.push_back(n);
    mine->forget();
  };
  world.start(take, 1, 3u);
  world.start(take, 2, 1u);
  world.start(take, 3, 2u);
  world.settle();
  CHECK(order.empty());
  CHECK(permits.available() == 2);
  CHECK_FALSE(permits.try_acquire());
  permits.release(2);
  world.settle();
  CHECK(order == std::vector{1, 2});
  CHECK(permits.available() == 0);
  permits.release(3);
  world.settle();
  CHECK(order == std::vector{1, 2, 3});
  CHECK(permits.available() == 1);
}

TEST_CASE_TEMPLATE("who wants no permit waits for his turn only, and takes nothing", Kind, HOCKET_SUITE_KINDS) {
  semaphore_of<Kind> permits(0);
  record_of<Kind, int> order;
  Kind world;
  auto take = [&](int n, std::size_t wanted) -> typename Kind::body {
    auto mine = co_await permits.acquire(wanted);
    CHECK(static_cast<bool>(*mine));
    CHECK(mine->count() == wanted);
    order.push_back(n);
  };
  world.start(take, 1, 0u);
  world.settle();
  CHECK(order == std::vector{1});
  CHECK(static_cast<bool>(permits.try_acquire(0)));
  world.start(take, 2, 1u);
  world.settle();
  world.start(take, 3, 0u);
  world.settle();
  CHECK(order == std::vector{1});
  CHECK_FALSE(permits.try_acquire(0));
  permits.release(0);
  world.settle();
  CHECK(order == std::vector{1});
  CHECK(permits.available() == 0);
  permits.release();
  world.settle();
  CHECK(order == std::vector{1, 2, 3});
  CHECK(permits.available() == 1);
}

TEST_CASE_TEMPLATE("fault 13: when the first in line is cancelled, those behind it are served at once", Kind,
                   HOCKET_SUITE_KINDS) {
  semaphore_of<Kind> permits(2);
  record_of<Kind, int> order;
  std::error_code error;
  Kind world;
  auto take = [&](int n, std::size_t wanted) -> typename Kind::body {
    auto mine = co_await permits.acquire(wanted);
    if (!mine) {
      error = mine.error();
      co_return;
    }
    order.push_back(n);
    mine->forget();
  };
  int head = world.start(take, 1, 5u);
  world.start(take, 2, 1u);
  world.start(take, 3, 1u);
  world.start(take, 4, 1u);
  world.settle();
  CHECK(order.empty());
  world.cancel(head);
  world.settle();
  CHECK(error == std::errc::operation_canceled);
  CHECK(order == std::vector{2, 3});
  permits.release();
  world.settle();
  CHECK(order == std::vector{2, 3, 4});
  CHECK(permits.available() == 0);
}

TEST_CASE_TEMPLATE("fault 13: the same when it times out, and when it is killed", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  semaphore_of<Kind> permits(1);
  std::atomic<int> served{0};
  Kind world;
  auto take = [&](std::size_t wanted, hocket::duration limit) -> typename Kind::body {
    auto mine = co_await within(limit, permits.acquire(wanted));
    if (mine) ++served;
  };
  world.start(take, 2u, hocket::duration(10ms));
  world.start(take, 1u, hocket::duration::max());
  world.settle();
  CHECK(served == 0);
  world.pass(10ms);
  CHECK(served == 1);
  CHECK(permits.available() == 1);
  int victim = world.start(take, 2u, hocket::duration::max());
  world.start(take, 1u, hocket::duration::max());
  world.settle();
  CHECK(served == 1);
  world.kill(victim);
  world.settle();
  CHECK(served == 2);
  CHECK(permits.available() == 1);
}

TEST_CASE_TEMPLATE("a semaphore lets as many work at a time as it has permits", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  constexpr int workers = 6, rounds = 3;
  semaphore_of<Kind> permits(2);
  hocket::basic_event<typename Kind::strength> never;
  std::atomic<int> inside{0}, most{0}, done{0};
  Kind world;
  auto work = [&]() -> typename Kind::body {
    for (int i = 0; i < rounds; ++i) {
      auto mine = co_await permits.acquire();
      raise_to(most, ++inside);
      (void)co_await within(1ms, never.wait());
      --inside;
      ++done;
    }
  };
  for (int i = 0; i < workers; ++i) world.start(work);
  world.settle();
  for (int i = 0; i < workers * rounds; ++i) world.pass(1ms);
  CHECK(done == workers * rounds);
  CHECK(most == 2);
  CHECK(permits.available() == 2);
}

}  // namespace hocket_test
