// A timer wheel in a fixture: a manual clock, a home that runs nothing, and timers that record their ends.
// The thread that makes a `wheel_stand` is the owner of its wheel.
#pragma once
#include <hocket/core/executor.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/time/seam/timer_wheel.hpp>

#include <atomic>
#include <cstdint>
#include <utility>
#include <vector>

namespace hocket_test {

constexpr hocket::time_point at(std::int64_t ns) { return hocket::time_point{hocket::duration{ns}}; }

class still_home final : public hocket::executor {
 public:
  void post_from_outside(hocket::detail::runnable&) noexcept override {}
};

// Notes that the wheel has called, for its owner to look at.
class noted_waker final : public hocket::detail::timer_waker {
 public:
  void wake() noexcept override { calls_.fetch_add(1); }
  // Whether it was called since it was asked last.
  bool take() noexcept {
    const int calls = calls_.load();
    return std::exchange(taken_, calls) != calls;
  }
  int calls() const noexcept { return calls_.load(); }

 private:
  std::atomic<int> calls_{0};
  int taken_ = 0;
};

// A clock that seems to go on by itself: the wheel cannot know when somebody moves it. Counts how often it is asked.
class flowing_clock final : public hocket::clock_source {
 public:
  explicit flowing_clock(hocket::time_point start) noexcept : time_(start) {}
  hocket::time_point now() const noexcept override { return ++asked, time_.now(); }
  bool is_free_running() const noexcept override { return true; }
  void set(hocket::time_point to) noexcept { time_.set(to); }
  void advance(hocket::duration by) noexcept { time_.advance(by); }
  mutable int asked = 0;

 private:
  hocket::manual_clock time_;
};

template <class Clock>
struct basic_wheel_stand {
  Clock time;
  still_home home;
  noted_waker waker;
  hocket::detail::timer_wheel wheel;
  hocket::detail::running_scope running{{&home}, nullptr};

  explicit basic_wheel_stand(hocket::time_point start = {}) : time(start), wheel(time, home, waker) {}

  // A turn at that time.
  bool turn_at(hocket::time_point to, std::size_t at_most = hocket::detail::timer_wheel::unlimited) {
    time.set(to);
    return wheel.advance(at_most);
  }
};
using wheel_stand = basic_wheel_stand<hocket::manual_clock>;
using flowing_stand = basic_wheel_stand<flowing_clock>;

// A timer that counts its fires and writes its number to a log.
struct test_timer : hocket::detail::timer_node {
  int number = 0;
  int fired = 0;
  std::vector<int>* log = nullptr;
  hocket::detail::timer_call why{};  // of the last fire

  explicit test_timer(hocket::time_point due = {}, int n = 0, std::vector<int>* to = nullptr) : number(n), log(to) {
    static constexpr hocket::detail::timer_kind at_home{&test_timer::note};
    when = due;
    kind = &at_home;
  }
  // One that another thread may fire, too.
  void fires_anywhere() {
    static constexpr hocket::detail::timer_kind anywhere{&test_timer::note,
                                                         [](const auto&, const auto&) noexcept { return true; }};
    kind = &anywhere;
  }
  static void note(hocket::detail::timer_node& self, hocket::detail::timer_call call) noexcept {
    auto& it = static_cast<test_timer&>(self);
    ++it.fired;
    it.why = call;
    if (it.log) it.log->push_back(it.number);
  }
};

// A timer that does something when it fires.
template <class Function>
struct acting_timer : hocket::detail::timer_node {
  Function act;

  acting_timer(hocket::time_point due, Function f) : act(f) {
    when = due;
    static constexpr hocket::detail::timer_kind rings{
        [](hocket::detail::timer_node& self, hocket::detail::timer_call) noexcept {
          static_cast<acting_timer&>(self).act();
        }};
    kind = &rings;
  }
};

}  // namespace hocket_test
