// The whole life of a wait under every schedule: a registrar that commits, and a grant, a stop and an alarm that race
// for it. Whatever the order: the coroutine is posted once or goes straight on, never both; a permit is granted or
// kept; and nobody touches the wait after it is over. (It is freed at once, so a late touch is a use after
// destruction.)
#include <hocket/core/context.hpp>
#include <hocket/core/current.hpp>
#include <hocket/core/executor.hpp>
#include <hocket/core/stop.hpp>
#include <hocket/core/suspension.hpp>

#include "core/kept.hpp"
#include "sync/waits.hpp"
#include "unit/core/permit_source.hpp"
#include "verdict.hpp"

namespace {

using hocket::atomic;
using hocket::context;
using hocket::executor;
using hocket::locked;
using hocket::runnable;
using hocket::stop_source;
using hocket::suspension;
using hocket::timer_node;
using hocket::timer_service;
using hocket::verdict;
using hocket::waiter;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using hocket_test::either;
using hocket_test::kept;
using hocket_test::permit_source;
using hocket_test::unneeded_in;
namespace model = hocket::model;

// One alarm, which fires when ring() is called, and notices a detach that is not ordered after the registration.
class one_alarm final : public timer_service {
 public:
  hocket::time_point now() const noexcept override { return {}; }
  void attach(timer_node& node) noexcept override {
    {
      locked guard(mutex_);
      node_ = &node;
    }
    registration_ = 1;
  }
  bool detach(timer_node& node) noexcept override {
    require(registration_ == 1);
    locked guard(mutex_);
    return std::exchange(node_, nullptr) == &node;
  }
  void ring() {
    timer_node* due = nullptr;
    {
      locked guard(mutex_);
      due = std::exchange(node_, nullptr);
    }
    if (due) due->fire(*due);
  }

 private:
  hocket::thread_mutex mutex_;
  timer_node* node_ = nullptr;
  var<int> registration_{0, "registration of the alarm"};
};

// The home of one coroutine: it is posted at most once per wait, and sleep() is what it does in between.
class one_home final : public executor {
 public:
  explicit one_home(timer_service* timers = nullptr) noexcept : timers_(timers) {}
  void post(runnable&) noexcept override {
    // A plain store would hide a second post.
    if (posted_.fetch_add(1, std::memory_order_release) != 0) twice_ = true;
    hocket::futex_wake_one(posted_);
  }
  timer_service* timers() noexcept override { return timers_; }
  void sleep() {
    while (posted_.load(std::memory_order_acquire) == 0) hocket::futex_wait(posted_, 0);
  }
  bool posted() const { return posted_.load(std::memory_order_relaxed) != 0; }
  bool twice() const noexcept { return twice_; }

 private:
  timer_service* const timers_;
  bool twice_ = false;
  atomic<std::uint32_t> posted_{0, "posted"};
};

// A source that notices a detach which is not ordered after the registration.
struct watchful_source : permit_source {
  using permit_source::permit_source;
  var<int> registration{0, "registration"};
  bool take_or_list(suspension& wait, waiter& entry) noexcept override {
    bool taken = permit_source::take_or_list(wait, entry);
    registration = 1;
    return taken;
  }
  bool detach(waiter& entry) noexcept override {
    require(registration == 1);
    return permit_source::detach(entry);
  }
};

struct awaiter {
  suspension wait;
  waiter entry;
};

hocket::context_options under(stop_source* stop, bool deadline) {
  hocket::context_options options;
  options.stop = stop;
  if (deadline) options.deadline = hocket::time_point{};
  return options;
}

// Waits once for a permit, as acquisition does for a coroutine; frees the awaiter as soon as it may.
template <class Source>
verdict wait_once(Source& source, one_home& home, context& ctx) {
  kept<awaiter> self;
  hocket::this_thread().seat.running_on = &home;
  hocket::this_thread().ctx = &ctx;
  self->wait.arm({});
  source.take_or_list(self->wait, self->entry);
  if (self->wait.commit()) home.sleep();
  else require(!home.posted(), "posted, and gone straight on");
  verdict got = self->wait.finish();
  self.free();
  return got;
}

template <class Source>
struct one_wait {
  one_alarm alarm;
  stop_source stop;
  one_home home{&alarm};
  hocket::context_ptr ctx;
  Source source;
  verdict got = verdict::idle;

  explicit one_wait(bool deadline) : ctx(context::child_of(context::root(), under(&stop, deadline))) {}
  void start(execution& run) {
    run.thread("waits", [this] { got = wait_once(source, home, *ctx); });
  }
  void check() {
    require(!home.twice(), "posted twice");
    require(source.free() == (got == verdict::granted ? 0 : 1), "a permit was lost, or made");
    require(!source.has_waiters());
    require(got == verdict::granted || got == verdict::killed || got == verdict::timed_out);
  }
};

template <class Source>
void granted_or_killed(execution& run) {
  kept<one_wait<Source>> t(false);
  t->start(run);
  run.thread("grants", [&] { t->source.release(); });
  run.thread("kills", [&] { t->stop.request(verdict::killed); });
  run.join();
  t->check();
  t.free();
}

void granted_or_killed_or_late(execution& run) {
  kept<one_wait<permit_source>> t(true);
  t->start(run);
  run.thread("grants", [&] { t->source.release(); });
  run.thread("kills", [&] { t->stop.request(verdict::killed); });
  run.thread("rings", [&] { t->alarm.ring(); });
  run.join();
  t->check();
  t.free();
}

// Who grants takes the alarm back: at home before all else, and is alone then, or it has rung, and both let go;
// elsewhere after the claim is decided.
template <bool AtHome>
void granted_in_time(execution& run) {
  kept<one_wait<permit_source>> t(true);
  t->start(run);
  run.thread("grants", [&] {
    hocket::running_scope on({AtHome ? &t->home : nullptr}, nullptr);
    t->source.release();
  });
  run.thread("rings", [&] { t->alarm.ring(); });
  run.join();
  t->check();
  t.free();
}

// Two wait, one permit and one kill: the permit goes to one of them or is left.
void two_waiters(execution& run) {
  permit_source source;
  stop_source stop;
  auto mortal = context::child_of(context::root(), under(&stop, false));
  auto patient = context::child_of(context::root(), {});
  one_home homes[2];
  verdict got[2] = {};
  run.thread("mortal", [&] { got[0] = wait_once(source, homes[0], *mortal); });
  run.thread("patient", [&] { got[1] = wait_once(source, homes[1], *patient); });
  run.thread("grants and kills", [&] {
    source.release();
    stop.request(verdict::killed);
    source.release();
  });
  run.join();
  require(got[1] == verdict::granted, "the permit stuck with one who was killed");
  require(got[0] == verdict::granted || got[0] == verdict::killed);
  require(source.free() == (got[0] == verdict::granted ? 0 : 1));
}

// --- a select on two sources

struct select_awaiter {
  suspension wait;
  waiter entries[2];
};

struct two_sources {
  watchful_source sources[2];
  one_home home;
  hocket::context_ptr ctx = context::child_of(context::root(), {});
  std::size_t index = 9;

  void select() {
    kept<select_awaiter> self;
    hocket::this_thread().seat.running_on = &home;
    hocket::this_thread().ctx = ctx.get();
    self->wait.arm({});
    for (int i = 0; i < 2 && !self->wait.decided(); ++i) sources[i].take_or_list(self->wait, self->entries[i]);
    if (self->wait.commit()) home.sleep();
    require(self->wait.finish() == verdict::granted);
    index = self->wait.granted_index();
    self.free();
  }
};

void select_from_two(execution& run) {
  kept<two_sources> t;
  run.thread("selects", [&] { t->select(); });
  run.thread("grants 0", [&] { t->sources[0].release(); });
  run.thread("grants 1", [&] { t->sources[1].release(); });
  run.join();
  auto index = t->index;
  require(index < 2);
  require(t->sources[index].free() == 0 && t->sources[1 - index].free() == 1,
          "two permits were taken, or the wrong one");
  require(!t->sources[0].has_waiters() && !t->sources[1].has_waiters());
  require(!t->home.twice());
  t.free();
}

// --- a source that could not grant a pair and lists its waiter again

struct relisting_source : permit_source {
  bool asks_afterwards = true;

  // A waiter is popped, found to be no partner after all, and listed again.
  void hesitate() noexcept {
    waiter* popped = pop();
    if (!popped) return;
    {
      locked guard(mutex_);
      waiting_.push_back(*popped);
      if (!asks_afterwards || !popped->decided()) return;
      waiting_.erase(*popped);
    }
    popped->abandon();
  }
};

auto relisted_while_killed(bool asks_afterwards) {
  return [=](execution& run) {
    kept<one_wait<relisting_source>> t(false);
    t->source.asks_afterwards = asks_afterwards;
    t->start(run);
    run.thread("hesitates", [&] { t->source.hesitate(); });
    run.thread("kills", [&] { t->stop.request(verdict::killed); });
    run.join();
    require(t->got == verdict::killed);
    require(!t->source.has_waiters());
    require(!t->home.twice());
    t.free();
  };
}

// --- the mistakes that a primitive's author can make

struct looks_without_the_lock : permit_source {
  bool take_or_list(suspension& wait, waiter& entry) noexcept override {
    {
      locked guard(mutex_);
      if (free_ > 0 && wait.take_now(entry, *this)) return --free_, true;
    }
    locked guard(mutex_);
    entry.enlist(wait, *this);
    waiting_.push_back(entry);
    return false;
  }
};

struct touches_after_the_grant : permit_source {
  void release() noexcept override {
    while (waiter* first = pop_or_keep()) {
      first->grant();
      if (first->decided()) return;
    }
  }
};

// Works on memory of the wait between the two steps of a grant.
struct works_for_it : permit_source {
  void release() noexcept override {
    while (waiter* first = pop_or_keep()) {
      if (!first->begin_grant()) continue;
      require(first->decided(), "granted, and ended by others");
      first->finish_grant();
      return;
    }
  }
};

struct works_after_the_last_step : permit_source {
  void release() noexcept override {
    while (waiter* first = pop_or_keep()) {
      if (!first->begin_grant()) continue;
      first->finish_grant();
      require(first->decided());
      return;
    }
  }
};

struct keeps_no_lost_permit : permit_source {
  void release() noexcept override {
    if (waiter* first = pop_or_keep()) first->grant();
  }
};

struct detaches_what_was_popped : permit_source {
  bool detach(waiter& entry) noexcept override {
    (void)permit_source::detach(entry);
    return true;
  }
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("a wait that is granted and killed at once ends once, and the permit is not lost") {
  ::verdict::none(bounds, granted_or_killed<watchful_source>);
}

TEST_CASE("a wait that is granted while its alarm rings ends once, and the permit is not lost") {
  ::verdict::none(bounds, granted_in_time<true>);
  ::verdict::none(bounds, granted_in_time<false>);
}

TEST_CASE("a wait with a grant, a kill and an alarm ends once") {
  ::verdict::none({.preemptions = 2, .stale_reads = 0, .spurious = 0}, granted_or_killed_or_late);
}

TEST_CASE("fault 12, 13: a permit goes to the next waiter when the first one is killed meanwhile") {
  ::verdict::none({.preemptions = 2, .stale_reads = 0, .spurious = 0}, two_waiters);
}

TEST_CASE("a select takes one permit from one source and lets the other go") {
  ::verdict::none(bounds, select_from_two);
}

TEST_CASE("a waiter that is listed again is not forgotten if it is asked afterwards whether it is decided") {
  ::verdict::none(bounds, relisted_while_killed(true));
}

TEST_CASE("without asking, it is") { ::verdict::found(bug::lost_wakeup, bounds, relisted_while_killed(false)); }

TEST_CASE("a source that looks for a permit under one lock and lists under another loses a wake-up") {
  ::verdict::found(bug::lost_wakeup, bounds, [](execution& run) {
    kept<one_wait<looks_without_the_lock>> t(false);
    t->start(run);
    run.thread("grants", [&] { t->source.release(); });
    run.join();
    t.free();
  });
}

TEST_CASE("a source that touches a waiter after its grant touches freed memory") {
  // Its look races with the end of the wait's life; the checker sees that even when the look came first.
  ::verdict::found(bug::data_race, bounds, granted_or_killed<touches_after_the_grant>);
}

TEST_CASE("a grant in two steps keeps the wait until the second one") {
  ::verdict::none(bounds, granted_or_killed<works_for_it>);
  ::verdict::found(bug::data_race, bounds, granted_or_killed<works_after_the_last_step>);
}

TEST_CASE("a source that does not offer a lost permit to the next loses it") {
  ::verdict::found(bug::assertion, bounds, granted_or_killed<keeps_no_lost_permit>);
}

TEST_CASE("a source that claims to have detached what it has popped frees the wait too early") {
  // Who is posted by the loser's hold that was counted twice, or freed under it: whichever is met first.
  auto result = model::explore(bounds, granted_or_killed<detaches_what_was_popped>);
  INFO(result.text());
  CHECK(result.found());
}

// The winner that takes the other registration back must see it, and the coroutine all that the last holder did.
TEST_CASE("no ordering of the claim could be weaker under a select, or beside an alarm") {
  auto unneeded = model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0}, [](execution& run) {
    either(run, select_from_two, [](execution& one) { either(one, granted_in_time<true>, granted_in_time<false>); });
  });
  INFO(unneeded);
  CHECK(unneeded_in("claim.cpp", unneeded) == "");
  CHECK(unneeded_in("claim.hpp", unneeded) == "");
}
