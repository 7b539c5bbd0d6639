// The plays of coroutines that wait for each other, or for their turn; see every_step.hpp. The plays of the condition
// and of the monitor are in their suites.
#pragma once
#include <hocket/sync/barrier.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/latch.hpp>
#include <hocket/sync/once.hpp>
#include <hocket/sync/shared_mutex.hpp>
#include <hocket/sync/stopped.hpp>

#include "suites/every_step.hpp"

namespace hocket_test {

// Three arrive at a latch for five. A count stays, however the wait ends; an actor that is killed before it begins has
// not counted.
template <class Kind>
class latch_play : public stage<Kind> {
 public:
  static constexpr int actors = 3, acts = 4;

  explicit latch_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      ++come_;
      auto through = co_await this->limited(self, latch_.arrive_and_wait());
      if (!through) co_return;
      CHECK(come_ == 5);
      this->got(self);
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) {
    if (n % 2 == 0) world.settle();
    else if (n == 1 || come_ == 4) count_down();
  }
  void close() {
    while (come_ < 5) {
      CHECK_FALSE(latch_.is_ready());
      count_down();
    }
    world.settle();
    CHECK(latch_.is_ready());
  }

 private:
  void count_down() {
    ++come_;
    latch_.count_down();
  }
  hocket::basic_latch<typename Kind::strength> latch_{5};
  std::atomic<int> come_{0};

 public:
  Kind world;
};

// The first turn fails, the second one is done, the third finds the work done. An actor that is hit in its turn fails,
// too.
template <class Kind>
class once_play : public parting_stage<Kind, 3> {
 public:
  explicit once_play(cast who) : parting_stage<Kind, 3>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto turn = co_await this->limited(self, once_.enter());
      if (!turn) co_return;
      this->got(self);
      CHECK(once_.is_done() == !*turn);
      if (!*turn) co_return;
      place::visit here(room_);
      auto told = co_await this->told_to_go(self);
      if (told && ++tried_ >= 2) turn->done();
    };
    for (int self = 0; self < this->actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) { this->part(world, n); }
  void close() {
    this->part_all(world);
    CHECK(once_.is_done());
    CHECK(tried_ == 2);
  }

 private:
  hocket::basic_once<typename Kind::strength> once_;
  std::atomic<int> tried_{0};
  place room_{1};

 public:
  Kind world;
};

// Three arrive at a barrier for four, the stage is the fourth. An arrival that was taken back is made up for at the
// end.
template <class Kind>
class barrier_play : public stage<Kind> {
 public:
  static constexpr int actors = 3, acts = 3;

  explicit barrier_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto met = co_await this->limited(self, barrier_.arrive_and_wait());
      if (!met) co_return;
      this->got(self);
      ++through_;
      if (met->last) ++ended_;
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) {
    if (n % 2 == 0) world.settle();
    else arrive();
  }
  void close() {
    world.settle();
    if (through_ == 0) arrive();
    world.settle();
    CHECK(ended_ == 1);
    CHECK(through_ >= actors - 1);
  }

 private:
  void arrive() {
    if (barrier_.arrive().last) ++ended_;
  }
  hocket::basic_barrier<typename Kind::strength> barrier_{4};
  std::atomic<int> through_{0}, ended_{0};

 public:
  Kind world;
};

// Readers and writers in a queue; each holds the lock until the play lets it go.
template <class Kind>
class shared_mutex_play : public parting_stage<Kind, 5> {
 public:
  explicit shared_mutex_play(cast who) : parting_stage<Kind, 5>(who) {
    auto writer = [this](int self) -> typename Kind::body {
      auto held = co_await this->limited(self, m_.lock());
      if (!held) co_return;
      presence here(*this, writes);
      this->got(self);
      auto told = co_await this->told_to_go(self);
      static_cast<void>(told);
    };
    auto reader = [this](int self) -> typename Kind::body {
      auto held = co_await this->limited(self, m_.lock_shared());
      if (!held) co_return;
      presence here(*this, 1);
      this->got(self);
      auto told = co_await this->told_to_go(self);
      static_cast<void>(told);
    };
    for (int self = 0; self < this->actors; ++self) {
      if (self == 1 || self == 4) this->enter(world, self, writer);
      else this->enter(world, self, reader);
    }
  }
  void act(int n) { this->part(world, n); }
  void close() {
    this->part_all(world);
    CHECK(static_cast<bool>(m_.try_lock()));
  }

 private:
  static constexpr int writes = 100;
  struct presence {
    presence(shared_mutex_play& play, int as) : in(play.inside_), weight(as) {
      const int before = in.fetch_add(weight);
      CHECK(before < (weight == writes ? 1 : writes));
    }
    presence(const presence&) = delete;
    presence& operator=(const presence&) = delete;
    ~presence() { in -= weight; }
    std::atomic<int>& in;
    const int weight;
  };

  hocket::basic_shared_mutex<typename Kind::strength> m_;
  std::atomic<int> inside_{0};

 public:
  Kind world;
};

// Three wait for a stop that is not their own.
template <class Kind>
class stop_play : public stage<Kind> {
 public:
  static constexpr int actors = 3, acts = 3;

  explicit stop_play(cast who) : stage<Kind>(who) {
    auto actor = [this](int self) -> typename Kind::body {
      auto told = co_await this->limited(self, hocket::stopped(quit_));
      if (told) this->got(self);
    };
    for (int self = 0; self < actors; ++self) this->enter(world, self, actor);
  }
  void act(int n) {
    if (n % 2 == 0) world.settle();
    else quit_.request();
  }
  void close() { world.settle(); }

 private:
  hocket::stop_source quit_;

 public:
  Kind world;
};

TEST_CASE_TEMPLATE("a latch at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<latch_play<Kind>>(); }
TEST_CASE_TEMPLATE("a once at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<once_play<Kind>>(); }
TEST_CASE_TEMPLATE("a barrier at every step", Kind, HOCKET_SUITE_KINDS) { act_at_every_step<barrier_play<Kind>>(); }
TEST_CASE_TEMPLATE("a shared mutex at every step", Kind, HOCKET_SUITE_KINDS) {
  act_at_every_step<shared_mutex_play<Kind>>();
}
TEST_CASE_TEMPLATE("a wait for a stop at every step", Kind, HOCKET_SUITE_KINDS) {
  act_at_every_step<stop_play<Kind>>();
}

}  // namespace hocket_test
