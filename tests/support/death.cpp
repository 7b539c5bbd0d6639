#include "support/death.hpp"

#include <hocket/base/fatal.hpp>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

namespace hocket_test {
namespace {

constexpr int body_returned = 77;
constexpr int body_threw = 78;
constexpr int check_failed = 79;
constexpr unsigned watchdog_seconds = 60;

bool in_child = false;

// The parent learns of no check of a child. So a child ends with the first one that fails, and says which.
class checks_of_children final : public doctest::IReporter {
 public:
  explicit checks_of_children(const doctest::ContextOptions&) {}
  void log_assert(const doctest::AssertData& check) override {
    if (check.m_failed) end_child(check.m_file, check.m_line, check.m_expr);
  }
  void log_message(const doctest::MessageData& message) override {
    if (message.m_severity != doctest::assertType::is_warn)
      end_child(message.m_file, message.m_line, message.m_string.c_str());
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_start(const doctest::TestCaseData&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_end(const doctest::CurrentTestCaseStats&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}

 private:
  static void end_child(const char* file, int line, const char* what) {
    if (!in_child) return;
    std::fprintf(stderr, "%s:%d: failed in the child: %s\n", file, line, what);
    ::_exit(check_failed);
  }
};
DOCTEST_REGISTER_LISTENER("checks of children", 1, checks_of_children);

[[noreturn]] void be_the_child(int errors, void (*body)(void*), void* argument) noexcept {
  ::dup2(errors, STDERR_FILENO);
  ::close(errors);
  rlimit no_core{0, 0};
  ::setrlimit(RLIMIT_CORE, &no_core);
  std::signal(SIGABRT, SIG_DFL);
  std::signal(SIGALRM, SIG_DFL);
  ::alarm(watchdog_seconds);
  hocket::set_fatal_handler(nullptr);
  in_child = true;
  int code = body_returned;
  try {
    body(argument);
  } catch (...) {
    code = body_threw;
  }
  ::_exit(code);
}

std::string read_to_end(int descriptor) {
  std::string text;
  char chunk[4096];
  for (;;) {
    auto n = ::read(descriptor, chunk, sizeof chunk);
    if (n > 0) text.append(chunk, static_cast<std::size_t>(n));
    else if (n == 0 || errno != EINTR) return text;
  }
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

std::string describe(int status) {
  if (WIFSIGNALED(status)) {
    auto signal = WTERMSIG(status);
    return std::string("killed by ") + ::strsignal(signal) + (signal == SIGALRM ? " (it hung)" : "");
  }
  switch (WEXITSTATUS(status)) {
    case body_returned: return "the body returned";
    case body_threw: return "an exception left the body";
    case check_failed: return "a check failed";
    default: return "exit code " + std::to_string(WEXITSTATUS(status));
  }
}

}  // namespace

child_end run_in_child(void (*body)(void*), void* argument) {
  int ends[2];
  if (::pipe(ends) != 0) throw std::system_error(errno, std::generic_category(), "pipe");
  std::fflush(nullptr);
  auto child = ::fork();
  if (child < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (child == 0) {
    ::close(ends[0]);
    be_the_child(ends[1], body, argument);
  }
  ::close(ends[1]);
  auto errors = read_to_end(ends[0]);
  ::close(ends[0]);
  auto status = wait_for(child);
  return {WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, describe(status), errors,
          WIFEXITED(status) && WEXITSTATUS(status) == body_returned};
}

static std::string report_of(const child_end& end) { return end.how + "; its standard error:\n" + end.errors; }

void assert_return(const child_end& end, std::source_location where) {
  if (end.returned) {
    CHECK(end.returned);  // counts as an assertion that held
    return;
  }
  ADD_FAIL_CHECK_AT(where.file_name(), static_cast<int>(where.line()),
                    "expected a body that returns; " << report_of(end));
}

void assert_fatal(const child_end& end, const std::string& message, std::source_location where) {
  bool says_what = end.errors.find(message) != std::string::npos;
  bool says_remedy = end.errors.find("remedy:") != std::string::npos;
  if (end.aborted && says_what && says_remedy) {
    CHECK(end.aborted);  // counts as an assertion that held
    return;
  }
  ADD_FAIL_CHECK_AT(where.file_name(), static_cast<int>(where.line()),
                    "expected an abort whose message holds \"" << message << "\" and a remedy; " << report_of(end));
}

}  // namespace hocket_test
