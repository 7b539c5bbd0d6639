#include <hocket/base/fatal.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <string>
#include <unistd.h>

using namespace hocket;
using hocket_test::expect_fatal;

TEST_CASE("a fatal error says what, how to repair it, who and where, then aborts") {
  expect_fatal([] { detail::fatal("what happened", "what to do"); }, "hocket: what happened");
  expect_fatal([] { detail::fatal("what happened", "what to do"); }, "remedy: what to do");
  expect_fatal([] { detail::fatal("what happened", "what to do", "login"); }, "[coroutine login]");
  expect_fatal([] { detail::fatal("what happened", "what to do"); }, "fatal_test.cpp");
}

TEST_CASE("a message longer than the line is cut, not lost") {
  static const std::string text(5000, 'x');
  auto end = hocket_test::run_in_child([](void*) { detail::fatal(text.c_str(), "unseen"); }, nullptr);
  CHECK(end.aborted);
  CHECK(end.errors.starts_with("hocket: xxxx"));
  CHECK(end.errors.size() < text.size());
}

TEST_CASE("expects passes what holds and reports what does not") {
  detail::expects(true, "never", "never");
  detail::debug_expects(true, "never", "never");
  if (detail::misuse_checks) expect_fatal([] { detail::expects(false, "broken", "mend it"); }, "mend it");
  if (detail::debug_checks)
    expect_fatal([] { detail::debug_expects(false, "broken inside", "report it"); }, "report it");
  if (!detail::debug_checks) detail::debug_expects(false, "not checked", "at this level");
}

TEST_CASE("an installed handler is told; if it returns the process aborts all the same") {
  static const char told[] = "the handler was told\n  remedy: repair\n";
  auto handler = [](const fatal_error& error) noexcept {
    if (std::string{error.remedy} == "repair") [[maybe_unused]]
      auto n = ::write(STDERR_FILENO, told, sizeof told - 1);
  };
  expect_fatal(
      [=] {
        set_fatal_handler(handler);
        detail::fatal("what", "repair");
      },
      "the handler was told");
  CHECK((set_fatal_handler(nullptr) == nullptr));
}

TEST_CASE("notices go to the installed sink only") {
  static int told;
  told = 0;
  detail::notice("dropped");
  CHECK((set_log_handler([](const char*) noexcept { ++told; }) == nullptr));
  detail::notice("taken");
  CHECK(told == 1);
  CHECK((set_log_handler(nullptr) != nullptr));
  detail::notice("dropped again");
  CHECK(told == 1);
}
