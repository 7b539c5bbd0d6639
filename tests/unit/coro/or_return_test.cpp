#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/task.hpp>

#include "unit/coro/queue_executor.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// Notes when it is destroyed, and under which exceptions.
struct noted {
  std::vector<std::string>& log;
  std::string name;
  ~noted() { log.push_back(name + (std::uncaught_exceptions() ? " thrown" : "")); }
};

task<result<int>> half(int n) {
  if (n % 2) co_return failure(std::errc::invalid_argument);
  co_return n / 2;
}
task<result<std::string>> quarter(int n, std::vector<std::string>& log) {
  noted outer{log, "outer"};
  const int once = co_await or_return(half(n));
  noted inner{log, "inner"};
  const int twice = co_await or_return(half(once));
  log.push_back("end");
  co_return std::to_string(twice);
}

}  // namespace

TEST_CASE("or_return gives the value, or ends the task with the error and destroys its locals") {
  std::vector<std::string> log;
  CHECK(sync_wait(quarter(8, log)).value() == "2");
  CHECK(log == std::vector<std::string>{"end", "inner", "outer"});
  log.clear();
  CHECK(sync_wait(quarter(2, log)).error() == std::errc::invalid_argument);
  CHECK(log == std::vector<std::string>{"inner", "outer"});
  log.clear();
  CHECK(sync_wait(quarter(1, log)).error() == std::errc::invalid_argument);
  CHECK(log == std::vector<std::string>{"outer"});
}

TEST_CASE("or_return awaits an awaitable that is an lvalue, as often as it is asked") {
  struct lasting {
    result<int> value;
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    result<int> await_resume() const { return value; }
  };
  const auto twice = [](lasting& shared) -> task<result<int>> {
    const int first = co_await or_return(shared);
    co_return first + co_await or_return(shared);
  };
  lasting four{4}, failed{failure(std::errc::invalid_argument)};
  CHECK(sync_wait(twice(four)).value() == 8);
  CHECK(sync_wait(twice(failed)).error() == std::errc::invalid_argument);
}

TEST_CASE("the locals are gone before the parent goes on") {
  std::vector<std::string> log;
  auto parent = [&]() -> task<> {
    auto got = co_await quarter(1, log);
    log.push_back(got ? "value" : "error");
  };
  sync_wait(parent());
  CHECK(log == std::vector<std::string>{"outer", "error"});
}

TEST_CASE("or_return of an operation: at once, after a wait, and void") {
  auto ends = make_oneshot<std::unique_ptr<int>>();
  auto receive = [&]() -> task<result<int>> {
    auto box = co_await or_return(ends.receiver.receive());
    co_return *box;
  };
  std::error_code error;
  int got = 0;
  queue_executor queue;
  auto starts = [&]() -> foreign {
    co_await hop_to(queue);
    auto r = co_await receive();
    if (r) got = *r;
    else error = r.error();
  };
  auto waits = starts();
  queue.run();
  CHECK(got == 0);
  ends.sender.send(std::make_unique<int>(7));
  queue.run();
  CHECK(got == 7);
  auto at_once = starts();  // it was taken
  queue.run();
  CHECK(error == std::errc::broken_pipe);

  auto nothing = make_oneshot<>();
  nothing.sender.send();
  auto told = [&]() -> task<result<void>> {
    co_await or_return(nothing.receiver.receive());
    co_return {};
  };
  CHECK(sync_wait(told()).has_value());
  CHECK(sync_wait(told()).error() == std::errc::broken_pipe);
}

TEST_CASE("an exception of what is awaited comes out of or_return") {
  auto throws = []() -> task<result<int>> {
    throw std::runtime_error("as told");
    co_return 1;
  };
  auto catches = [&]() -> task<result<int>> {
    try {
      co_return co_await or_return(throws());
    } catch (const std::runtime_error&) {
    }
    co_return 2;
  };
  CHECK(sync_wait(catches()).value() == 2);
}

TEST_CASE("or_return a million times in one task, and a thousand tasks deep") {
  auto loop = []() -> task<result<int>> {
    int sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum += co_await or_return(half(2));
    co_return sum;
  };
  CHECK(sync_wait(loop()).value() == 1'000'000);

  struct deep {
    static task<result<int>> down(int n) {
      if (n == 0) co_return failure(std::errc::io_error);
      co_return 1 + co_await or_return(down(n - 1));
    }
  };
  CHECK(sync_wait(deep::down(1000)).error() == std::errc::io_error);
}

TEST_CASE("or_return and propagate in an eager task: at once, and while its owner waits") {
  auto throws = []() -> task<int> {
    throw std::runtime_error("as told");
    co_return 1;
  };
  queue_executor queue;
  auto body = [&](bool waits, bool raises) -> eager_task<result<int>> {
    if (waits) co_await hop_to(queue);
    if (raises) co_return co_await throws().propagate();
    co_return co_await or_return(half(1));
  };
  for (bool waits : {false, true}) {
    std::error_code error;
    bool caught = false;
    auto owner = [&]() -> foreign {
      co_await hop_to(queue);
      auto one = body(waits, false), two = body(waits, true);
      error = (co_await std::move(one)).error();
      try {
        static_cast<void>(co_await std::move(two));
      } catch (const std::runtime_error&) {
        caught = true;
      }
    };
    auto started = owner();
    queue.run();
    CHECK(error == std::errc::invalid_argument);
    CHECK(caught);
  }
}

TEST_CASE("what an early end leaves behind is given up because of a failure") {
  auto fails = []() -> eager_task<int> {
    throw std::runtime_error("nobody wants to know");
    co_return 1;
  };
  auto leaves = [&](bool by_exception) -> task<result<int>> {
    auto later = half(2);
    auto sooner = fails();
    if (by_exception) co_return co_await [](auto& make) -> task<int> { co_return co_await make(); }(fails).propagate();
    const int n = co_await or_return(half(1));
    co_return n + co_await or_return(std::move(later)) + co_await std::move(sooner);
  };
  CHECK(sync_wait(leaves(false)).error() == std::errc::invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(sync_wait(leaves(true))), std::runtime_error);
}

namespace {

result<std::unique_ptr<int>> parse(std::string_view text) {
  if (text.empty()) return std::errc::invalid_argument;
  return std::make_unique<int>(static_cast<int>(text.size()));
}
result<void> accept(int n) {
  if (n > 3) return std::errc::result_out_of_range;
  return {};
}

task<result<int>> length(std::string_view text) {
  std::unique_ptr<int> n = co_await or_return(parse(text));
  co_await or_return(accept(*n));
  co_return *n;
}

}  // namespace

TEST_CASE("or_return takes the result of a plain function") {
  CHECK(sync_wait(length("abc")) == 3);
  CHECK(sync_wait(length("")).error() == std::errc::invalid_argument);
  CHECK(sync_wait(length("abcd")).error() == std::errc::result_out_of_range);
}

TEST_CASE("of a result that has a name or_return gives a reference to its value") {
  auto body = []() -> task<result<std::string>> {
    result<std::string> text("a");
    co_await or_return(text) += "b";
    const result<std::string> fixed("c");
    text->append(co_await or_return(fixed));
    std::string taken = co_await or_return(std::move(text));
    int number = 7;
    result<int&> refers(number);
    ++co_await or_return(result<int&>(refers));
    co_return taken + std::to_string(number);
  };
  CHECK(sync_wait(body()) == std::string("abc8"));
}
