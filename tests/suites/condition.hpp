// The condition, for every kind.
#pragma once
#include <hocket/sync/condition.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/within.hpp>

#include "suites/every_step.hpp"

#include <deque>

namespace hocket_test {

template <class Kind>
using condition_of = hocket::basic_condition<typename Kind::strength>;
template <class Kind>
using lock_of = hocket::basic_mutex<typename Kind::strength>;

// A queue under a mutex: what conditions are for.
template <class Kind>
struct guarded_queue {
  lock_of<Kind> m;
  condition_of<Kind> more;
  std::deque<int> items;
};

TEST_CASE_TEMPLATE("who waits for a condition has given up the mutex, and has it again", Kind, HOCKET_SUITE_KINDS) {
  guarded_queue<Kind> queue;
  int got = 0;
  Kind world;
  auto take = [&]() -> typename Kind::body {
    auto held = co_await queue.m.lock();
    while (queue.items.empty()) {
      auto told = co_await queue.more.wait(*held);
      CHECK(told.has_value());
    }
    CHECK_FALSE(queue.m.try_lock());
    got = queue.items.front();
  };
  auto give = [&]() -> typename Kind::body {
    auto held = co_await queue.m.lock();
    CHECK(held.has_value());
    queue.items.push_back(7);
    CHECK(queue.more.notify_one());
    CHECK(got == 0);  // under the mutex
  };
  int taker = world.start(take);
  world.settle();
  CHECK(static_cast<bool>(queue.m.try_lock()));
  int giver = world.start(give);
  world.settle();
  CHECK(got == 7);
  CHECK(world.ended(taker) == fate::ended);
  CHECK(world.ended(giver) == fate::ended);
  CHECK_FALSE(queue.more.notify_one());
  CHECK(static_cast<bool>(queue.m.try_lock()));
}

TEST_CASE_TEMPLATE("notifications go to those who wait in the order of coming", Kind, HOCKET_SUITE_KINDS) {
  lock_of<Kind> m;
  condition_of<Kind> bell;
  std::vector<int> order;
  Kind world;
  auto wait = [&](int n) -> typename Kind::body {
    auto held = co_await m.lock();
    auto told = co_await bell.wait(*held);
    CHECK(told.has_value());
    order.push_back(n);
  };
  for (int n : {1, 2, 3, 4}) world.start(wait, n);
  world.settle();
  CHECK(bell.notify_one());
  world.settle();
  CHECK(order == std::vector{1});
  CHECK(bell.notify_all() == 3);
  world.settle();
  CHECK(order == std::vector{1, 2, 3, 4});
  CHECK(bell.notify_all() == 0);
}

TEST_CASE_TEMPLATE("a wait for a condition that ends early has the mutex, too", Kind, HOCKET_SUITE_KINDS) {
  using namespace std::chrono_literals;
  lock_of<Kind> m;
  condition_of<Kind> bell;
  hocket::basic_event<typename Kind::strength> go;
  std::error_code cancelled_error, timed_error;
  int inside = 0;
  Kind world;
  auto wait = [&](std::error_code& error) -> typename Kind::body {
    auto held = co_await m.lock();
    auto told = co_await within(50ms, bell.wait(*held));
    error = told.error();
    CHECK(++inside == 1);
    auto set = co_await go.wait();
    static_cast<void>(set);
    --inside;
  };
  auto hold = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    auto set = co_await go.wait();
    static_cast<void>(set);
  };
  int first = world.start(wait, std::ref(cancelled_error));
  world.start(wait, std::ref(timed_error));
  world.settle();
  int holder = world.start(hold);
  world.settle();
  world.cancel(first);
  world.pass(50ms);
  CHECK(world.ended(holder) == fate::running);
  CHECK(world.ended(first) == fate::running);  // waits for the mutex
  CHECK_FALSE(bell.notify_one());
  go.set();
  world.settle();
  CHECK(cancelled_error == std::errc::operation_canceled);
  CHECK(timed_error == std::errc::timed_out);
  CHECK(world.ended(first) == fate::ended);
  CHECK(static_cast<bool>(m.try_lock()));
}

TEST_CASE_TEMPLATE("fault 12: a notification is not lost with who is cancelled", Kind, HOCKET_SUITE_KINDS) {
  lock_of<Kind> m;
  condition_of<Kind> bell;
  int told_ones = 0;
  Kind world;
  auto wait = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    auto told = co_await bell.wait(*held);
    told_ones += told.has_value() ? 1 : 0;
  };
  int first = world.start(wait);
  int second = world.start(wait);
  world.settle();
  world.cancel(first);
  CHECK(bell.notify_one());
  world.settle();
  CHECK(told_ones == 1);
  CHECK(world.ended(first) == fate::ended);
  CHECK(world.ended(second) == fate::ended);
}

TEST_CASE_TEMPLATE("a select that leaves a condition has the mutex", Kind, HOCKET_SUITE_KINDS) {
  lock_of<Kind> m;
  condition_of<Kind> bell;
  hocket::basic_event<typename Kind::strength> other;
  std::vector<std::size_t> chosen;
  Kind world;
  auto choose = [&]() -> typename Kind::body {
    auto held = co_await m.lock();
    for (int round = 0; round < 2; ++round) {
      auto first = co_await select(bell.wait(*held), other.wait());
      chosen.push_back(first->index());
      other.reset();
      CHECK_FALSE(m.try_lock());
    }
  };
  int only = world.start(choose);
  world.settle();
  other.set();
  world.settle();
  CHECK(chosen == std::vector<std::size_t>{1});
  bell.notify_all();
  world.settle();
  CHECK(chosen == std::vector<std::size_t>{1, 0});
  CHECK(world.ended(only) == fate::ended);
}

// Three take one item each out of a queue; two items come together, one alone.
template <class Kind>
class condition_play : public stage<Kind> {
 public:
  static constexpr int actors = 3, acts = 6;

  explicit condition_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto held = co_await this->limited(self, queue_.m.lock());
      if (!held) co_return;
      place::visit here(room_);
      while (queue_.items.empty()) {
        room_.leave();
        auto told = co_await this->limited(self, queue_.more.wait(*held));
        room_.enter();
        if (!told) co_return;
      }
      queue_.items.pop_front();
      this->got(self);
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) {
    if (n % 2 == 0) return world.settle();
    auto held = queue_.m.try_lock();
    if (!held) return;  // close() gives what is missing
    queue_.items.push_back(n);
    if (n == 1) queue_.items.push_back(n);
    if (n == 1) queue_.more.notify_all();
    else queue_.more.notify_one();
  }
  void close() {
    world.settle();
    {
      auto held = queue_.m.try_lock();
      CHECK(static_cast<bool>(held));
      while (queue_.items.size() < actors) queue_.items.push_back(0);
      queue_.more.notify_all();
    }
    world.settle();
    CHECK(static_cast<bool>(queue_.m.try_lock()));
  }

 private:
  guarded_queue<Kind> queue_;
  place room_{1};

 public:
  Kind world;
};

TEST_CASE_TEMPLATE("a condition at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<condition_play<Kind>>(); }

}  // namespace hocket_test
