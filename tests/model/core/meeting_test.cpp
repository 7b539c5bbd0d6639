// Two selects that meet while each can be ended by another party: both are granted or none. A party that finds the
// claim reserved for a moment does not lose if in the end no party wins.
#include <hocket/core/wait/detail/claim.hpp>

#include "verdict.hpp"

namespace {

using hocket::detail::claim;
using hocket::detail::claim_state;
using hocket::detail::settlement;
using hocket::detail::wait_end;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;
namespace model = hocket::model;

struct two_claims {
  claim low, high;  // settle_both takes `low` first

  two_claims() {
    for (claim* one : {&low, &high}) {
      one->arm();
      for (int i = 0; i < 3; ++i) one->hold();
      require(one->commit());
    }
  }
};

bool won(settlement how) { return how != settlement::lost; }

// One party grants both, one cancels the second claim, one grants the first. Exactly one of the two granters of the
// first gets it, whatever happens to the second.
void a_meeting_beside_a_grant(execution& run) {
  two_claims w;
  bool met = false, cancelled = false, granted = false;
  run.thread("meets", [&] { met = won(claim::settle_both(w.high, w.low).first); });
  run.thread("cancels high", [&] { cancelled = won(w.high.settle(wait_end::cancelled)); });
  run.thread("grants low", [&] { granted = won(w.low.settle(wait_end::granted)); });
  run.join();
  require(w.low.state() == claim_state::granted, "the first claim was lost to everybody");
  require(met != granted, "two won, or nobody");
  require(met != cancelled || (granted && !met), "the second claim was neither met nor cancelled");
  require(w.high.state() == (met ? claim_state::granted : cancelled ? claim_state::cancelled : claim_state::armed));
}

// Three claims in a ring, each party meets two neighbours: the order of addresses makes the waits for `reserved` end.
template <claim::both (*Meet)(claim&, claim&) noexcept>
void a_ring_of_meetings(execution& run) {
  claim ring[3];
  for (claim& one : ring) {
    one.arm();
    one.hold();
    one.hold();
    require(one.commit());
  }
  int meetings = 0;  // of strands of one real thread
  for (int i = 0; i < 3; ++i) {
    run.thread(i == 0   ? "0 and 1"
               : i == 1 ? "1 and 2"
                        : "2 and 0",
               [&, i] {
                 if (won(Meet(ring[i], ring[(i + 1) % 3]).first)) ++meetings;
               });
  }
  run.join();
  require(meetings == 1, "of three who share claims in pairs, exactly one pair meets");
  int granted = 0;
  for (claim& one : ring) granted += one.state() == claim_state::granted;
  require(granted == 2);
}

// The registrar of each still registers while the other side finds it: one word distinguishes `early` and `won`, so
// exactly one of winner and registrar releases the registrations.
void a_meeting_beside_both_commits(execution& run) {
  claim claims[2];
  var<int> registrations[2];
  int released[2] = {};
  for (claim& one : claims) {
    one.arm();
    one.hold();
  }
  run.thread("meets", [&] {
    auto [zero, one] = claim::settle_both(claims[0], claims[1]);
    require(won(zero) && won(one), "nobody else settles");
    settlement how[2] = {zero, one};
    for (int i = 0; i < 2; ++i) {
      if (how[i] != settlement::won) continue;
      require(registrations[i] == 1);
      ++released[i];
    }
  });
  for (int i = 0; i < 2; ++i) {
    run.thread(i == 0 ? "commits 0" : "commits 1", [&, i] {
      registrations[i] = 1;
      if (!claims[i].commit()) ++released[i];
    });
  }
  run.join();
  require(released[0] == 1 && released[1] == 1, "the registrations are let go once");
}

constexpr model::options bounds{.preemptions = 3, .stale_reads = 1, .spurious = 1};

}  // namespace

TEST_CASE("a claim that is only reserved is not lost to a third party") {
  ::verdict::none(bounds, a_meeting_beside_a_grant);
}

TEST_CASE("meetings in a ring of three neither deadlock nor overlap") {
  ::verdict::none({.preemptions = 2, .stale_reads = 1, .spurious = 0}, a_ring_of_meetings<claim::settle_both>);
}

TEST_CASE("in the order of their arguments they would wait for one another in a circle") {
  ::verdict::found(model::bug::livelock, {.preemptions = 2, .stale_reads = 1, .spurious = 0},
                   a_ring_of_meetings<claim::settle_in_order>);
}

TEST_CASE("a meeting and the commits of both sides agree on who lets the registrations go") {
  ::verdict::none(bounds, a_meeting_beside_both_commits);
}

TEST_CASE("every ordering of a meeting is needed") {
  CHECK(model::unneeded_orderings({.preemptions = 2, .stale_reads = 1, .spurious = 0}, a_meeting_beside_both_commits) ==
        "");
}
