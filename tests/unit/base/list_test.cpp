#include <hocket/base/seam/list.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;
using hocket_test::expect_fatal;

namespace {

struct item : detail::list_node {
  explicit item(int n) : number(n) {}
  int number;
};

std::vector<int> numbers(detail::list<item>& items) {
  std::vector<int> out;
  for (auto& one : items) out.push_back(one.number);
  return out;
}

}  // namespace

TEST_CASE("a list keeps its order, from both ends") {
  item a{1}, b{2}, c{3}, d{4};
  detail::list<item> items;
  CHECK(items.empty());
  items.push_back(b);
  items.push_back(d);
  items.push_front(a);
  items.insert_before(d, c);
  CHECK(numbers(items) == std::vector<int>{1, 2, 3, 4});
  CHECK(items.front().number == 1);
  CHECK(items.back().number == 4);
  auto last = items.end();
  CHECK((--last)->number == 4);
  CHECK(&items.pop_front() == &a);
  CHECK(&items.pop_back() == &d);
  CHECK_FALSE(a.linked());
  CHECK(b.linked());
  items.clear();
  CHECK(items.empty());
  CHECK_FALSE(b.linked());
}

TEST_CASE("an element leaves without its list at hand, and may come again") {
  item a{1}, b{2}, c{3};
  detail::list<item> items;
  for (auto* one : {&a, &b, &c}) items.push_back(*one);
  detail::list<item>::erase(b);
  CHECK(numbers(items) == std::vector<int>{1, 3});
  items.push_back(b);
  CHECK(numbers(items) == std::vector<int>{1, 3, 2});
  items.clear();
}

TEST_CASE("splice moves everything and empties the source") {
  item a{1}, b{2}, c{3};
  detail::list<item> one, two, none;
  one.push_back(a);
  two.push_back(b);
  two.push_back(c);
  one.splice_back(two);
  one.splice_back(none);
  one.splice_back(one);
  CHECK(two.empty());
  CHECK(numbers(one) == std::vector<int>{1, 2, 3});
  detail::list<item> moved{std::move(one)};
  CHECK(numbers(moved) == std::vector<int>{1, 2, 3});
  CHECK(one.empty());
  moved.clear();
}

TEST_CASE("a copy of an element is in no list") {
  item a{1};
  detail::list<item> items;
  items.push_back(a);
  item copy = a;
  CHECK_FALSE(copy.linked());
  items.clear();
}

TEST_CASE("breaking a list's rules is found at level debug") {
  if (!detail::debug_checks) return;
  expect_fatal(
      [] {
        item a{1};
        detail::list<item> x, y;
        x.push_back(a);
        y.push_back(a);
      },
      "inserted twice");
  expect_fatal(
      [] {
        item a{1};
        detail::list<item>::erase(a);
      },
      "ask linked() first");
  expect_fatal(
      [] {
        detail::list<item> x;
        x.pop_front();
      },
      "ask empty() first");
  expect_fatal(
      [] {
        detail::list<item> x;
        {
          item a{1};
          x.push_back(a);
        }
      },
      "erase it from its list before it dies");
  expect_fatal(
      [] {
        item a{1};
        {
          detail::list<item> x;
          x.push_back(a);
        }
        detail::list<item>::erase(a);
      },
      "clear() it");
}
