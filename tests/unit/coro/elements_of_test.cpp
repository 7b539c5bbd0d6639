#include <hocket/coro/elements_of.hpp>
#include <hocket/coro/generator.hpp>

#include "support/death.hpp"
#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr int very_deep = 100'000;

struct node {
  int value;
  std::vector<node> children{};
};

generator<const node&> each(const node& n) {
  co_yield n;
  for (const node& child : n.children) co_yield elements_of(each(child));
}

// n, n - 1 .. 0 on the way down, and the same negative on the way up.
generator<int> down_and_up(int n, counted = {}) {
  counted local;
  co_yield n;
  if (n > 0) co_yield elements_of(down_and_up(n - 1));
  co_yield -n;
}

generator<int> fails_below(int depth) {
  counted local;
  if (depth == 0) throw std::runtime_error("from the bottom");
  co_yield depth;
  co_yield elements_of(fails_below(depth - 1));
}

generator<int> nothing_at_all() { co_return; }

std::vector<int> values_of(generator<int> g) {
  std::vector<int> out;
  for (int n : g) out.push_back(n);
  return out;
}

}  // namespace

TEST_CASE("elements_of hands over every value of a generator, and goes on after its end") {
  CHECK(values_of(down_and_up(2)) == std::vector<int>{2, 1, 0, 0, -1, -2});
  CHECK(counted::live == 0);

  node root{1, {{2, {{3}, {4}}}, {5}}};
  std::vector<const node*> seen;
  for (const node& n : each(root)) seen.push_back(&n);
  CHECK(seen == std::vector<const node*>{&root, &root.children[0], &root.children[0].children[0],
                                         &root.children[0].children[1], &root.children[1]});
}

TEST_CASE("generators that give nothing give nothing when they are nested") {
  auto outer = []() -> generator<int> {
    co_yield elements_of(nothing_at_all());
    co_yield elements_of(nothing_at_all());
  };
  CHECK(values_of(outer()).empty());
  auto between = [&]() -> generator<int> {
    co_yield elements_of(outer());
    co_yield 1;
    co_yield elements_of(outer());
    co_yield 2;
    co_yield elements_of(outer());
  };
  CHECK(values_of(between()) == std::vector<int>{1, 2});
}

TEST_CASE("an inner generator is destroyed at its end, before the outer body goes on") {
  std::vector<int> live;
  auto inner = [](counted) -> generator<int> {
    counted local;
    co_yield 1;
  };
  auto outer = [&]() -> generator<int> {
    co_yield elements_of(inner(counted{}));
    live.push_back(counted::live);
    co_yield 2;
  };
  auto g = outer();
  auto at = g.begin();
  CHECK(counted::live >= 2);
  ++at;
  CHECK(*at == 2);
  ++at;
  CHECK(at == g.end());
  CHECK(counted::live == 0);
}

TEST_CASE("a named generator is handed over by std::move, and is empty then") {
  auto first = down_and_up(0);
  auto outer = [&]() -> generator<int> { co_yield elements_of(std::move(first)); };
  CHECK(values_of(outer()) == std::vector<int>{0, 0});
  first = down_and_up(1);
  CHECK(values_of(std::move(first)) == std::vector<int>{1, 0, 0, -1});
}

TEST_CASE("generators of other types nest if they yield the same") {
  auto inner = []() -> generator<std::string&&, std::string> { co_yield std::string("inner"); };
  auto outer = [&]() -> generator<std::string> {
    co_yield elements_of(inner());
    co_yield "outer";
  };
  std::string joined;
  for (auto&& s : outer()) joined += s;
  CHECK(joined == "innerouter");
}

TEST_CASE("elements_of takes any range whose elements convert") {
  std::vector<long> numbers{1, 2};
  int array[] = {3, 4};
  auto all = [&]() -> generator<int> {
    co_yield elements_of(array);
    co_yield elements_of(std::vector<bool>(1, true));
    for (long n : numbers) co_yield static_cast<int>(n);
  };
  CHECK(values_of(all()) == std::vector<int>{3, 4, 1, 1, 2});

  std::vector<std::string> names{"kept", "too"};
  auto texts = [&]() -> generator<std::string> {
    co_yield elements_of(names);
    co_yield elements_of(std::move(names));
  };
  std::vector<std::string> got;
  for (auto&& s : texts()) got.push_back(std::forward<decltype(s)>(s));
  CHECK(got == std::vector<std::string>{"kept", "too", "kept", "too"});

  auto references = [&]() -> generator<int&> { co_yield elements_of(array); };
  for (int& n : references()) n *= 10;
  CHECK(array[1] == 40);

  auto converts = []() -> generator<std::string_view, std::string> {
    auto inner = []() -> generator<std::string> { co_yield "of another type"; };
    co_yield elements_of(inner());
  };
  for (std::string_view s : converts()) CHECK(s == "of another type");
}

TEST_CASE("values that only move are moved out of a nested generator") {
  auto inner = []() -> generator<std::unique_ptr<int>> { co_yield std::make_unique<int>(7); };
  auto outer = [&]() -> generator<std::unique_ptr<int>> { co_yield elements_of(inner()); };
  std::unique_ptr<int> got;
  for (auto&& p : outer()) got = std::move(p);
  CHECK(*got == 7);
}

TEST_CASE("an exception of an inner body comes out of the co_yield in the outer one") {
  auto survives = []() -> generator<int> {
    bool caught = false;
    try {
      co_yield elements_of(fails_below(2));
    } catch (const std::runtime_error&) {
      caught = true;
    }
    co_yield caught ? 100 : 0;
    co_yield elements_of(down_and_up(0));
  };
  CHECK(values_of(survives()) == std::vector<int>{2, 1, 100, 0, 0});
  CHECK(counted::live == 0);
}

TEST_CASE("an exception that nobody catches comes out of ++, and ends the sequence") {
  auto g = fails_below(1);
  auto at = g.begin();
  CHECK_THROWS_WITH_AS(++at, "from the bottom", std::runtime_error);
  CHECK(at == g.end());
  CHECK(counted::live == 0);

  auto at_once = []() -> generator<int> { co_yield elements_of(fails_below(0)); };
  auto never_begun = at_once();
  CHECK_THROWS_WITH_AS(static_cast<void>(never_begun.begin()), "from the bottom", std::runtime_error);
}

TEST_CASE("destroying the outermost generator in the middle destroys all, the innermost first") {
  std::vector<int> order;
  struct noted {
    noted(std::vector<int>& to, int n) : to_(to), n_(n) {}
    noted(const noted&) = delete;
    ~noted() { to_.push_back(n_); }
    std::vector<int>& to_;
    int n_;
  };
  struct nest {
    static generator<int> of(std::vector<int>& to, int n) {
      noted local(to, n);
      if (n > 0) co_yield elements_of(of(to, n - 1));
      for (int i = 0; i < 10; ++i) co_yield n;
    }
  };
  {
    auto g = nest::of(order, 3);
    auto at = g.begin();
    CHECK(*at == 0);
    ++at;
    auto moved = std::move(g);
    ++at;
    CHECK(order.empty());
  }
  CHECK(order == std::vector<int>{0, 1, 2, 3});
}

TEST_CASE("no depth overflows the stack: down, up, by exception and by destruction") {
  long count = 0, sum = 0;
  for (int n : down_and_up(very_deep)) {
    ++count;
    sum += n;
  }
  CHECK(count == 2 * (very_deep + 1));
  CHECK(sum == 0);

  {
    auto g = down_and_up(very_deep);
    for (int n : g)
      if (n == 0) break;
    CHECK(counted::live > very_deep);
  }
  CHECK(counted::live == 0);

  auto failing = fails_below(very_deep / 10);
  auto exhaust = [&] {
    for (int n : failing) sum += n;
  };
  CHECK_THROWS_AS(exhaust(), std::runtime_error);
  CHECK(counted::live == 0);
}

TEST_CASE("a long run of nested generators, one after the other, keeps the stack") {
  auto run = []() -> generator<int> {
    for (int i = 0; i < very_deep; ++i) co_yield elements_of(nothing_at_all());
    co_yield 1;
  };
  CHECK(values_of(run()) == std::vector<int>{1});
}

TEST_CASE("misuse of elements_of aborts and names the remedy") {
  if (!detail::misuse_checks) return;
  expect_fatal(
      [] {
        auto inner = down_and_up(1);
        (void)inner.begin();
        auto outer = [&]() -> generator<int> { co_yield elements_of(std::move(inner)); };
        (void)values_of(outer());
      },
      "hand it over before its begin()");
  expect_fatal(
      [] {
        auto inner = down_and_up(1);
        auto other = std::move(inner);
        auto outer = [&]() -> generator<int> { co_yield elements_of(std::move(inner)); };
        (void)values_of(outer());
      },
      "elements_of was given a generator that was moved from");
  expect_fatal(
      [] {
        generator<int>::iterator* inside = nullptr;
        auto inner = [&]() -> generator<int> {
          co_yield 1;
          ++*inside;
        };
        auto outer = [&]() -> generator<int> {
          co_yield elements_of(inner());
          co_yield 2;
        };
        auto g = outer();
        auto at = g.begin();
        inside = &at;
        ++at;
      },
      "from inside itself");
  expect_fatal(
      [] {
        std::unique_ptr<generator<int>> self;
        auto inner = [&]() -> generator<int> {
          self.reset();
          co_yield 1;
        };
        auto outer = [&]() -> generator<int> { co_yield elements_of(inner()); };
        self = std::make_unique<generator<int>>(outer());
        (void)self->begin();
      },
      "destroyed while it runs");
}
