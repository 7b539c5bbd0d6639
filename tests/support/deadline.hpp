// A deadline for each test case: one that hangs ends its program. Its name is printed, and, if there is gdb, the calls
// of all threads and the coroutines.
//
// It decides nothing about a test that ends: the time is many times what the slowest case needs under the slowest
// launcher. HOCKET_TEST_DEADLINE sets it in seconds; 0: none, for a debugger. A case that runs for as long as its user
// says calls restart() while it makes progress.
//
// The time runs out as SIGALRM, which may reach any thread. A body that needs SIGALRM itself runs in a child
// (support/death.hpp), which inherits no alarm.
#pragma once
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <unistd.h>

namespace hocket_test {

// Writes the calls of all threads and the coroutines to stderr, or nothing if there is no gdb. May be called in a
// signal handler.
void show_calls_by_gdb() noexcept;

class deadline final : public doctest::IReporter {
 public:
  explicit deadline(const doctest::ContextOptions&) {
    if (const char* set = std::getenv("HOCKET_TEST_DEADLINE")) seconds_ = static_cast<unsigned>(std::atoi(set));
  }
  void test_case_start(const doctest::TestCaseData& test) override { begin(test); }
  void test_case_reenter(const doctest::TestCaseData& test) override { begin(test); }
  void test_case_end(const doctest::CurrentTestCaseStats&) override { ::alarm(0); }

  // The running case has made progress: it has `seconds` from now on.
  static void restart(unsigned seconds) noexcept {
    if (is_set_) ::alarm(seconds);
  }

  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  void begin(const doctest::TestCaseData& test) noexcept {
    is_set_ = seconds_ != 0;
    if (!is_set_) return;
    running_ = test.m_name;
    std::signal(SIGALRM, &expire);
    ::alarm(seconds_);
  }
  static void expire(int) {
    say("\nthis test case has not ended before its deadline (HOCKET_TEST_DEADLINE, in seconds): ");
    say(running_);
    say("\n");
    show_calls_by_gdb();
    std::abort();
  }
  static void say(const char* text) noexcept {
    [[maybe_unused]] const auto written = ::write(STDERR_FILENO, text, std::strlen(text));
  }

  static inline bool is_set_ = false;
  static inline const char* running_ = "";
  unsigned seconds_ = 300;
};

}  // namespace hocket_test
