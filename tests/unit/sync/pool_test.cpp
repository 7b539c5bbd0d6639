// A pool's idle objects, and misuse.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/pool.hpp>

#include "support/death.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

using numbers = unsync::pool<int>;

numbers::lease borrow(numbers& from) { return sync_wait(from.borrow()).value(); }

}  // namespace

TEST_CASE("an object that was idle for too long is destroyed by the next borrow, and the younger ones stay") {
  manual_clock time;
  numbers all({.limit = 4, .idle = 10s, .clock = &time});
  {
    auto one = borrow(all), two = borrow(all);
    one.emplace(1);
    two.emplace(2);
    one.release();
    time.advance(6s);
  }
  CHECK(all.idle() == 2);
  time.advance(5s);
  {
    const auto young = borrow(all);
    CHECK(*young == 2);
    CHECK(all.idle() == 0);
  }
  CHECK(all.trim() == 0);
  time.advance(11s);
  CHECK(all.trim() == 1);
  CHECK(all.idle() == 0);
}

TEST_CASE("an idle object that fails its check is destroyed, and the next one is looked at") {
  numbers all({.limit = 4, .check = [](int& number) { return number % 2 == 0; }});
  {
    auto first = borrow(all), second = borrow(all), third = borrow(all);
    first.emplace(1);
    second.emplace(2);
    third.emplace(3);
    third.release();
    second.release();
    first.release();
  }
  const auto even = borrow(all);
  CHECK(*even == 2);
  CHECK(all.idle() == 1);  // 3 is below it
  CHECK_FALSE(borrow(all));
  CHECK(all.idle() == 0);
}

TEST_CASE("a lease can be moved, discarded, and given back while an exception unwinds") {
  numbers all({.limit = 1});
  auto first = borrow(all);
  first.emplace(7);
  auto second = std::move(first);
  CHECK_FALSE(first);
  CHECK(*second == 7);
  second.discard();
  CHECK(all.idle() == 0);
  CHECK(all.in_use() == 0);
  try {
    struct gives_back {
      numbers::lease lent;
      ~gives_back() { lent.release(); }
    } at_end{borrow(all)};
    at_end.lent.emplace(8);
    throw std::runtime_error("no");
  } catch (const std::runtime_error&) {
  }
  CHECK(*borrow(all) == 8);
}

TEST_CASE("an object whose constructor throws leaves the lease without one") {
  struct throws {
    explicit throws(bool does) {
      if (does) throw std::runtime_error("no");
    }
  };
  unsync::pool<throws> all({.limit = 1});
  {
    auto lent = sync_wait(all.borrow()).value();
    CHECK_THROWS_AS(lent.emplace(true), std::runtime_error);
    CHECK_FALSE(lent);
    lent.emplace(false);
    CHECK(static_cast<bool>(lent));
  }
  CHECK(all.idle() == 1);
}

TEST_CASE("threads share a pool: never more objects than the limit, each with one at a time") {
  struct counted {
    std::atomic<int> users{0};
  };
  pool<counted> all({.limit = 3});
  std::atomic<int> made{0}, wrong{0};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 6; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 2'000; ++k) {
        auto lent = sync_wait(all.borrow()).value();
        if (!lent) {
          ++made;
          lent.emplace();
        }
        wrong += ++lent->users != 1;
        --lent->users;
        if (k % 100 == 0) {
          --made;
          lent.discard();
        }
        wrong += made > 3;
      }
    });
  threads.clear();
  CHECK(wrong == 0);
  CHECK(all.in_use() == 0);
  CHECK(static_cast<int>(all.idle()) == made);
}

TEST_CASE("misuse is fatal, with its remedy") {
  using hocket_test::expect_fatal;
  expect_fatal([] { numbers({.limit = 0}); }, "a pool for no objects");
  expect_fatal(
      [] {
        numbers all;
        *borrow(all) = 1;
      },
      "a lease without an object");
  expect_fatal(
      [] {
        numbers all;
        auto lent = borrow(all);
        lent.release();
        lent.emplace(1);
      },
      "emplace() at a lease that has ended");
  expect_fatal(
      [] {
        numbers::lease longer;
        numbers all;
        longer = borrow(all);
      },
      "a pool was destroyed while something of it is lent");
}
