#include <hocket/core/stop.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;
using hocket_test::expect_fatal;

namespace {

struct recorder : detail::stop_node {
  explicit recorder(std::vector<stop_level>& log) noexcept : fired(log) {
    fire = [](detail::stop_node& self, stop_level level) noexcept {
      static_cast<recorder&>(self).fired.push_back(level);
    };
  }
  std::vector<stop_level>& fired;
};

}  // namespace

TEST_CASE("a request fires every attached node once, outside of the list") {
  stop_source stop;
  std::vector<stop_level> fired;
  recorder a(fired), b(fired);
  CHECK(stop.requested() == stop_level::none);
  CHECK(stop.attach(a) == stop_level::none);
  CHECK(stop.attach(b) == stop_level::none);
  CHECK(stop.request());
  CHECK(fired == std::vector{stop_level::cancel, stop_level::cancel});
  CHECK(stop.requested() == stop_level::cancel);
  CHECK_FALSE(stop.detach(a));
  CHECK_FALSE(a.linked());
}

TEST_CASE("a detached node does not fire, and may be attached again") {
  stop_source stop;
  std::vector<stop_level> fired;
  recorder a(fired);
  for (int round = 0; round < 2; ++round) {
    CHECK(stop.attach(a) == stop_level::none);
    CHECK(stop.detach(a));
    CHECK_FALSE(stop.detach(a));
  }
  stop.request();
  CHECK(fired.empty());
}

TEST_CASE("after a request a node stays out and learns the level") {
  stop_source stop;
  std::vector<stop_level> fired;
  recorder a(fired);
  stop.request();
  CHECK(stop.attach(a) == stop_level::cancel);
  CHECK_FALSE(a.linked());
  stop.request(stop_level::kill);
  CHECK(stop.attach(a) == stop_level::kill);
  CHECK(fired.empty());
}

TEST_CASE("a kill may follow a cancellation; nothing weaker or equal counts") {
  stop_source stop;
  CHECK(stop.request());
  CHECK_FALSE(stop.request());
  CHECK(stop.request(stop_level::kill));
  CHECK_FALSE(stop.request(stop_level::kill));
  CHECK_FALSE(stop.request());
  CHECK(stop.requested() == stop_level::kill);
}

TEST_CASE("a node that fires may detach another, attach anew and request a kill") {
  struct meddler : detail::stop_node {
    stop_source& stop;
    recorder& other;
    stop_level seen = stop_level::none;
    bool detached = false;
    meddler(stop_source& s, recorder& o) noexcept : stop(s), other(o) {
      fire = [](detail::stop_node& node, stop_level) noexcept {
        auto& self = static_cast<meddler&>(node);
        self.detached = self.stop.detach(self.other);
        self.seen = self.stop.attach(self);
        self.stop.request(stop_level::kill);
      };
    }
  };
  stop_source stop;
  std::vector<stop_level> fired;
  recorder second(fired), third(fired);
  meddler first(stop, second);
  REQUIRE(stop.attach(first) == stop_level::none);
  REQUIRE(stop.attach(second) == stop_level::none);
  REQUIRE(stop.attach(third) == stop_level::none);
  CHECK(stop.request());
  CHECK(first.detached);
  CHECK(first.seen == stop_level::cancel);
  CHECK(fired == std::vector{stop_level::kill});  // the third, by the inner request
}

TEST_CASE("a shielded node is left by a cancellation and fired by a kill, in the slot and in the list") {
  for (bool slot_is_taken : {false, true}) {
    stop_source stop;
    std::vector<stop_level> open_fired, fired;
    recorder first(open_fired), shielded(fired);
    if (slot_is_taken) REQUIRE(stop.attach(first) == stop_level::none);
    REQUIRE(stop.attach(shielded, detail::min_stop_level::kill) == stop_level::none);
    if (!slot_is_taken) REQUIRE(stop.attach(first) == stop_level::none);
    CHECK(stop.request());
    CHECK(open_fired == std::vector{stop_level::cancel});
    CHECK(fired.empty());
    CHECK(stop.request(stop_level::kill));
    CHECK(fired == std::vector{stop_level::kill});
    CHECK_FALSE(stop.detach(shielded));
  }
}

TEST_CASE("a shielded node may be attached after a cancellation, not after a kill") {
  stop_source stop;
  std::vector<stop_level> fired;
  recorder a(fired), b(fired);
  stop.request();
  CHECK(stop.attach(a, detail::min_stop_level::kill) == stop_level::none);
  CHECK(stop.attach(b, detail::min_stop_level::kill) == stop_level::none);
  CHECK(stop.detach(b));
  stop.request(stop_level::kill);
  CHECK(fired == std::vector{stop_level::kill});
  CHECK(stop.attach(a, detail::min_stop_level::kill) == stop_level::kill);
  CHECK(fired.size() == 1);
}

TEST_CASE("any number of nodes may come and go in any order") {
  constexpr std::size_t count = 6;
  for (std::size_t gone = 0; gone < count; ++gone) {
    stop_source stop;
    std::vector<stop_level> fired;
    std::vector<recorder> nodes(count, recorder(fired));
    for (auto& node : nodes) REQUIRE(stop.attach(node) == stop_level::none);
    CHECK(stop.detach(nodes[gone]));
    CHECK_FALSE(stop.detach(nodes[gone]));
    CHECK(stop.attach(nodes[gone]) == stop_level::none);
    CHECK(stop.detach(nodes[(gone + 1) % count]));
    stop.request();
    CHECK(fired.size() == count - 1);
    for (auto& node : nodes) CHECK_FALSE(stop.detach(node));
  }
}

TEST_CASE("a request of nothing changes nothing") {
  stop_source stop;
  CHECK_FALSE(stop.request(stop_level::none));
  CHECK(stop.requested() == stop_level::none);
  stop.request();
  CHECK_FALSE(stop.request(stop_level::none));
  CHECK(stop.requested() == stop_level::cancel);
}

TEST_CASE("a stop_source that dies under a waiting coroutine is fatal") {
  expect_fatal(
      [] {
        std::vector<stop_level> fired;
        recorder a(fired);
        stop_source stop;
        (void)stop.attach(a);
      },
      "a stop_source was destroyed while coroutines wait under it");
}
