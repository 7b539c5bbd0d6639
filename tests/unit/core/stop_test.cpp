#include <hocket/core/stop.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;
using hocket_test::expect_fatal;

namespace {

struct recorder : stop_node {
  explicit recorder(std::vector<verdict>& log) noexcept : fired(log) {
    fire = [](stop_node& self, verdict strength) noexcept { static_cast<recorder&>(self).fired.push_back(strength); };
  }
  std::vector<verdict>& fired;
};

}  // namespace

TEST_CASE("a request fires every attached node once, outside of the list") {
  stop_source stop;
  std::vector<verdict> fired;
  recorder a(fired), b(fired);
  CHECK(stop.requested() == verdict::idle);
  CHECK(stop.attach(a) == verdict::idle);
  CHECK(stop.attach(b) == verdict::idle);
  CHECK(stop.request());
  CHECK(fired == std::vector{verdict::cancelled, verdict::cancelled});
  CHECK(stop.requested() == verdict::cancelled);
  CHECK_FALSE(stop.detach(a));
  CHECK_FALSE(a.linked());
}

TEST_CASE("a detached node does not fire, and may be attached again") {
  stop_source stop;
  std::vector<verdict> fired;
  recorder a(fired);
  for (int round = 0; round < 2; ++round) {
    CHECK(stop.attach(a) == verdict::idle);
    CHECK(stop.detach(a));
    CHECK_FALSE(stop.detach(a));
  }
  stop.request();
  CHECK(fired.empty());
}

TEST_CASE("after a request a node stays out and learns the strength") {
  stop_source stop;
  std::vector<verdict> fired;
  recorder a(fired);
  stop.request();
  CHECK(stop.attach(a) == verdict::cancelled);
  CHECK_FALSE(a.linked());
  stop.request(verdict::killed);
  CHECK(stop.attach(a) == verdict::killed);
  CHECK(fired.empty());
}

TEST_CASE("a kill may follow a cancellation; nothing weaker or equal counts") {
  stop_source stop;
  CHECK(stop.request());
  CHECK_FALSE(stop.request());
  CHECK(stop.request(verdict::killed));
  CHECK_FALSE(stop.request(verdict::killed));
  CHECK_FALSE(stop.request());
  CHECK(stop.requested() == verdict::killed);
}

TEST_CASE("a node that fires may detach another, attach anew and request a kill") {
  struct meddler : stop_node {
    stop_source& stop;
    recorder& other;
    verdict seen = verdict::idle;
    bool detached = false;
    meddler(stop_source& s, recorder& o) noexcept : stop(s), other(o) {
      fire = [](stop_node& node, verdict) noexcept {
        auto& self = static_cast<meddler&>(node);
        self.detached = self.stop.detach(self.other);
        self.seen = self.stop.attach(self);
        self.stop.request(verdict::killed);
      };
    }
  };
  stop_source stop;
  std::vector<verdict> fired;
  recorder second(fired), third(fired);
  meddler first(stop, second);
  REQUIRE(stop.attach(first) == verdict::idle);
  REQUIRE(stop.attach(second) == verdict::idle);
  REQUIRE(stop.attach(third) == verdict::idle);
  CHECK(stop.request());
  CHECK(first.detached);
  CHECK(first.seen == verdict::cancelled);
  CHECK(fired == std::vector{verdict::killed});  // the third, by the inner request
}

TEST_CASE("a shielded node is left by a cancellation and fired by a kill, in the slot and in the list") {
  for (bool slot_is_taken : {false, true}) {
    stop_source stop;
    std::vector<verdict> open_fired, fired;
    recorder first(open_fired), shielded(fired);
    if (slot_is_taken) REQUIRE(stop.attach(first) == verdict::idle);
    REQUIRE(stop.attach(shielded, verdict::cancelled) == verdict::idle);
    if (!slot_is_taken) REQUIRE(stop.attach(first) == verdict::idle);
    CHECK(stop.request());
    CHECK(open_fired == std::vector{verdict::cancelled});
    CHECK(fired.empty());
    CHECK(stop.request(verdict::killed));
    CHECK(fired == std::vector{verdict::killed});
    CHECK_FALSE(stop.detach(shielded));
  }
}

TEST_CASE("a shielded node may be attached after a cancellation, not after a kill") {
  stop_source stop;
  std::vector<verdict> fired;
  recorder a(fired), b(fired);
  stop.request();
  CHECK(stop.attach(a, verdict::cancelled) == verdict::idle);
  CHECK(stop.attach(b, verdict::cancelled) == verdict::idle);
  CHECK(stop.detach(b));
  stop.request(verdict::killed);
  CHECK(fired == std::vector{verdict::killed});
  CHECK(stop.attach(a, verdict::cancelled) == verdict::killed);
  CHECK(fired.size() == 1);
}

TEST_CASE("any number of nodes may come and go in any order") {
  constexpr std::size_t count = 6;
  for (std::size_t gone = 0; gone < count; ++gone) {
    stop_source stop;
    std::vector<verdict> fired;
    std::vector<recorder> nodes(count, recorder(fired));
    for (auto& node : nodes) REQUIRE(stop.attach(node) == verdict::idle);
    CHECK(stop.detach(nodes[gone]));
    CHECK_FALSE(stop.detach(nodes[gone]));
    CHECK(stop.attach(nodes[gone]) == verdict::idle);
    CHECK(stop.detach(nodes[(gone + 1) % count]));
    stop.request();
    CHECK(fired.size() == count - 1);
    for (auto& node : nodes) CHECK_FALSE(stop.detach(node));
  }
}

TEST_CASE("a node that is shielded from kills is refused" * doctest::skip(!debug_checks)) {
  expect_fatal(
      [] {
        std::vector<verdict> fired;
        recorder a(fired);
        stop_source stop;
        (void)stop.attach(a, verdict::killed);
      },
      "a stop_node was attached above a kill");
}

TEST_CASE("a request of another verdict is fatal") {
  for (verdict wrong : {verdict::idle, verdict::granted, verdict::timed_out}) {
    expect_fatal([wrong] { stop_source().request(wrong); }, "stop_source::request of another verdict");
  }
}

TEST_CASE("a stop_source that dies under a waiting coroutine is fatal") {
  expect_fatal(
      [] {
        std::vector<verdict> fired;
        recorder a(fired);
        stop_source stop;
        (void)stop.attach(a);
      },
      "a stop_source was destroyed while coroutines wait under it");
}
