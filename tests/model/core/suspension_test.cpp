// The whole life of a wait under every schedule: a registrar that commits, and a grant, a stop and an alarm that race
// for it. Whatever the order: the coroutine is posted once or goes straight on, never both; a permit is granted or
// kept; and nobody touches the wait after it is over. (It is freed at once, so a late touch is a use after
// destruction.)
#include "core/whole_wait.hpp"
#include "sync/waits.hpp"

namespace {

using namespace hocket_test;
using hocket::detail::wait_end;
using hocket::model::bug;
using ::verdict::unneeded_in;
namespace model = hocket::model;

template <class Source>
void granted_or_killed(execution& run) {
  kept<whole_wait<Source>> t(false);
  t->start(run);
  run.thread("grants", [&] { t->source.release(); });
  run.thread("kills", [&] { t->stop.request(hocket::stop_level::kill); });
  run.join();
  t->check();
  t.free();
}

void granted_or_killed_or_late(execution& run) {
  kept<whole_wait<permit_source>> t(true);
  t->start(run);
  run.thread("grants", [&] { t->source.release(); });
  run.thread("kills", [&] { t->stop.request(hocket::stop_level::kill); });
  run.thread("rings", [&] { t->alarm.ring(); });
  run.join();
  t->check();
  t.free();
}

// The granter cancels the alarm. At home it does so first: then it is alone, or the alarm has fired, and both release.
// Elsewhere it does so after the claim is decided.
template <bool AtHome>
void granted_in_time(execution& run) {
  kept<whole_wait<permit_source>> t(true);
  t->start(run);
  run.thread("grants", [&] {
    hocket::detail::running_scope on({AtHome ? &t->home : nullptr}, nullptr);
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
  wait_end got[2] = {};
  run.thread("mortal", [&] { got[0] = wait_once(source, homes[0], *mortal); });
  run.thread("patient", [&] { got[1] = wait_once(source, homes[1], *patient); });
  run.thread("grants and kills", [&] {
    source.release();
    stop.request(hocket::stop_level::kill);
    source.release();
  });
  run.join();
  require(got[1] == wait_end::granted, "the permit stuck with one who was killed");
  require(got[0] == wait_end::granted || got[0] == wait_end::killed);
  require(source.free() == (got[0] == wait_end::granted ? 0 : 1));
}

// --- a select on two sources

struct select_awaiter {
  hocket::primitive::suspension wait;
  hocket::primitive::waiter entries[2];
};

struct two_sources {
  watchful_source sources[2];
  one_home home;
  hocket::context_ptr ctx = context::child_of(context::root(), {});
  std::size_t index = 9;

  void select() {
    kept<select_awaiter> self;
    hocket::detail::this_thread().binding.running_on = &home;
    hocket::detail::this_thread().ctx = ctx.get();
    self->wait.arm({});
    for (int i = 0; i < 2 && !self->wait.decided(); ++i) sources[i].take_or_list(self->wait, self->entries[i]);
    if (self->wait.commit()) home.sleep();
    require(self->wait.finish() == wait_end::granted);
    index = hocket::primitive::waiter::granted_of(self->entries);
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

// --- the mistakes that a primitive's author can make

struct looks_without_the_lock : permit_source {
  bool take_or_list(hocket::primitive::suspension& wait, hocket::primitive::waiter& entry) noexcept override {
    {
      hocket::primitive::locked guard(mutex_);
      if (free_ > 0 && wait.take_now(entry, *this)) return --free_, true;
    }
    hocket::primitive::locked guard(mutex_);
    entry.enlist(wait, *this);
    waiting_.push_back(entry);
    return false;
  }
};

struct touches_after_the_grant : permit_source {
  void release() noexcept override {
    while (hocket::primitive::waiter* first = pop_or_keep()) {
      first->claim_popped().post();
      if (!first->claim()) return;
    }
  }
};

// Works on memory of the wait between the two steps of a grant.
struct works_for_it : permit_source {
  void release() noexcept override {
    while (hocket::primitive::waiter* first = pop_or_keep()) {
      hocket::primitive::grant won = first->claim_popped();
      if (!won) continue;
      hocket::primitive::waiter& told = won.defer(*this);
      require(!told.claim(), "granted, and ended by others");
      told.deferred().post();
      return;
    }
  }
};

struct works_after_the_last_step : permit_source {
  void release() noexcept override {
    while (hocket::primitive::waiter* first = pop_or_keep()) {
      hocket::primitive::grant won = first->claim_popped();
      if (!won) continue;
      hocket::primitive::waiter& told = won.defer(*this);
      told.deferred().post();
      require(!told.claim());
      return;
    }
  }
};

struct keeps_no_lost_permit : permit_source {
  void release() noexcept override {
    if (hocket::primitive::waiter* first = pop_or_keep()) first->claim_popped().post();
  }
};

// Like a source that links without a lock.
struct pops_first : permit_source {
  void release() noexcept override {
    while (hocket::primitive::waiter* first = pop_or_keep()) {
      hocket::primitive::grant won = first->claim_popped();
      const bool taken = static_cast<bool>(won);
      won.post();
      if (taken) return;
    }
  }
};

struct claims_outside_of_the_lock : permit_source {
  void release() noexcept override {
    hocket::primitive::waiter* first = nullptr;
    {
      hocket::primitive::locked guard(mutex_);
      if (waiting_.empty()) return static_cast<void>(++free_);
      first = &waiting_.front();
    }
    hocket::primitive::grant won = first->claim();
    {
      hocket::primitive::locked guard(mutex_);
      if (won) waiting_.erase(*first);
      else ++free_;
    }
    won.post();
  }
};

struct detaches_what_was_popped : pops_first {
  bool detach(hocket::primitive::waiter& entry) noexcept override {
    (void)permit_source::detach(entry);
    return true;
  }
};

constexpr model::options bounds{.preemptions = 2, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_CASE("a wait that is granted and killed at once ends once, and the permit is not lost") {
  ::verdict::none(bounds, granted_or_killed<watchful_source>);
}

TEST_CASE("a wait that is granted and killed at once ends once, if its source pops before the claim") {
  ::verdict::none(bounds, granted_or_killed<pops_first>);
}

TEST_CASE("a source that claims outside of its lock claims a wait that may be over") {
  auto result = model::explore(bounds, granted_or_killed<claims_outside_of_the_lock>);
  INFO(result.text());
  CHECK(result.found());
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

TEST_CASE("a source that looks for a permit under one lock and lists under another loses a wake-up") {
  ::verdict::found(bug::lost_wakeup, bounds, [](execution& run) {
    kept<whole_wait<looks_without_the_lock>> t(false);
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
  // The waiter is posted by the loser's hold, which was counted twice, or is freed under it: the first fault is found.
  auto result = model::explore(bounds, granted_or_killed<detaches_what_was_popped>);
  INFO(result.text());
  CHECK(result.found());
}

// The winner that takes the other registration back must see it, and the coroutine all that the last holder did.
TEST_CASE("no ordering of the claim could be weaker under a select, or beside an alarm") {
  auto unneeded = model::unneeded_orderings({.preemptions = 1, .stale_reads = 1, .spurious = 0}, select_from_two,
                                            granted_in_time<true>, granted_in_time<false>);
  INFO(unneeded);
  CHECK(unneeded_in("claim.cpp", unneeded) == "");
  CHECK(unneeded_in("claim.hpp", unneeded) == "");
}
