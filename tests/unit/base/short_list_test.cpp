#include <hocket/base/seam/short_list.hpp>

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;

namespace {

struct item : detail::list_node {
  explicit item(int n) : number(n) {}
  int number;
};

std::vector<int> drained(detail::short_list<item>& of) {
  std::vector<int> all;
  while (!of.empty()) all.push_back(of.pop_front().number);
  return all;
}

}  // namespace

TEST_CASE("a short list gives its elements in the order in which they came") {
  item one(1), two(2), three(3);
  detail::short_list<item> all;
  CHECK(all.empty());
  for (item* each : {&one, &two, &three}) all.push_back(*each);
  CHECK(all.begins_with(one));
  CHECK(drained(all) == std::vector{1, 2, 3});
  CHECK_FALSE(one.linked());
  CHECK(all.empty());
}

TEST_CASE("any element of a short list can be erased") {
  for (int gone : {0, 1, 2}) {
    CAPTURE(gone);
    item items[] = {item(0), item(1), item(2)};
    detail::short_list<item> all;
    for (item& each : items) all.push_back(each);
    all.erase(items[gone]);
    CHECK_FALSE(items[gone].linked());
    std::vector<int> left;
    for (int n : {0, 1, 2})
      if (n != gone) left.push_back(n);
    CHECK(drained(all) == left);
  }
}

TEST_CASE("an element that begins no list can be erased by either") {
  item one(1), two(2), other(3);
  detail::short_list<item> all, others;
  all.push_back(one);
  all.push_back(two);
  others.push_back(other);
  others.erase(two);
  CHECK(drained(all) == std::vector{1});
  CHECK(drained(others) == std::vector{3});
}

TEST_CASE("an erased element can be linked again") {
  item one(1);
  detail::short_list<item> all;
  for (int i = 0; i < 2; ++i) {
    all.push_back(one);
    all.erase(one);
    CHECK(all.empty());
  }
}
