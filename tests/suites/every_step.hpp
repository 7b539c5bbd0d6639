// Short plays of a few coroutines and one primitive, repeated many times: each time another coroutine is cancelled,
// times out or is killed, before another act. Whatever happens to this one, the others get the objects of their waits,
// and no object of the primitive is lost or granted twice.
//
// A play derives from stage<Kind> and has
//
//   static constexpr int actors = n, acts = n;
//   explicit play(cast who);            // starts the actors 0 .. n - 1, by enter(); nothing runs yet
//   void act(int n);                    // grants a wait, or settles: acts that do not settle leave actors
//                                       // that were woken and have not run: most faults happen in this state
//   void close();                       // grants all remaining waits; settles
//
// An actor calls limited(wait) for each of its waits, and got() when its wait was granted. `world` is declared last.
//
// Each play is repeated with actors that have used up their budget at each wait (core/wait/seam/operation.hpp):
// an operation that is possible at once goes through the queue then, and takes nothing if it was stopped before. There
// the stroke is made by a coroutine among the actors, too, which lets the others run a few times before: so it hits an
// actor that is in the queue with its grant.
#pragma once
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "suites/world.hpp"

#include <array>
#include <atomic>
#include <chrono>
#include <doctest/doctest.h>

namespace hocket_test {

enum class stroke { none, cancel, time_out, kill };

// The actor that the stroke hits, and the kind of the stroke.
struct cast {
  static constexpr int from_outside = -1;

  int victim = -1;
  stroke fate = stroke::none;
  bool budget_used_up = false;  // at each wait of an actor
  int pauses = from_outside;    // else by a coroutine, after so many
};

template <class Kind>
class stage {
 public:
  static constexpr std::chrono::milliseconds limit{50};
  static constexpr int most = 8;

  explicit stage(cast who) : who_(who) {}

  bool has_got(int actor) const { return got_[index(actor)] > 0; }
  void got(int actor) { ++got_[index(actor)]; }

  template <class Wait>
  auto limited(int actor, Wait wait) const {
    if (who_.budget_used_up) hocket::detail::this_thread().spent = 255;
    const bool hit = who_.fate == stroke::time_out && actor == who_.victim;
    return within(hit ? hocket::duration(limit) : hocket::duration(std::chrono::hours(1)), std::move(wait));
  }

  void strike(Kind& world) {
    if (who_.pauses == cast::from_outside) return strike_now(world);
    auto body = [this, &world]() -> typename Kind::body {
      for (int i = 0; i < who_.pauses; ++i) co_await hocket::yield();
      strike_now(world);
    };
    world.start(body);
  }
  void strike_now(Kind& world) {
    const int id = ids_[index(who_.victim)];
    if (who_.fate == stroke::cancel) world.cancel(id);
    if (who_.fate == stroke::kill) world.kill(id);
    if (who_.fate == stroke::time_out) world.pass(limit);
  }

  void expect_ends(Kind& world, int actors) {
    for (int actor = 0; actor < actors; ++actor) {
      CAPTURE(actor);
      const fate end = world.ended(ids_[index(actor)]);
      const bool hit = actor == who_.victim;
      CHECK((end == fate::ended || (hit && who_.fate == stroke::kill && end == fate::killed)));
      CHECK(got_[index(actor)] <= 1);
      if (!hit) CHECK(has_got(actor));
    }
  }

 protected:
  template <class Body>
  void enter(Kind& world, int actor, Body body) {
    ids_[index(actor)] = world.start(std::move(body), actor);
  }

 private:
  static std::size_t index(int actor) { return static_cast<std::size_t>(actor); }

  const cast who_;
  std::array<int, most> ids_{};
  std::array<std::atomic<int>, most> got_{};
};

template <class Play>
void act_once(cast who, int when) {
  Play play(who);
  for (int act = 0; act < Play::acts; ++act) {
    if (act == when) play.strike(play.world);
    play.act(act);
  }
  if (when == Play::acts) play.strike(play.world);
  play.close();
  play.expect_ends(play.world, Play::actors);
}

template <class Play>
void act_with_every_victim(cast who) {
  for (who.victim = 0; who.victim < Play::actors; ++who.victim)
    for (int when = 0; when <= Play::acts; ++when) {
      CAPTURE(static_cast<int>(who.fate));
      CAPTURE(who.budget_used_up);
      CAPTURE(who.pauses);
      CAPTURE(who.victim);
      CAPTURE(when);
      act_once<Play>(who, when);
    }
}

template <class Play>
void act_at_every_step() {
  for (const bool used_up : {false, true}) {
    act_once<Play>({.budget_used_up = used_up}, -1);
    for (stroke fate : {stroke::cancel, stroke::time_out, stroke::kill})
      act_with_every_victim<Play>({.fate = fate, .budget_used_up = used_up});
  }
  if constexpr (takes_turns_on_an_executor<decltype(Play::world)>)
    for (stroke fate : {stroke::cancel, stroke::kill})
      for (int pauses : {0, 1, 2})
        act_with_every_victim<Play>({.fate = fate, .budget_used_up = true, .pauses = pauses});
}

// A stage with actors that keep their grants until the play lets them go, in their order.
template <class Kind, int Actors>
class parting_stage : public stage<Kind> {
 public:
  static constexpr int actors = Actors, acts = 2 * Actors;

 protected:
  using stage<Kind>::stage;
  auto told_to_go(int self) { return this->limited(self, go_[self].wait()); }
  void part(Kind& world, int act) {
    if (act % 2 == 0) world.settle();
    else go_[act / 2].set();
  }
  void part_all(Kind& world) {
    for (auto& one : go_) one.set();
    world.settle();
  }

 private:
  hocket::basic_event<typename Kind::strength> go_[Actors];
};

// How many are in a place that has room for `room`.
class place {
 public:
  explicit place(int room) : room_(room) {}
  // Leaves for a while, to wait for a notification, and returns before the visit ends.
  void leave() { --inside_; }
  void enter() { CHECK(++inside_ <= room_); }
  class visit {
   public:
    explicit visit(place& in) : in_(in) { in_.enter(); }
    visit(const visit&) = delete;
    visit& operator=(const visit&) = delete;
    ~visit() { in_.leave(); }

   private:
    place& in_;
  };

 private:
  const int room_;
  std::atomic<int> inside_{0};
};

}  // namespace hocket_test
