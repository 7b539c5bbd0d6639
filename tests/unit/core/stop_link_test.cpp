#include <hocket/core/stop_link.hpp>

#include "support/death.hpp"

#include <deque>
#include <doctest/doctest.h>
#include <memory>
#include <optional>
#include <vector>

using namespace hocket;
using hocket_test::expect_fatal;

namespace {

struct recorder : stop_node {
  recorder() noexcept {
    fire = [](stop_node& self, verdict strength) noexcept { static_cast<recorder&>(self).fired.push_back(strength); };
  }
  std::vector<verdict> fired;
};

}  // namespace

TEST_CASE("what is requested of the parent is requested of the child, in the same strength") {
  for (verdict strength : {verdict::cancelled, verdict::killed}) {
    stop_source parent, child;
    recorder wait;
    stop_link link(parent, child);
    REQUIRE(child.attach(wait) == verdict::idle);
    CHECK(parent.request(strength));
    CHECK(child.requested() == strength);
    CHECK(wait.fired == std::vector{strength});
  }
}

TEST_CASE("a kill follows a cancellation through the same link") {
  stop_source parent, child;
  recorder open, shielded;
  stop_link link(parent, child);
  REQUIRE(child.attach(open) == verdict::idle);
  REQUIRE(child.attach(shielded, verdict::cancelled) == verdict::idle);
  parent.request();
  CHECK(open.fired == std::vector{verdict::cancelled});
  CHECK(shielded.fired.empty());
  parent.request(verdict::killed);
  CHECK(child.requested() == verdict::killed);
  CHECK(shielded.fired == std::vector{verdict::killed});
}

TEST_CASE("a link above a cancellation passes kills only, whenever it was made") {
  for (bool cancelled_before : {false, true}) {
    stop_source parent, child;
    recorder wait;
    if (cancelled_before) parent.request();
    {
      stop_link link(parent, child, verdict::cancelled);
      stop_link other(parent, child, verdict::cancelled);
      REQUIRE(child.attach(wait) == verdict::idle);
      parent.request();
      CHECK(child.requested() == verdict::idle);
      CHECK(wait.fired.empty());
      parent.request(verdict::killed);
      CHECK(child.requested() == verdict::killed);
      CHECK(wait.fired == std::vector{verdict::killed});
    }
    stop_source late;
    stop_link told(parent, late, verdict::cancelled);
    CHECK(late.requested() == verdict::killed);
  }
}

TEST_CASE("a child is told at once what was requested before, and of what follows") {
  for (verdict strength : {verdict::cancelled, verdict::killed}) {
    stop_source parent, child;
    parent.request(strength);
    stop_link link(parent, child);
    CHECK(child.requested() == strength);
    parent.request(verdict::killed);
    CHECK(child.requested() == verdict::killed);
  }
}

TEST_CASE("after the end of the link the parent says nothing, and a child tells its parent nothing") {
  stop_source parent, child;
  {
    stop_link link(parent, child);
    child.request();
    CHECK(parent.requested() == verdict::idle);
  }
  parent.request(verdict::killed);
  CHECK(child.requested() == verdict::cancelled);
}

TEST_CASE("a link may end between a cancellation and a kill") {
  stop_source parent, child;
  {
    stop_link link(parent, child);
    parent.request();
  }
  parent.request(verdict::killed);
  CHECK(child.requested() == verdict::cancelled);
}

TEST_CASE("several children, several parents, and waits of the sources themselves") {
  stop_source one, other, both, only;
  recorder at_one;
  stop_link a(one, both), b(other, both), c(one, only);
  REQUIRE(one.attach(at_one) == verdict::idle);
  other.request();
  CHECK(both.requested() == verdict::cancelled);
  CHECK(only.requested() == verdict::idle);
  one.request(verdict::killed);
  CHECK(both.requested() == verdict::killed);
  CHECK(only.requested() == verdict::killed);
  CHECK(at_one.fired == std::vector{verdict::killed});
}

TEST_CASE("sources linked in a ring are all told, once") {
  stop_source a, b, c;
  stop_link ab(a, b), bc(b, c), ca(c, a);
  recorder wait;
  REQUIRE(c.attach(wait) == verdict::idle);
  CHECK(b.request());
  for (stop_source* one : {&a, &b, &c}) CHECK(one->requested() == verdict::cancelled);
  CHECK(wait.fired.size() == 1);
}

TEST_CASE("a chain of a hundred thousand sources is told without recursion") {
  constexpr std::size_t depth = 100'000;
  std::deque<stop_source> chain(depth);
  std::vector<std::unique_ptr<stop_link>> links;
  for (std::size_t i = 1; i < depth; ++i) links.push_back(std::make_unique<stop_link>(chain[i - 1], chain[i]));
  recorder last;
  REQUIRE(chain.back().attach(last) == verdict::idle);
  CHECK(chain.front().request());
  CHECK(last.fired == std::vector{verdict::cancelled});
  CHECK(chain.front().request(verdict::killed));
  CHECK(chain.back().requested() == verdict::killed);
  links.clear();
}

TEST_CASE("a tree of sources is told, whatever was told before") {
  // Ten children of each of ten children; one branch was cancelled before, one was killed.
  stop_source root;
  std::deque<stop_source> nodes(110);
  std::deque<std::optional<stop_link>> links(110);
  for (std::size_t i = 0; i < 10; ++i) links[i].emplace(root, nodes[i]);
  for (std::size_t i = 10; i < 110; ++i) links[i].emplace(nodes[(i - 10) / 10], nodes[i]);
  nodes[3].request();
  nodes[4].request(verdict::killed);
  root.request();
  std::size_t cancelled = 0, killed = 0;
  for (auto& one : nodes) {
    cancelled += one.requested() == verdict::cancelled;
    killed += one.requested() == verdict::killed;
  }
  CHECK(cancelled == 99);
  CHECK(killed == 11);
  root.request(verdict::killed);
  for (auto& one : nodes) CHECK(one.requested() == verdict::killed);
  for (auto& one : links) one.reset();
}

TEST_CASE("a parent that dies before its link is fatal") {
  expect_fatal(
      [] {
        stop_source child;
        std::optional<stop_source> parent(std::in_place);
        stop_link link(*parent, child);
        parent.reset();
      },
      "a stop_source was destroyed while coroutines wait under it");
}

TEST_CASE("a parent that was killed may end before its child") {
  stop_source child;
  std::optional<stop_source> parent(std::in_place);
  {
    stop_link link(*parent, child);
    parent->request(verdict::killed);
    parent.reset();
    CHECK(child.killed());
  }
  parent.emplace();
  parent->request(verdict::killed);
  stop_link late(*parent, child);
  parent.reset();
}
