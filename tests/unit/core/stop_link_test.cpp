#include <hocket/core/context/seam/stop_link.hpp>

#include "support/death.hpp"

#include <deque>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <vector>

using namespace hocket;
using hocket_test::expect_fatal;

namespace {

struct recorder : detail::stop_node {
  recorder() noexcept {
    fire = [](detail::stop_node& self, stop_level level) noexcept {
      static_cast<recorder&>(self).fired.push_back(level);
    };
  }
  std::vector<stop_level> fired;
};

}  // namespace

TEST_CASE("what is requested of the parent is requested of the child") {
  for (stop_level level : {stop_level::cancel, stop_level::kill}) {
    stop_source parent, child;
    recorder wait;
    detail::stop_link link(parent, child);
    REQUIRE(child.attach(wait) == stop_level::none);
    CHECK(parent.request(level));
    CHECK(child.requested() == level);
    CHECK(wait.fired == std::vector{level});
  }
}

TEST_CASE("a kill follows a cancellation through the same link") {
  stop_source parent, child;
  recorder open, shielded;
  detail::stop_link link(parent, child);
  REQUIRE(child.attach(open) == stop_level::none);
  REQUIRE(child.attach(shielded, detail::min_stop_level::kill) == stop_level::none);
  parent.request();
  CHECK(open.fired == std::vector{stop_level::cancel});
  CHECK(shielded.fired.empty());
  parent.request(stop_level::kill);
  CHECK(child.requested() == stop_level::kill);
  CHECK(shielded.fired == std::vector{stop_level::kill});
}

TEST_CASE("a link above a cancellation passes kills only, whenever it was made") {
  for (bool cancelled_before : {false, true}) {
    stop_source parent, child;
    recorder wait;
    if (cancelled_before) parent.request();
    {
      detail::stop_link link(parent, child, detail::min_stop_level::kill);
      detail::stop_link other(parent, child, detail::min_stop_level::kill);
      REQUIRE(child.attach(wait) == stop_level::none);
      parent.request();
      CHECK(child.requested() == stop_level::none);
      CHECK(wait.fired.empty());
      parent.request(stop_level::kill);
      CHECK(child.requested() == stop_level::kill);
      CHECK(wait.fired == std::vector{stop_level::kill});
    }
    stop_source late;
    detail::stop_link told(parent, late, detail::min_stop_level::kill);
    CHECK(late.requested() == stop_level::kill);
  }
}

TEST_CASE("a child is told at once what was requested before, and of what follows") {
  for (stop_level level : {stop_level::cancel, stop_level::kill}) {
    stop_source parent, child;
    parent.request(level);
    detail::stop_link link(parent, child);
    CHECK(child.requested() == level);
    parent.request(stop_level::kill);
    CHECK(child.requested() == stop_level::kill);
  }
}

TEST_CASE("after the end of the link the parent says nothing, and a child tells its parent nothing") {
  stop_source parent, child;
  {
    detail::stop_link link(parent, child);
    child.request();
    CHECK(parent.requested() == stop_level::none);
  }
  parent.request(stop_level::kill);
  CHECK(child.requested() == stop_level::cancel);
}

TEST_CASE("a link may end between a cancellation and a kill") {
  stop_source parent, child;
  {
    detail::stop_link link(parent, child);
    parent.request();
  }
  parent.request(stop_level::kill);
  CHECK(child.requested() == stop_level::cancel);
}

TEST_CASE("several children, several parents, and waits of the sources themselves") {
  stop_source one, other, both, only;
  recorder at_one;
  detail::stop_link a(one, both), b(other, both), c(one, only);
  REQUIRE(one.attach(at_one) == stop_level::none);
  other.request();
  CHECK(both.requested() == stop_level::cancel);
  CHECK(only.requested() == stop_level::none);
  one.request(stop_level::kill);
  CHECK(both.requested() == stop_level::kill);
  CHECK(only.requested() == stop_level::kill);
  CHECK(at_one.fired == std::vector{stop_level::kill});
}

TEST_CASE("sources linked in a ring are all told, once") {
  stop_source a, b, c;
  detail::stop_link ab(a, b), bc(b, c), ca(c, a);
  recorder wait;
  REQUIRE(c.attach(wait) == stop_level::none);
  CHECK(b.request());
  for (stop_source* one : {&a, &b, &c}) CHECK(one->requested() == stop_level::cancel);
  CHECK(wait.fired.size() == 1);
}

TEST_CASE("a chain of a hundred thousand sources is told without recursion") {
  constexpr std::size_t depth = 100'000;
  std::deque<stop_source> chain(depth);
  std::vector<std::unique_ptr<detail::stop_link>> links;
  for (std::size_t i = 1; i < depth; ++i) links.push_back(std::make_unique<detail::stop_link>(chain[i - 1], chain[i]));
  recorder last;
  REQUIRE(chain.back().attach(last) == stop_level::none);
  CHECK(chain.front().request());
  CHECK(last.fired == std::vector{stop_level::cancel});
  CHECK(chain.front().request(stop_level::kill));
  CHECK(chain.back().requested() == stop_level::kill);
  links.clear();
}

TEST_CASE("a tree of sources is told, whatever was told before") {
  // Ten children of each of ten children; one branch was cancelled before, one was killed.
  stop_source root;
  std::deque<stop_source> nodes(110);
  std::deque<std::optional<detail::stop_link>> links(110);
  for (std::size_t i = 0; i < 10; ++i) links[i].emplace(root, nodes[i]);
  for (std::size_t i = 10; i < 110; ++i) links[i].emplace(nodes[(i - 10) / 10], nodes[i]);
  nodes[3].request();
  nodes[4].request(stop_level::kill);
  root.request();
  std::size_t cancelled = 0, killed = 0;
  for (auto& one : nodes) {
    cancelled += one.requested() == stop_level::cancel;
    killed += one.requested() == stop_level::kill;
  }
  CHECK(cancelled == 99);
  CHECK(killed == 11);
  root.request(stop_level::kill);
  for (auto& one : nodes) CHECK(one.requested() == stop_level::kill);
  for (auto& one : links) one.reset();
}

TEST_CASE("a parent that dies before its link is fatal") {
  expect_fatal(
      [] {
        stop_source child;
        std::optional<stop_source> parent(std::in_place);
        detail::stop_link link(*parent, child);
        parent.reset();
      },
      "a stop_source was destroyed while coroutines wait under it");
}

TEST_CASE("a parent that was killed may end before its child") {
  stop_source child;
  std::optional<stop_source> parent(std::in_place);
  {
    detail::stop_link link(*parent, child);
    parent->request(stop_level::kill);
    parent.reset();
    CHECK(child.killed());
  }
  parent.emplace();
  parent->request(stop_level::kill);
  detail::stop_link late(*parent, child);
  parent.reset();
}
