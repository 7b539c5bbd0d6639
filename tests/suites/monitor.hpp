// The monitor, for every kind.
#pragma once
#include <hocket/sync/event.hpp>
#include <hocket/sync/monitor.hpp>
#include <hocket/time/within.hpp>

#include "suites/every_step.hpp"

#include <string>

namespace hocket_test {

template <class Kind>
using monitor_of = hocket::basic_monitor<typename Kind::strength>;

TEST_CASE_TEMPLATE("the owner of a monitor enters again without waiting", Kind, HOCKET_SUITE_KINDS) {
  monitor_of<Kind> m;
  hocket::basic_event<typename Kind::strength> go;
  bool other_got = false;
  Kind world;
  auto nested = [&]() -> typename Kind::body {
    auto one = co_await m.enter();
    {
      auto two = co_await m.enter();
      auto three = m.try_enter();
      CHECK(two.has_value());
      CHECK(static_cast<bool>(three));
    }
    auto set = co_await go.wait();  // held over a wait
    CHECK(set.has_value());
    CHECK_FALSE(other_got);
  };
  auto other = [&]() -> typename Kind::body {
    CHECK_FALSE(m.try_enter());
    auto in = co_await m.enter();
    other_got = in.has_value();
  };
  int first = world.start(nested);
  world.settle();
  world.start(other);
  world.settle();
  CHECK_FALSE(other_got);
  go.set();
  world.settle();
  CHECK(other_got);
  CHECK(world.ended(first) == fate::ended);
}

TEST_CASE_TEMPLATE("a wait leaves a monitor as often as it was entered, and enters it as often again", Kind,
                   HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  monitor_of<Kind> m;
  int turns = 0;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto one = co_await m.enter();
    {
      auto two = co_await m.enter();
      auto told = co_await m.wait(*two);
      CHECK(told.has_value());
      auto late = co_await within(10ms, m.wait(*two));
      CHECK(late.error() == std::errc::timed_out);
    }
    ++turns;
    one->leave();
  };
  int waits = world.start(wait);
  world.settle();
  CHECK(static_cast<bool>(m.try_enter()));
  CHECK(m.notify_one());
  world.settle();
  CHECK(static_cast<bool>(m.try_enter()));
  world.pass(10ms);
  CHECK(turns == 1);
  CHECK(world.ended(waits) == fate::ended);
  CHECK(static_cast<bool>(m.try_enter()));
}

TEST_CASE_TEMPLATE("two pass a token back and forth in a monitor", Kind, HOCKET_SUITE_KINDS) {
  monitor_of<Kind> m;
  int turn = 0, passed = 0;
  Kind world;
  auto play = [&](int me) -> typename Kind::body {
    auto in = co_await m.enter();
    for (int round = 0; round < 100; ++round) {
      while (turn != me) {
        auto told = co_await m.wait(*in);
        CHECK(told.has_value());
      }
      ++passed;
      turn = 1 - me;
      m.notify_one();
    }
  };
  for (int me : {0, 1}) world.start(play, me);
  world.settle();
  CHECK(passed == 200);
}

// Three come in, two of them twice, and wait for their turn.
template <class Kind>
class monitor_play : public stage<Kind> {
 public:
  static constexpr int actors = 3, acts = 6;

  explicit monitor_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto one = co_await this->limited(self, m_.enter());
      if (!one) co_return;
      auto two = self == 0 ? typename monitor_of<Kind>::guard() : m_.try_enter();
      place::visit here(room_);
      while (tickets_ == 0) {
        room_.leave();
        auto told = co_await this->limited(self, m_.wait(*one));
        room_.enter();
        if (!told) co_return;
      }
      --tickets_;
      this->got(self);
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) {
    if (n % 2 == 0) world.settle();
    else sell(1);
  }
  void close() {
    world.settle();
    sell(actors);
    world.settle();
    CHECK(static_cast<bool>(m_.try_enter()));
  }

 private:
  void sell(int n) {
    auto in = m_.try_enter();
    if (!in) return;
    tickets_ += n;
    m_.notify_all();
  }

  monitor_of<Kind> m_;
  int tickets_ = 0;
  place room_{1};

 public:
  Kind world;
};

TEST_CASE_TEMPLATE("a monitor at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<monitor_play<Kind>>(); }

}  // namespace hocket_test
