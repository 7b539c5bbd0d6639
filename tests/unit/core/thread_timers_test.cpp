#include <hocket/core/thread/detail/thread_timers.hpp>

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;

namespace {

constexpr time_point at(int seconds) { return time_point{} + std::chrono::seconds(seconds); }

struct reminder : detail::timer_node {
  reminder(std::vector<int>& log, int name, time_point due) noexcept : log_(log), name_(name) {
    when = due;
    static constexpr detail::timer_kind rings{[](detail::timer_node& self, detail::timer_call) noexcept {
      auto& it = static_cast<reminder&>(self);
      it.log_.push_back(it.name_);
    }};
    kind = &rings;
  }
  std::vector<int>& log_;
  int name_;
};

}  // namespace

TEST_CASE("timers fire at their time, the earliest first, equal ones in the order of attaching") {
  detail::thread_timers timers;
  std::vector<int> log;
  reminder c(log, 3, at(30)), a(log, 1, at(10)), b(log, 2, at(20)), also_b(log, 22, at(20));
  CHECK(timers.earliest() == time_point::max());
  for (reminder* one : {&c, &a, &b, &also_b}) timers.attach(*one);
  CHECK(timers.earliest() == at(10));
  timers.fire_due(at(10) - duration(1));
  CHECK(log.empty());
  timers.fire_due(at(10));
  CHECK(log == std::vector{1});
  CHECK(timers.earliest() == at(20));
  timers.fire_due(at(40));
  CHECK(log == std::vector{1, 2, 22, 3});
  CHECK(timers.earliest() == time_point::max());
}

TEST_CASE("a detached timer does not fire, and may be attached again; one that has fired is not detached") {
  detail::thread_timers timers;
  std::vector<int> log;
  reminder a(log, 1, at(10)), b(log, 2, at(20));
  timers.attach(a);
  timers.attach(b);
  CHECK(timers.detach(a));
  CHECK(timers.earliest() == at(20));
  timers.fire_due(at(20));
  CHECK(log == std::vector{2});
  CHECK_FALSE(timers.detach(b));
  timers.attach(a);
  timers.fire_due(at(20));
  CHECK(log == std::vector{2, 1});
}

TEST_CASE("a timer that fires may detach another that is due, and attach itself anew for the next turn") {
  struct meddler : detail::timer_node {
    meddler(detail::thread_timers& t, reminder& o) noexcept : timers(t), other(o) {
      when = at(1);
      static constexpr detail::timer_kind rings{[](detail::timer_node& self, detail::timer_call) noexcept {
        auto& it = static_cast<meddler&>(self);
        it.detached += it.timers.detach(it.other);
        ++it.fired;
        it.timers.attach(it);
      }};
      kind = &rings;
    }
    detail::thread_timers& timers;
    reminder& other;
    int detached = 0, fired = 0;
  };
  detail::thread_timers timers;
  std::vector<int> log;
  reminder other(log, 1, at(2));
  meddler first(timers, other);
  timers.attach(first);
  timers.attach(other);
  timers.fire_due(at(5));
  CHECK(first.fired == 1);
  CHECK(first.detached == 1);
  CHECK(log.empty());
  CHECK(timers.earliest() == at(1));
  timers.fire_due(at(5));
  CHECK(first.fired == 2);
  CHECK(timers.detach(first));
}

TEST_CASE("fault 21: timers at both ends of the clock") {
  detail::thread_timers timers;
  std::vector<int> log;
  reminder never(log, 3, time_point::max()), ever(log, 1, time_point::min()), zero(log, 2, time_point{});
  for (reminder* one : {&never, &ever, &zero}) timers.attach(*one);
  CHECK(timers.earliest() == time_point::min());
  timers.fire_due();
  CHECK(log == std::vector{1, 2});
  CHECK(timers.earliest() == time_point::max());
  timers.fire_due();
  CHECK(log.size() == 2);
  CHECK(timers.detach(never));
}

TEST_CASE("the clock of a thread is the machine's") {
  detail::thread_timers timers;
  const time_point before = steady_clock().now(), present = timers.now();
  CHECK(before <= present);
  CHECK(present <= steady_clock().now());
}
