// A test case that does not end ends its program, by its name.
#include "support/deadline.hpp"
#include "support/death.hpp"

#include <cstdlib>
#include <doctest/doctest.h>
#include <unistd.h>

namespace {

using hocket_test::deadline;

hocket_test::child_end run_case(const char* seconds, void (*rest)(deadline&)) {
  return hocket_test::end_of_child([&] {
    ::setenv("HOCKET_TEST_DEADLINE", seconds, 1);
    ::alarm(0);  // the child's own
    deadline watch(*doctest::getContextOptions());
    doctest::TestCaseData test{};
    test.m_name = "a body that hangs";
    watch.test_case_start(test);
    rest(watch);
  });
}

}  // namespace

TEST_CASE("a test case that hangs ends its program at its deadline, and its name is told") {
  const auto end = run_case("1", [](deadline&) { ::pause(); });
  INFO(end.errors);
  CHECK(end.aborted);
  CHECK(end.errors.find("before its deadline (HOCKET_TEST_DEADLINE, in seconds): a body that hangs\n") !=
        std::string::npos);
}

TEST_CASE("a test case that has ended has no deadline, and none has one of 0 seconds") {
  CHECK(run_case("60", [](deadline& watch) {
          watch.test_case_end({});
          if (::alarm(0) != 0) FAIL("it goes on");
        }).how == "the body returned");
  CHECK(run_case("0", [](deadline&) {
          if (::alarm(0) != 0) FAIL("it began");
        }).how == "the body returned");
}

TEST_CASE("a test case that restarts its deadline has the new time, unless it has none") {
  CHECK(run_case("60", [](deadline&) {
          deadline::restart(600);
          if (::alarm(0) <= 60) FAIL("the deadline was not restarted");
        }).returned);
  CHECK(run_case("0", [](deadline&) {
          deadline::restart(600);
          if (::alarm(0) != 0) FAIL("a deadline began");
        }).returned);
}
