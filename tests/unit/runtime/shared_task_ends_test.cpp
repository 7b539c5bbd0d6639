// Each way in which the body of a shared task ends, as each of several waits and a later one are given it.
#include <hocket/base/clock.hpp>
#include <hocket/base/error.hpp>
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/shared_task.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/sleep.hpp>

#include <doctest/doctest.h>
#include <stdexcept>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

enum class cause { value, exception, cancel, deadline, kill };

shared_task<int> ends_by(cause reason) {
  if (reason == cause::value) co_return 7;
  if (reason == cause::exception) throw std::runtime_error("planned");
  co_await or_throw(sleep_for(1h));
  co_return 0;
}

std::error_code expected_error(cause reason) {
  if (reason == cause::deadline) return make_error_code(errc::deadline_exceeded);
  return make_error_code(errc::cancelled);
}

// The result of a wait, in a form that can be compared: the error, or none. An exception is its own mark.
task<std::error_code> error_of_wait(shared_task<int> handle) {
  try {
    auto ended = co_await handle.wait();
    if (!ended) co_return ended.error();
    CHECK(*ended == 7);
    co_return std::error_code{};
  } catch (const std::runtime_error&) {
    co_return std::make_error_code(std::errc::io_error);
  }
}

void check_end(cause reason, const std::vector<std::error_code>& errors) {
  CAPTURE(static_cast<int>(reason));
  CHECK(errors.size() == 3);
  for (const std::error_code& error : errors) {
    if (reason == cause::value) CHECK_FALSE(error);
    else if (reason == cause::exception) CHECK(error == std::errc::io_error);
    else CHECK(error == expected_error(reason));
  }
}

}  // namespace

TEST_CASE("each wait for a shared task, and a later one, is given the end of its body, whatever ended it") {
  for (const cause reason : {cause::value, cause::exception, cause::cancel, cause::deadline, cause::kill}) {
    manual_clock time;
    loop lp({.clock = &time});
    std::vector<std::error_code> errors;
    auto parent = [&]() -> task<> {
      shared_task<int> body = ends_by(reason);
      auto waits = [&]() -> task<> { errors.push_back(co_await error_of_wait(body)); };
      auto first = spawn(lp, waits), second = spawn(lp, waits);
      scope all({.within = reason == cause::deadline ? 10ms : 2h});
      body.start(all);
      co_await yield();
      if (reason == cause::cancel) all.cancel();
      if (reason == cause::kill) all.kill();
      co_await or_throw(all.join());
      (void)co_await first.join();
      (void)co_await second.join();
      errors.push_back(co_await error_of_wait(body));
    };
    auto ended = spawn(lp, parent);
    for (; !ended.done(); time.advance(1ms)) lp.poll();
    check_end(reason, errors);
  }
}
