// The claim word under every schedule: one winner, no early reader of the registrations, one last holder.
#include <hocket/core/wait/detail/claim.hpp>

#include "sync/waits.hpp"
#include "verdict.hpp"

#include <string>

namespace {

using hocket::detail::claim;
using hocket::detail::claim_state;
using hocket::detail::settlement;
using hocket::detail::wait_end;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
using ::verdict::unneeded_in;
namespace model = hocket::model;

// A wait with two sources. `registration` stands for what the registrar makes and a winner reads; `frame` for the
// memory of the wait, which the last holder frees. The sources know the waiter through their own locks.
struct wait {
  claim word;
  model::mutex sources[2];
  var<int> registration{0, "registration"};
  var<int> touched[2];
  var<bool> posted{false, "posted"};
};

void finish(wait& w, std::uint32_t holds) {
  if (!w.word.drop(holds)) return;
  for (auto& by : w.touched) (void)by.read();
  w.posted = true;
}

void source_ends(wait& w, int me, wait_end how) {
  w.sources[me].lock();
  w.sources[me].unlock();
  auto result = w.word.settle(how);
  if (result == settlement::won) require(w.registration == 2, "a winner that is not early sees all registrations");
  w.touched[me] = 1;
  finish(w, 1);
}

void two_sources_race(execution& run) {
  wait w;
  for (auto& source : w.sources) source.lock();
  w.word.arm();
  w.word.hold();
  w.word.hold();
  for (auto& source : w.sources) source.unlock();
  run.thread("grants", [&] { source_ends(w, 0, wait_end::granted); });
  run.thread("cancels", [&] { source_ends(w, 1, wait_end::cancelled); });
  run.thread("registers", [&] {
    w.registration = 2;
    if (!w.word.commit()) finish(w, 1);
  });
  run.join();
  require(w.posted, "nobody was the last");
  require(w.word.state() == claim_state::granted || w.word.state() == claim_state::cancelled);
  require(!w.word.held());
}

// A wait with one source and a stop, as suspension::grant() ends it: who grants takes the stop back first, and if it
// can, nobody else has the claim. `careless`: it does not care whether it could.
struct lone_wait : wait {
  var<bool> stop_attached{true, "stop attached"};
  bool take_stop() {
    sources[1].lock();
    const bool was = stop_attached;
    stop_attached = false;
    sources[1].unlock();
    return was;
  }
};

void grant_alone(lone_wait& w, bool careless) {
  w.sources[0].lock();
  w.sources[0].unlock();
  const std::uint32_t holds = w.word.holds();
  if (holds != 2) return source_ends(w, 0, wait_end::granted);
  require(w.registration == 2, "who is told of the holds sees all registrations");
  if (!w.take_stop() && !careless) return source_ends(w, 0, wait_end::granted);
  w.touched[0] = 1;
  w.word.end(wait_end::granted);
  for (auto& by : w.touched) (void)by.read();
  w.posted = true;
}

template <bool careless>
void grant_beside_a_stop(execution& run) {
  lone_wait w;
  w.sources[0].lock();
  w.sources[1].lock();
  w.word.arm();
  w.word.hold();
  w.word.hold();
  w.sources[0].unlock();
  w.sources[1].unlock();
  run.thread("grants", [&] { grant_alone(w, careless); });
  run.thread("stops", [&] {
    if (w.take_stop()) source_ends(w, 1, wait_end::cancelled);
  });
  run.thread("registers", [&] {
    w.registration = 2;
    if (!w.word.commit()) finish(w, 1 + w.take_stop());
  });
  run.join();
  require(w.posted, "nobody was the last");
  require(w.word.state() == claim_state::granted || w.word.state() == claim_state::cancelled);
  require(!w.word.held());
}

// Two selects that meet from both sides, each able to win the other, and a cancellation of one.
void two_selects_meet(execution& run) {
  claim one, other;
  for (auto* word : {&one, &other}) {
    word->arm();
    word->hold();
    word->hold();
    word->hold();
    require(word->commit());
  }
  var<int> meetings{0, "meetings"};
  model::mutex lock{"meetings' lock"};
  auto meet = [&](claim& mine, claim& theirs) {
    auto result = claim::settle_both(mine, theirs);
    require((result.first == settlement::lost) == (result.second == settlement::lost), "one of two was won");
    if (result.first == settlement::lost) return;
    lock.lock();
    meetings = meetings + 1;
    lock.unlock();
  };
  run.thread("from one", [&] { meet(one, other); });
  run.thread("from other", [&] { meet(other, one); });
  bool cancelled = false;
  run.thread("cancels one", [&] { cancelled = one.settle(wait_end::cancelled) != settlement::lost; });
  run.join();
  require(meetings == (cancelled ? 0 : 1), "they meet once, unless one was cancelled");
  require(one.state() == (cancelled ? claim_state::cancelled : claim_state::granted));
  require(other.state() == (cancelled ? claim_state::armed : claim_state::granted));
}

}  // namespace

TEST_CASE("a claim that two sources settle has one winner and one last holder") {
  ::verdict::none({.preemptions = 3, .stale_reads = 1, .spurious = 1}, two_sources_race);
}

TEST_CASE("who has taken the stop back ends a claim alone") {
  ::verdict::none({.preemptions = 3, .stale_reads = 1, .spurious = 1}, grant_beside_a_stop<false>);
}

TEST_CASE("who ends a claim as if alone, though the stop was popped, does it beside another") {
  auto result = model::explore({.preemptions = 2, .stale_reads = 0, .spurious = 0}, grant_beside_a_stop<true>);
  INFO(result.text());
  CHECK(result.found());
}

TEST_CASE("every ordering of a claim is needed by its users") {
  auto unneeded = model::unneeded_orderings({.preemptions = 2, .stale_reads = 1, .spurious = 0}, two_sources_race,
                                            grant_beside_a_stop<false>);
  CHECK(unneeded_in("claim.cpp", unneeded) == "");
  CHECK(unneeded_in("claim.hpp", unneeded) == "");
}

TEST_CASE("two selects that meet win both claims or none") {
  ::verdict::none({.preemptions = 2, .stale_reads = 1, .spurious = 1}, two_selects_meet);
}
