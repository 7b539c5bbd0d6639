// The plays of what is taken and given back; see every_step.hpp.
#pragma once
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/sync/semaphore.hpp>

#include "suites/every_step.hpp"

namespace hocket_test {

// Three want a mutex, and each holds it until it is told to go.
template <class Kind>
class mutex_play : public parting_stage<Kind, 3> {
 public:
  explicit mutex_play(cast who) : parting_stage<Kind, 3>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto held = co_await this->limited(self, m_.lock());
      if (!held) co_return;
      place::visit here(room_);
      this->got(self);
      auto told = co_await this->told_to_go(self);
      static_cast<void>(told);
    };
    for (int self = 0; self < this->actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) { this->part(world, n); }
  void close() {
    this->part_all(world);
    CHECK(static_cast<bool>(m_.try_lock()));
  }

 private:
  hocket::basic_mutex<typename Kind::strength> m_;
  place room_{1};

 public:
  Kind world;
};

// Two permits, and a waiter for both is queued before waiters for one.
template <class Kind>
class semaphore_play : public parting_stage<Kind, 4> {
 public:
  explicit semaphore_play(cast who) : parting_stage<Kind, 4>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto mine = co_await this->limited(self, permits_.acquire(self == 1 ? 2 : 1));
      if (!mine) co_return;
      place::visit here(room_);
      this->got(self);
      auto told = co_await this->told_to_go(self);
      static_cast<void>(told);
    };
    for (int self = 0; self < this->actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) { this->part(world, n); }
  void close() {
    this->part_all(world);
    CHECK(permits_.available() == 2);
  }

 private:
  hocket::basic_semaphore<typename Kind::strength> permits_{2};
  place room_{2};

 public:
  Kind world;
};

// Three wait until an event is set; one of them may leave before.
template <class Kind>
class event_play : public stage<Kind> {
 public:
  static constexpr int actors = 3, acts = 4;

  explicit event_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto told = co_await this->limited(self, bell_.wait());
      if (told) this->got(self);
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) {
    if (n == 0 || n == 3) world.settle();
    if (n == 1) bell_.set();
    if (n == 2) bell_.reset();
  }
  void close() {
    bell_.set();
    world.settle();
  }

 private:
  hocket::basic_event<typename Kind::strength> bell_;

 public:
  Kind world;
};

// A signal for each of three; one that is not taken stays for the next.
template <class Kind>
class signal_play : public stage<Kind> {
 public:
  static constexpr int actors = 3, acts = 6;

  explicit signal_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto told = co_await this->limited(self, signal_.wait());
      if (!told) co_return;
      place::visit here(room_);
      this->got(self);
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) {
    if (n % 2 == 0) world.settle();
    else signal_.set();
  }
  void close() {
    world.settle();
    signal_.set();
    world.settle();
  }

 private:
  hocket::basic_auto_reset_event<typename Kind::strength> signal_;
  place room_{1};

 public:
  Kind world;
};

TEST_CASE_TEMPLATE("a mutex at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<mutex_play<Kind>>(); }
TEST_CASE_TEMPLATE("a semaphore at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<semaphore_play<Kind>>(); }
TEST_CASE_TEMPLATE("an event at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<event_play<Kind>>(); }
TEST_CASE_TEMPLATE("a signal at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<signal_play<Kind>>(); }

}  // namespace hocket_test
