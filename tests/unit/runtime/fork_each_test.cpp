// fork_each, and fork_join of callables: children that are made when their turn has come.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/fork_join.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"
#include "support/everywhere.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

task<long> fib(int n) {
  if (n < 2) co_return n;
  auto [a, b] = co_await fork_join([n] { return fib(n - 1); }, [n] { return fib(n - 2); });
  co_return a + b;
}
task<long> sum_of_tree(long first, long leaves) {
  if (leaves == 1) co_return first;
  std::array<long, 10> parts;
  co_await fork_each(
      10, [=](std::size_t i) { return sum_of_tree(first + static_cast<long>(i) * leaves / 10, leaves / 10); }, parts);
  co_return std::accumulate(parts.begin(), parts.end(), 0L);
}

task<std::size_t> square(std::size_t i) { co_return i* i; }
task<std::size_t> yields(std::size_t i) {
  if (i % 3 == 0) co_await yield();
  co_return i;
}

// Counts what is alive.
class counted {
 public:
  explicit counted(std::atomic<int>& alive) noexcept : alive_(&alive) { ++*alive_; }
  counted(counted&& other) noexcept : alive_(other.alive_) { ++*alive_; }
  counted& operator=(counted&&) noexcept { return *this; }
  ~counted() { --*alive_; }

 private:
  std::atomic<int>* alive_;
};

}  // namespace

TEST_CASE("callables are forked like tasks") {
  everywhere([]() -> task<> {
    CHECK(co_await fib(16) == 987);
    CHECK(co_await sum_of_tree(0, 1000) == 499500);
    auto [a, b, c] = co_await fork_join(square(3), [] { return square(4); }, []() -> task<> { co_return; });
    CHECK(a == 9);
    CHECK(b == 16);
    CHECK(c == no_value{});
  });
}

TEST_CASE("fork_each gives the results in order, of none, one and many children") {
  everywhere([]() -> task<> {
    for (const std::size_t count : std::initializer_list<std::size_t>{0, 1, 2, 1000}) {
      const std::vector<std::size_t> got = co_await fork_each(count, square);
      REQUIRE(got.size() == count);
      for (std::size_t i = 0; i < count; ++i) CHECK(got[i] == i * i);
      const std::vector<std::size_t> waited = co_await fork_each(count, yields);
      REQUIRE(waited.size() == count);
      for (std::size_t i = 0; i < count; ++i) CHECK(waited[i] == i);
    }
  });
}

TEST_CASE("fork_each takes a million children") {
  runtime rt({.workers = 2});
  constexpr std::size_t many = 1'000'000;
  const auto got = sync_wait(spawn(rt, []() -> task<std::vector<std::size_t>> {
    auto results = co_await fork_each(many, square);
    co_return results;
  }));
  REQUIRE(got.size() == many);
  CHECK(got[many - 1] == (many - 1) * (many - 1));
}

TEST_CASE("fork_each takes results of every kind") {
  everywhere([]() -> task<> {
    std::array<int, 3> targets{};
    auto text = [](std::size_t i) -> task<std::string> { co_return std::string(100, static_cast<char>('a' + i)); };
    auto own = [](std::size_t i) -> task<std::unique_ptr<std::size_t>> { co_return std::make_unique<std::size_t>(i); };
    auto refer = [&](std::size_t i) -> task<int&> { co_return targets[i]; };
    auto odd = [](std::size_t i) -> task<bool> { co_return i % 2 != 0; };
    std::atomic<int> ran{0};
    auto nothing = [&](std::size_t) -> task<> {
      ++ran;
      co_return;
    };
    const auto texts = co_await fork_each(3, text);
    CHECK(texts[2] == std::string(100, 'c'));
    const auto owned = co_await fork_each(3, own);
    CHECK(*owned[1] == 1);
    const std::vector<int*> references = co_await fork_each(3, refer);
    CHECK(references[2] == &targets[2]);
    const std::vector<bool> odds = co_await fork_each(3, odd);
    CHECK(odds == std::vector{false, true, false});
    co_await fork_each(3, nothing);
    CHECK(ran == 3);
  });
}

TEST_CASE("fork_each puts the results into a span") {
  everywhere([]() -> task<> {
    std::vector<std::size_t> squares(5, 77);
    co_await fork_each(4, square, squares);
    CHECK(squares == std::vector<std::size_t>{0, 1, 4, 9, 77});
    std::array<std::string, 2> texts{"old", "old"};
    co_await fork_each(2, [](std::size_t i) -> task<std::string> { co_return std::to_string(i); }, texts);
    CHECK(texts[0] == "0");
    CHECK(texts[1] == "1");
    co_await fork_each(0, square, squares);
  });
}

TEST_CASE("a span that is too short is fatal") {
  expect_fatal(
      [] {
        std::array<std::size_t, 2> two;
        auto body = [&]() -> task<> { co_await fork_each(3, square, two); };
        sync_wait(body());
      },
      "fork_each() has more children than its span has elements");
}

TEST_CASE("a fork that is awaited twice is fatal" * doctest::skip(!detail::debug_checks)) {
  expect_fatal(
      [] {
        auto body = []() -> task<> {
          auto row = fork_each(2, square);
          static_cast<void>(co_await row);
          static_cast<void>(co_await row);
        };
        sync_wait(body());
      },
      "a fork was awaited twice");
}

TEST_CASE("a child is made when its turn has come") {
  runtime alone({.workers = 1});
  std::atomic<int> alive{0};
  int most = 0;
  auto child = [&](counted) -> task<> {
    most = std::max(most, alive.load());
    co_return;
  };
  sync_wait(spawn(alone, [&]() -> task<> {
    co_await fork_each(100, [&](std::size_t) { return child(counted(alive)); });
    co_await fork_join([&] { return child(counted(alive)); }, [&] { return child(counted(alive)); });
  }));
  CHECK(most == 1);
  CHECK(alive == 0);
}

TEST_CASE("an exception of the callable is that of a child") {
  for (const std::size_t bad : std::initializer_list<std::size_t>{0, 50, 99}) {
    CAPTURE(bad);
    everywhere([bad]() -> task<> {
      std::atomic<int> alive{0};
      std::atomic<std::size_t> made{0};
      auto child = [](counted held) -> task<counted> { co_return held; };
      auto make = [&](std::size_t i) {
        ++made;
        if (i == bad) throw std::runtime_error(std::to_string(i));
        return child(counted(alive));
      };
      std::string caught;
      try {
        static_cast<void>(co_await fork_each(100, make));
      } catch (const std::runtime_error& error) {
        caught = error.what();
      }
      CHECK(caught == std::to_string(bad));
      CHECK(made == bad + 1);
      CHECK(alive == 0);
    });
  }
}

TEST_CASE("of several failures the first is rethrown, and the results of others are destroyed") {
  for (const std::size_t workers : std::initializer_list<std::size_t>{1, 2, 4}) {
    CAPTURE(workers);
    runtime rt({.workers = workers});
    std::atomic<int> alive{0}, begun{0};
    event all;
    auto child = [&](std::size_t i) -> task<counted> {
      counted held(alive);
      if (++begun == 10) all.set();
      static_cast<void>(co_await all.wait());
      if (i == 3 || i == 7) throw std::runtime_error(std::to_string(i));
      co_return held;
    };
    auto body = [&]() -> task<std::string> {
      try {
        static_cast<void>(co_await fork_each(10, child));
      } catch (const std::runtime_error& error) {
        co_return error.what();
      }
      co_return "";
    };
    const std::string caught = sync_wait(spawn(rt, body));
    CHECK(caught == "3");
    CHECK(alive == 0);
  }
}

TEST_CASE("what was never awaited is dropped") {
  std::atomic<int> alive{0};
  auto child = [](counted) -> task<> { co_return; };
  {
    auto never =
        fork_each(3, [&, held = std::make_shared<counted>(alive)](std::size_t) { return child(counted(alive)); });
    static_cast<void>(never);
    auto pair = fork_join([held = std::make_shared<counted>(alive)] { return square(1); },
                          [held = std::make_shared<counted>(alive)] { return square(2); });
    static_cast<void>(pair);
    CHECK(alive == 3);
  }
  CHECK(alive == 0);
}
