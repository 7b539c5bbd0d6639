#include "support/death.hpp"

#include <hocket/base/fatal.hpp>

#include <doctest/doctest.h>
#include <stdexcept>

using hocket_test::run_in_child;

TEST_CASE("a fatal error in the child is an abort with its message") {
  hocket_test::expect_fatal([] { hocket::detail::fatal("the bridge is out", "take the ferry"); }, "the bridge is out");
}

TEST_CASE("the body sees its captures, and the parent none of its effects") {
  int value = 1;
  hocket_test::expect_fatal(
      [&] {
        value = 2;
        hocket::detail::fatal(value == 2 ? "captured" : "not captured", "none");
      },
      "captured");
  CHECK(value == 1);
}

TEST_CASE("a body that returns or throws did not die") {
  auto returned = run_in_child([](void*) {}, nullptr);
  CHECK_FALSE(returned.aborted);
  CHECK(returned.how == "the body returned");
  auto threw = run_in_child([](void*) { throw std::runtime_error("oops"); }, nullptr);
  CHECK_FALSE(threw.aborted);
  CHECK(threw.how == "an exception left the body");
}

TEST_CASE("a check that fails in the child ends it, one that holds does not") {
  auto failed = run_in_child([](void*) { CHECK(1 + 1 == 3); }, nullptr);
  CHECK(failed.how == "a check failed");
  CHECK(failed.errors.find("1 + 1 == 3") != std::string::npos);
  auto failed_at_once = run_in_child([](void*) { FAIL("not to be reached"); }, nullptr);
  CHECK(failed_at_once.how == "a check failed");
  CHECK(failed_at_once.errors.find("not to be reached") != std::string::npos);
  auto held = run_in_child(
      [](void*) {
        CHECK(1 + 1 == 2);
        MESSAGE("only a message");
      },
      nullptr);
  CHECK(held.how == "the body returned");
}

TEST_CASE("an installed handler does not reach the child") {
  hocket::set_fatal_handler([](const hocket::fatal_error&) noexcept {});
  hocket_test::expect_fatal([] { hocket::detail::fatal("default again", "none"); }, "default again");
  hocket::set_fatal_handler(nullptr);
}

// Negative controls of the assertion itself: each of these must count as a failed check.
TEST_CASE("another message fails the assertion" * doctest::should_fail()) {
  hocket_test::assert_fatal({true, "", "remedy: wrong message"}, "the bridge", std::source_location::current());
}
TEST_CASE("no remedy fails the assertion" * doctest::should_fail()) {
  hocket_test::assert_fatal({true, "", "the bridge"}, "the bridge", std::source_location::current());
}
TEST_CASE("no abort fails the assertion" * doctest::should_fail()) {
  hocket_test::assert_fatal({false, "", "the bridge remedy:"}, "the bridge", std::source_location::current());
}
