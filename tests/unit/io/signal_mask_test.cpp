// The state of a thread after a write to a pipe without a reader: its signal mask and its pending signals are as
// before.
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/io/standard_streams.hpp>

#include "support/death.hpp"

#include <array>
#include <csignal>
#include <cstdio>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <functional>
#include <memory>
#include <string>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

sigset_t present_mask() {
  sigset_t mask;
  ::pthread_sigmask(SIG_SETMASK, nullptr, &mask);
  return mask;
}

bool is_pending() {
  sigset_t pending;
  sigemptyset(&pending);
  ::sigpending(&pending);
  return sigismember(&pending, SIGPIPE) == 1;
}

bool same(const sigset_t& a, const sigset_t& b) {
  for (int signal = 1; signal != 64; ++signal)
    if (sigismember(&a, signal) != sigismember(&b, signal)) return false;
  return true;
}

// Each way to write to a pipe on this thread.
using write_call = std::function<std::error_code(stream&)>;
std::vector<write_call> all_calls() {
  static constexpr std::string_view words = "words";
  static const std::array<const_buffer, 2> parts{words, words};
  return {[](stream& to) { return sync_wait(to.write_some(words)).error_or({}); },
          [](stream& to) { return sync_wait(to.write_all(words)).error_or({}); },
          [](stream& to) { return sync_wait(to.write_some(parts)).error_or({}); },
          [](stream& to) { return sync_wait(to.write_all(parts)).error_or({}); },
          [](stream& to) {
            const std::unique_ptr<std::FILE, int (*)(std::FILE*)> from(std::tmpfile(), &std::fclose);
            std::fputs("a file", from.get());
            std::fflush(from.get());
            return sync_wait(send_file(to, ::fileno(from.get()), 0, 6)).error_or({});
          }};
}

stream pipe_without_reader(detail::descriptor_kind kind) {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
  ::close(ends[0]);
  return stream(detail::descriptor_access::take_over(ends[1], kind).value());
}

template <class Body>
void check_in_child(Body body) {
  const child_end end = end_of_child(body);
  INFO(end.errors);
  CHECK(end.returned);
}

}  // namespace

TEST_CASE("a broken pipe leaves the signal mask of its thread as it was, and no signal") {
  check_in_child([] {
    ::signal(SIGPIPE, SIG_DFL);
    for (const auto kind : {detail::descriptor_kind::other, detail::descriptor_kind::shared}) {
      for (const write_call& call : all_calls()) {
        stream to = pipe_without_reader(kind);
        const sigset_t before = present_mask();
        CHECK(call(to) == std::errc::broken_pipe);
        CHECK(same(present_mask(), before));
        CHECK_FALSE(is_pending());
      }
    }
  });
}

TEST_CASE("a broken pipe does not take a signal that was pending before, nor unblock it") {
  check_in_child([] {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    ::raise(SIGPIPE);
    REQUIRE(is_pending());
    for (const write_call& call : all_calls()) {
      stream to = pipe_without_reader(detail::descriptor_kind::other);
      const sigset_t before = present_mask();
      CHECK(call(to) == std::errc::broken_pipe);
      CHECK(same(present_mask(), before));
      CHECK(is_pending());
    }
  });
}
