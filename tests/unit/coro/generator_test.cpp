#include <hocket/coro/generator.hpp>

#include "support/death.hpp"
#include "unit/coro/queue_executor.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <memory>
#include <ranges>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

generator<int> count(int n) {
  for (int i = 0; i < n; ++i) co_yield i;
}
generator<int> squares(int n) {
  for (int i : count(n)) co_yield i* i;
}
generator<int> breaks(int after) {
  for (int i = 0; i < after; ++i) co_yield i;
  throw std::runtime_error("broken");
}

static_assert(std::ranges::input_range<generator<int>>);
static_assert(std::ranges::view<generator<int>>);
static_assert(std::ranges::view<generator<std::string_view, std::string>>);
static_assert(std::ranges::viewable_range<generator<int>>);
static_assert(!std::ranges::viewable_range<generator<int>&>);
static_assert(std::is_same_v<std::views::all_t<generator<int>>, generator<int>>, "no view around the view");
static_assert(!std::ranges::forward_range<generator<int>>);
static_assert(!std::is_copy_constructible_v<generator<int>>);
static_assert(std::is_same_v<std::ranges::range_reference_t<generator<int>>, int&&>);
static_assert(std::is_same_v<std::ranges::range_reference_t<generator<const int&>>, const int&>);
static_assert(
    std::is_same_v<std::ranges::range_reference_t<generator<std::string_view, std::string>>, std::string_view>);
static_assert(std::is_same_v<std::ranges::range_value_t<generator<std::string_view, std::string>>, std::string>);
static_assert(detail::has_header<generator<int>::promise_type>);

std::vector<int> all(generator<int> g) {
  std::vector<int> out;
  for (int n : g) out.push_back(n);
  return out;
}

}  // namespace

TEST_CASE("a generator gives its values in order, then ends") {
  CHECK(all(squares(5)) == std::vector<int>{0, 1, 4, 9, 16});
  CHECK(all(count(0)).empty());
}

TEST_CASE("a generator runs no further than it is asked") {
  int reached = 0;
  auto body = [&]() -> generator<int> {
    for (;;) co_yield ++reached;
  };
  auto g = body();
  CHECK(reached == 0);
  auto at = g.begin();
  CHECK(reached == 1);
  CHECK(*at == 1);
  CHECK(*at == 1);
  ++at;
  at++;
  CHECK(reached == 3);
  CHECK(at != g.end());
}

TEST_CASE("a generator works with the range library") {
  auto even = squares(10) | std::views::filter([](int n) { return n % 2 == 0; }) | std::views::take(3);
  std::vector<int> got;
  for (int n : even) got.push_back(n);
  CHECK(got == std::vector<int>{0, 4, 16});
  auto g = count(100);
  CHECK(*std::ranges::find(g, 42) == 42);
}

TEST_CASE("a pipeline takes over a generator that is moved into it") {
  auto body = [](counted) -> generator<int> {
    for (int i = 0;; ++i) co_yield i;
  };
  {
    auto g = body(counted{});
    auto three = std::move(g) | std::views::drop(2) | std::views::take(3);
    std::vector<int> got;
    for (int n : three) got.push_back(n);
    CHECK(got == std::vector<int>{2, 3, 4});
    CHECK(counted::live == 1);
  }
  CHECK(counted::live == 0);
}

TEST_CASE("references yield the object itself") {
  std::vector<int> numbers{1, 2, 3};
  auto each = [&]() -> generator<int&> {
    for (int& n : numbers) co_yield n;
  };
  for (int& n : each()) n *= 10;
  CHECK(numbers == std::vector<int>{10, 20, 30});

  auto look = [&]() -> generator<const int&> {
    for (int& n : numbers) co_yield n;
  };
  auto g = look();
  CHECK(&*g.begin() == &numbers[0]);
}

TEST_CASE("values that only move are moved out, lvalues are copied before") {
  auto make = []() -> generator<std::unique_ptr<int>> {
    co_yield std::make_unique<int>(1);
    auto second = std::make_unique<int>(2);
    co_yield std::move(second);
  };
  std::vector<std::unique_ptr<int>> got;
  for (auto&& p : make()) got.push_back(std::forward<decltype(p)>(p));
  CHECK(*got[0] == 1);
  CHECK(*got[1] == 2);

  auto again = []() -> generator<std::string> {
    std::string mine = "kept";
    co_yield mine;
    co_yield mine;
  };
  std::vector<std::string> texts;
  for (auto&& s : again()) texts.push_back(std::forward<decltype(s)>(s));
  CHECK(texts == std::vector<std::string>{"kept", "kept"});
}

TEST_CASE("what is given away need not be small, nor have a default constructor, nor be mutable") {
  struct point {
    point(int first, int second) : x(first), y(second) {}
    int x, y;
  };
  struct line {
    point from, to;
    long weight;
  };
  static_assert(detail::yields_small_copies<point&&>);
  static_assert(!detail::yields_small_copies<line&&>);
  static_assert(!detail::yields_small_copies<const point&>);
  auto points = []() -> generator<point> {
    point mine(1, 2);
    co_yield mine;
    mine.x = 3;
    co_yield point(4, mine.x);
    co_yield std::move(mine);
  };
  int sum = 0;
  for (point&& p : points()) {
    sum = 10 * sum + p.x;
    p.x = 0;  // the reader's own copy
  }
  CHECK(sum == 143);

  auto lines = []() -> generator<line> {
    const line mine{point(1, 2), point(3, 4), 5};
    co_yield mine;
  };
  for (line&& l : lines()) CHECK(l.to.y + l.weight == 9);

  auto constants = []() -> generator<const int> { co_yield 7; };
  static_assert(std::is_same_v<std::ranges::range_reference_t<decltype(constants())>, const int&&>);
  for (const int& n : constants()) CHECK(n == 7);
}

TEST_CASE("a proxy reference has a value type of its own") {
  auto words = []() -> generator<std::string_view, std::string> {
    co_yield "one";
    co_yield std::string_view("two");
  };
  std::string joined;
  for (std::string_view w : words()) joined += w;
  CHECK(joined == "onetwo");
}

TEST_CASE("an exception of the body comes out of begin or ++, and ends the sequence") {
  auto at_once = breaks(0);
  CHECK_THROWS_WITH_AS(static_cast<void>(at_once.begin()), "broken", std::runtime_error);

  auto later = breaks(1);
  auto at = later.begin();
  CHECK(*at == 0);
  CHECK_THROWS_WITH_AS(++at, "broken", std::runtime_error);
  CHECK(at == later.end());
}

TEST_CASE("a generator destroyed while suspended destroys its locals") {
  auto body = [](counted) -> generator<int> {
    counted local;
    for (int i = 0;; ++i) co_yield i;
  };
  {
    auto unstarted = body(counted{});
    auto g = body(counted{});
    CHECK(counted::live == 2);
    auto at = g.begin();
    ++at;
    CHECK(counted::live == 3);
    g = count(1);
    CHECK(counted::live == 1);
    auto moved = std::move(g);
    CHECK(*moved.begin() == 0);
  }
  CHECK(counted::live == 0);
}

TEST_CASE("misuse of a generator aborts and names the remedy") {
  if (!detail::misuse_checks) return;
  expect_fatal(
      [] {
        auto g = count(2);
        (void)g.begin();
        (void)g.begin();
      },
      "begin() was called twice");
  expect_fatal(
      [] {
        auto g = count(2);
        auto h = std::move(g);
        (void)g.begin();
      },
      "moved from");
  expect_fatal(
      [] {
        auto g = count(1);
        auto at = g.begin();
        ++at;
        ++at;
      },
      "compare the iterator with end()");
  expect_fatal(
      [] {
        using iterator = generator<int>::iterator;
        iterator* inside = nullptr;
        auto body = [&]() -> generator<int> {
          co_yield 1;
          ++*inside;
          co_yield 2;
        };
        auto g = body();
        auto at = g.begin();
        inside = &at;
        ++at;
      },
      "from inside itself");
  expect_fatal(
      [] {
        std::unique_ptr<generator<int>> self;
        auto body = [&]() -> generator<int> {
          self.reset();
          co_yield 1;
        };
        self = std::make_unique<generator<int>>(body());
        (void)self->begin();
      },
      "destroyed while it runs");
  if (!detail::debug_checks) return;
  expect_fatal(
      [] {
        auto g = count(0);
        auto at = g.begin();
        return *at;
      },
      "compare the iterator with end() first");
}
