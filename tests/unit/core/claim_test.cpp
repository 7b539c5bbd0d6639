#include <hocket/core/claim.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

using namespace hocket;
using hocket_test::expect_fatal;

namespace {

// Arms `word` for `registrations` sources, each with its hold.
void arm(claim& word, int registrations) {
  word.arm();
  for (int i = 0; i < registrations; ++i) word.hold();
}

// Two claims that lie in a known order of addresses.
struct pair {
  claim low, high;
};

}  // namespace

TEST_CASE("a new claim is idle and nobody's") {
  claim word;
  CHECK(word.outcome() == verdict::idle);
  CHECK_FALSE(word.held());
}

TEST_CASE("an armed claim is held by its registrar") {
  claim word;
  word.arm();
  CHECK(word.outcome() == verdict::armed);
  CHECK(word.held());
  REQUIRE(word.settle(verdict::granted) == settlement::early);
  CHECK_FALSE(word.commit());
  CHECK(word.drop());
  CHECK_FALSE(word.held());
}

TEST_CASE("a commit gives up the registrar's hold and nothing else") {
  claim word;
  arm(word, 1);
  CHECK(word.commit());
  CHECK(word.held());
  CHECK(word.outcome() == verdict::armed);
  CHECK(word.drop());
}

TEST_CASE("the first to settle wins, the others lose, whatever they bring") {
  for (verdict first : {verdict::granted, verdict::cancelled, verdict::timed_out, verdict::killed}) {
    for (verdict second : {verdict::granted, verdict::cancelled, verdict::timed_out, verdict::killed}) {
      claim word;
      arm(word, 2);
      REQUIRE(word.commit());
      CHECK(word.settle(first) == settlement::won);
      CHECK(word.settle(second) == settlement::lost);
      CHECK(word.outcome() == first);
      CHECK_FALSE(word.drop());
      CHECK(word.drop());
    }
  }
}

TEST_CASE("a winner before the commit is early, and the commit is refused") {
  claim word;
  arm(word, 1);
  CHECK(word.settle(verdict::timed_out) == settlement::early);
  CHECK_FALSE(word.commit());
  CHECK(word.held());
  CHECK_FALSE(word.drop());
  CHECK(word.drop());
  CHECK(word.outcome() == verdict::timed_out);
}

TEST_CASE("exactly the drop of the last hold says so, also when several are dropped at once") {
  claim word;
  arm(word, 4);
  REQUIRE(word.commit());
  REQUIRE(word.settle(verdict::granted) == settlement::won);
  CHECK_FALSE(word.drop(3));
  CHECK(word.held());
  CHECK(word.drop());

  arm(word, 4);
  REQUIRE(word.settle(verdict::granted) == settlement::early);
  REQUIRE_FALSE(word.commit());
  CHECK(word.drop(5));
}

TEST_CASE("the holds fit a select over very many sources") {
  claim word;
  constexpr std::uint32_t many = 1'000'000;
  word.arm();
  for (std::uint32_t i = 0; i < many; ++i) word.hold();
  REQUIRE(word.commit());
  REQUIRE(word.settle(verdict::granted) == settlement::won);
  CHECK_FALSE(word.drop(many - 1));
  CHECK(word.outcome() == verdict::granted);
  CHECK(word.drop());
}

TEST_CASE("holds are told while the claim is armed and committed, and whoever has them all ends it") {
  claim word;
  arm(word, 2);
  CHECK(word.holds() == 0);
  REQUIRE(word.commit());
  CHECK(word.holds() == 2);
  word.end(verdict::granted);
  CHECK(word.outcome() == verdict::granted);
  CHECK_FALSE(word.held());
  CHECK(word.holds() == 0);

  arm(word, 2);
  REQUIRE(word.commit());
  REQUIRE(word.settle(verdict::killed) == settlement::won);
  CHECK(word.holds() == 0);
  CHECK(word.drop(2));
}

TEST_CASE("a claim that ended by a store can be held again") {
  claim word;
  arm(word, 1);
  REQUIRE(word.commit());
  REQUIRE(word.holds() == 1);
  word.end(verdict::granted);
  word.hold_again(verdict::granted);
  CHECK(word.held());
  CHECK(word.outcome() == verdict::granted);
  CHECK(word.drop());
}

TEST_CASE("a claim can be armed again after its end") {
  claim word;
  for (int round = 0; round < 3; ++round) {
    arm(word, 1);
    CHECK(word.outcome() == verdict::armed);
    REQUIRE(word.commit());
    CHECK(word.settle(verdict::killed) == settlement::won);
    CHECK(word.drop());
  }
}

TEST_CASE("two claims are granted together, in either order of the arguments") {
  for (bool swapped : {false, true}) {
    pair two;
    arm(two.low, 1);
    arm(two.high, 1);
    REQUIRE(two.low.commit());  // the other one still registers
    auto [one, other] = swapped ? claim::settle_both(two.high, two.low) : claim::settle_both(two.low, two.high);
    CHECK((swapped ? other : one) == settlement::won);
    CHECK((swapped ? one : other) == settlement::early);
    CHECK(two.low.outcome() == verdict::granted);
    CHECK(two.high.outcome() == verdict::granted);
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
      claim& lost = low_is_lost ? two.low : two.high;
      claim& open = low_is_lost ? two.high : two.low;
      REQUIRE(lost.settle(verdict::cancelled) == settlement::early);
      auto [one, other] = swapped ? claim::settle_both(two.high, two.low) : claim::settle_both(two.low, two.high);
      CHECK(one == settlement::lost);
      CHECK(other == settlement::lost);
      CHECK(open.outcome() == verdict::armed);
      CHECK(lost.outcome() == verdict::cancelled);
      CHECK(open.commit());
      CHECK(open.settle(verdict::granted) == settlement::won);
      CHECK(open.drop());
      REQUIRE_FALSE(lost.commit());
      CHECK(lost.drop(2));
    }
  }
}

TEST_CASE("arming a claim that is still held is fatal" * doctest::skip(!debug_checks)) {
  expect_fatal(
      [] {
        claim word;
        word.arm();
        word.arm();
      },
      "a wait was armed while it is under way");
}
