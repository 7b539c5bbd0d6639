#include <hocket/core/wait/detail/claim.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using hocket_test::expect_fatal;

namespace {

// Arms `word` for `registrations` sources, each with its hold.
void arm(detail::claim& word, int registrations) {
  word.arm();
  for (int i = 0; i < registrations; ++i) word.hold();
}

// Two claims that lie in a known order of addresses.
struct pair {
  detail::claim low, high;
};

}  // namespace

TEST_CASE("a new claim is idle and nobody's") {
  detail::claim word;
  CHECK(word.state() == detail::claim_state::idle);
  CHECK_FALSE(word.held());
}

TEST_CASE("an armed claim is held by its registrar") {
  detail::claim word;
  word.arm();
  CHECK(word.state() == detail::claim_state::armed);
  CHECK(word.held());
  REQUIRE(word.settle(detail::wait_end::granted) == detail::settlement::early);
  CHECK_FALSE(word.commit());
  CHECK(word.drop());
  CHECK_FALSE(word.held());
}

TEST_CASE("a commit gives up the registrar's hold and nothing else") {
  detail::claim word;
  arm(word, 1);
  CHECK(word.commit());
  CHECK(word.held());
  CHECK(word.state() == detail::claim_state::armed);
  CHECK(word.drop());
}

TEST_CASE("the first to settle wins, the others lose, whatever they bring") {
  for (detail::wait_end first : {detail::wait_end::granted, detail::wait_end::cancelled, detail::wait_end::timed_out,
                                 detail::wait_end::killed}) {
    for (detail::wait_end second : {detail::wait_end::granted, detail::wait_end::cancelled, detail::wait_end::timed_out,
                                    detail::wait_end::killed}) {
      detail::claim word;
      arm(word, 2);
      REQUIRE(word.commit());
      CHECK(word.settle(first) == detail::settlement::won);
      CHECK(word.settle(second) == detail::settlement::lost);
      CHECK(word.state() == detail::state_of(first));
      CHECK_FALSE(word.drop());
      CHECK(word.drop());
    }
  }
}

TEST_CASE("a winner before the commit is early, and the commit is refused") {
  detail::claim word;
  arm(word, 1);
  CHECK(word.settle(detail::wait_end::timed_out) == detail::settlement::early);
  CHECK_FALSE(word.commit());
  CHECK(word.held());
  CHECK_FALSE(word.drop());
  CHECK(word.drop());
  CHECK(word.state() == detail::claim_state::timed_out);
}

TEST_CASE("exactly the drop of the last hold says so, also when several are dropped at once") {
  detail::claim word;
  arm(word, 4);
  REQUIRE(word.commit());
  REQUIRE(word.settle(detail::wait_end::granted) == detail::settlement::won);
  CHECK_FALSE(word.drop(3));
  CHECK(word.held());
  CHECK(word.drop());

  arm(word, 4);
  REQUIRE(word.settle(detail::wait_end::granted) == detail::settlement::early);
  REQUIRE_FALSE(word.commit());
  CHECK(word.drop(5));
}

TEST_CASE("the holds fit a select over very many sources") {
  detail::claim word;
  constexpr std::uint32_t many = 1'000'000;
  word.arm();
  for (std::uint32_t i = 0; i < many; ++i) word.hold();
  REQUIRE(word.commit());
  REQUIRE(word.settle(detail::wait_end::granted) == detail::settlement::won);
  CHECK_FALSE(word.drop(many - 1));
  CHECK(word.state() == detail::claim_state::granted);
  CHECK(word.drop());
}

TEST_CASE("holds are told while the claim is armed and committed, and whoever has them all ends it") {
  detail::claim word;
  arm(word, 2);
  CHECK(word.holds() == 0);
  REQUIRE(word.commit());
  CHECK(word.holds() == 2);
  word.end(detail::wait_end::granted);
  CHECK(word.state() == detail::claim_state::granted);
  CHECK_FALSE(word.held());
  CHECK(word.holds() == 0);

  arm(word, 2);
  REQUIRE(word.commit());
  REQUIRE(word.settle(detail::wait_end::killed) == detail::settlement::won);
  CHECK(word.holds() == 0);
  CHECK(word.drop(2));
}

TEST_CASE("a claim that ended by a store can be held again") {
  detail::claim word;
  arm(word, 1);
  REQUIRE(word.commit());
  REQUIRE(word.holds() == 1);
  word.end(detail::wait_end::granted);
  word.hold_again(detail::wait_end::granted);
  CHECK(word.held());
  CHECK(word.state() == detail::claim_state::granted);
  CHECK(word.drop());
}

TEST_CASE("a claim can be armed again after its end") {
  detail::claim word;
  for (int round = 0; round < 3; ++round) {
    arm(word, 1);
    CHECK(word.state() == detail::claim_state::armed);
    REQUIRE(word.commit());
    CHECK(word.settle(detail::wait_end::killed) == detail::settlement::won);
    CHECK(word.drop());
  }
}

TEST_CASE("two claims are granted together, in either order of the arguments") {
  for (bool swapped : {false, true}) {
    pair two;
    arm(two.low, 1);
    arm(two.high, 1);
    REQUIRE(two.low.commit());  // the other one still registers
    auto [one, other] =
        swapped ? detail::claim::settle_both(two.high, two.low) : detail::claim::settle_both(two.low, two.high);
    CHECK((swapped ? other : one) == detail::settlement::won);
    CHECK((swapped ? one : other) == detail::settlement::early);
    CHECK(two.low.state() == detail::claim_state::granted);
    CHECK(two.high.state() == detail::claim_state::granted);
    CHECK(two.low.drop());
    REQUIRE_FALSE(two.high.commit());
    CHECK(two.high.drop(2));
  }
}

TEST_CASE("if one of two claims is lost, the other one stays as it was") {
  for (bool low_is_lost : {false, true}) {
    for (bool swapped : {false, true}) {
      pair two;
      arm(two.low, 1);
      arm(two.high, 1);
      detail::claim& lost = low_is_lost ? two.low : two.high;
      detail::claim& open = low_is_lost ? two.high : two.low;
      REQUIRE(lost.settle(detail::wait_end::cancelled) == detail::settlement::early);
      auto [one, other] =
          swapped ? detail::claim::settle_both(two.high, two.low) : detail::claim::settle_both(two.low, two.high);
      CHECK(one == detail::settlement::lost);
      CHECK(other == detail::settlement::lost);
      CHECK(open.state() == detail::claim_state::armed);
      CHECK(lost.state() == detail::claim_state::cancelled);
      CHECK(open.commit());
      CHECK(open.settle(detail::wait_end::granted) == detail::settlement::won);
      CHECK(open.drop());
      REQUIRE_FALSE(lost.commit());
      CHECK(lost.drop(2));
    }
  }
}

TEST_CASE("arming a claim that is still held is fatal" * doctest::skip(!detail::debug_checks)) {
  expect_fatal(
      [] {
        detail::claim word;
        word.arm();
        word.arm();
      },
      "a wait was armed while it is under way");
}
