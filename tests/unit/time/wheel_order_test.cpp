// A timer wheel against an ordered map that says what fires next, under random attaches, detaches, jumps of the clock
// and bounded turns, with fires that attach and detach in turn.
//
// The reference: a timer counts as due at its time or, if that was past when it was attached, at the horizon of that
// moment; equal ones in the order of attach. That is a std::multimap, in which equal keys keep their order.
#include <hocket/base/random.hpp>

#include "unit/time/wheel_stand.hpp"

#include <algorithm>
#include <doctest/doctest.h>
#include <map>
#include <memory>

using namespace hocket;
using namespace hocket_test;

namespace {

// Records when the wheel has read it: a read moves the horizon.
class watched_clock final : public hocket::clock_source {
 public:
  explicit watched_clock(time_point start) : now_(start), horizon_(start) {}
  time_point now() const noexcept override { return horizon_ = now_; }
  time_point present() const { return now_; }
  time_point horizon() const { return horizon_; }
  void advance(duration by) { now_ = deadline_after(now_, by); }

 private:
  time_point now_;
  mutable time_point horizon_;
};

class trial {
 public:
  trial(std::uint64_t seed, time_point start) : random_(seed), time_(start), wheel_(time_, home_, waker_) {
    for (auto& entry : pool_) {
      entry = std::make_unique<timer>();
      entry->all = this;
      idle_.push_back(entry.get());
    }
  }
  ~trial() {
    while (!expected_.empty()) detach(*expected_.begin()->second);
  }

  void step() {
    switch (random_.below(8)) {
      case 0:
      case 1:
      case 2: attach_one(); break;
      case 3: detach_one(); break;
      case 4: time_.advance(duration{some_distance()}); break;
      case 5: turn(random_.below(20)); break;
      default: turn(detail::timer_wheel::unlimited); break;
    }
    check_next();
  }
  void finish() {
    while (!expected_.empty() && expected_.begin()->first != time_point::max()) {
      const auto next = wheel_.next_expiry();
      if (next > time_.present()) time_.advance(next - time_.present());
      turn(detail::timer_wheel::unlimited);
    }
    CHECK(wheel_.size() == expected_.size());
  }

  int fired = 0;
  int wrong = 0;

 private:
  struct timer : detail::timer_node {
    trial* all = nullptr;
    std::multimap<time_point, timer*>::iterator place;
    timer() {
      static constexpr detail::timer_kind rings{[](detail::timer_node& self, detail::timer_call) noexcept {
        auto& it = static_cast<timer&>(self);
        it.all->on_fire(it);
      }};
      kind = &rings;
    }
  };

  // Every magnitude is equally likely; often exactly a power of two or next to one.
  std::int64_t some_distance() {
    const auto bits = random_.below(64);
    if (random_.below(2) == 0) return static_cast<std::int64_t>((random_() >> 1) >> bits);
    return static_cast<std::int64_t>((std::uint64_t{1} << 62) >> bits) + random_.below(3);
  }
  time_point some_time() {
    switch (random_.below(16)) {
      case 0: return time_point::max();
      case 1: return time_point::min();
      case 2: return time_.present();
      case 3: return deadline_after(time_.present(), -duration{some_distance()});
      case 4:
        if (!expected_.empty()) return expected_.begin()->second->when;
        [[fallthrough]];
      case 5:
        if (!expected_.empty()) return std::prev(expected_.end())->second->when;
        [[fallthrough]];
      default: return deadline_after(time_.present(), duration{some_distance()});
    }
  }

  void attach_one() {
    if (idle_.empty()) return;
    timer& chosen = *idle_.back();
    idle_.pop_back();
    chosen.when = some_time();
    chosen.place = expected_.emplace(std::max(chosen.when, time_.horizon()), &chosen);
    wheel_.attach(chosen);
  }
  void detach_one() {
    if (expected_.empty()) return;
    auto far = expected_.lower_bound(some_time());
    detach(far == expected_.end() ? *expected_.begin()->second : *far->second);
  }
  void detach(timer& chosen) {
    CHECK(wheel_.detach(chosen));
    forget(chosen);
  }
  void forget(timer& chosen) {
    expected_.erase(chosen.place);
    idle_.push_back(&chosen);
  }

  void turn(std::size_t at_most) {
    in_turn_ = 0;
    const bool more = wheel_.advance(at_most);
    const bool due = !expected_.empty() && expected_.begin()->first <= time_.horizon();
    CHECK(in_turn_ <= at_most);
    CHECK((more || !due));
    if (at_most == detail::timer_wheel::unlimited) CHECK(more == due);
  }
  void on_fire(timer& it) noexcept {
    ++fired;
    ++in_turn_;
    if (expected_.begin()->second != &it || it.when > time_.horizon()) ++wrong;
    forget(it);
    // A timer that a fire attaches is due after this turn, if at all: it need not be distinguished from earlier ones.
    if (random_.below(4) == 0) attach_one();
    if (random_.below(8) == 0) detach_one();
  }
  void check_next() {
    const auto next = wheel_.next_expiry();
    CHECK(wheel_.size() == expected_.size());
    CHECK(wheel_.empty() == expected_.empty());
    if (expected_.empty()) return;
    CHECK(next <= std::max(expected_.begin()->first, time_.horizon()));
    if (expected_.size() <= detail::timer_wheel::crowd && next > time_.horizon())
      CHECK(next == expected_.begin()->first);
  }

  detail::random_engine random_;
  watched_clock time_;
  still_home home_;
  noted_waker waker_;
  detail::timer_wheel wheel_;
  detail::running_scope running_{{&home_}, nullptr};
  std::unique_ptr<timer> pool_[100];
  std::vector<timer*> idle_;
  std::multimap<time_point, timer*> expected_;
  std::size_t in_turn_ = 0;
};

}  // namespace

TEST_CASE("a timer wheel fires what an ordered map says, whatever is done to it") {
  int fired = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    const time_point start = seed % 4 == 0   ? time_point::min()
                             : seed % 4 == 1 ? at(-1000)
                             : seed % 4 == 2 ? at(0)
                                             : at(static_cast<std::int64_t>(seed) * 12'345'678'901'234);
    trial one(seed, start);
    for (int i = 0; i < 2'000; ++i) one.step();
    one.finish();
    CHECK(one.wrong == 0);
    fired += one.fired;
  }
  CHECK(fired > 10'000);
}
