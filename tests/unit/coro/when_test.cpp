// Groups: what does not depend on the kind of the parent. The rest is a suite (tests/suites/when_all.hpp,
// when_any.hpp).
#include <hocket/base/fatal.hpp>
#include <hocket/core/or_throw.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/async_generator.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/coro/then.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/coro/when_any.hpp>
#include <hocket/coro/when_some.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>
#include <stdexcept>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

task<int> seven() { co_return 7; }
task<std::string&> refer(std::string& to) { co_return to; }

// A coroutine of somebody else's, which begins when it is awaited.
struct lazy_foreign {
  struct promise_type {
    lazy_foreign get_return_object() { return lazy_foreign(std::coroutine_handle<promise_type>::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    struct last {
      static bool await_ready() noexcept { return false; }
      static std::coroutine_handle<> await_suspend(std::coroutine_handle<promise_type> self) noexcept {
        return self.promise().parent;
      }
      static void await_resume() noexcept {}
    };
    last final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
    std::coroutine_handle<> parent;
  };
  explicit lazy_foreign(std::coroutine_handle<promise_type> of) noexcept : body(of) {}
  explicit lazy_foreign(int& begun)
      : lazy_foreign([](int& count) -> lazy_foreign { co_return static_cast<void>(++count); }(begun)) {}
  lazy_foreign(lazy_foreign&& other) noexcept : body(std::exchange(other.body, {})) {}
  ~lazy_foreign() {
    if (body) body.destroy();
  }
  static bool await_ready() noexcept { return false; }
  std::coroutine_handle<> await_suspend(std::coroutine_handle<> parent) const noexcept {
    body.promise().parent = parent;
    return body;
  }
  static void await_resume() noexcept {}

  std::coroutine_handle<promise_type> body;
};

struct kept_foreign {
  explicit kept_foreign(std::coroutine_handle<>& in) noexcept : place(&in) {}
  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) const noexcept { *place = self; }
  static void await_resume() noexcept {}
  std::coroutine_handle<>* place;
};

}  // namespace

TEST_CASE("when_all gives references as references") {
  std::string text = "a";
  auto all = sync_wait(when_all(refer(text), seven()));
  static_assert(std::is_same_v<decltype(all), std::tuple<std::string&, int>>);
  std::get<0>(all) += "b";
  CHECK(text == "ab");
}

TEST_CASE("a group that is dropped drops its tasks") {
  auto dropped = [] {
    try {
      auto group = when_all(seven());
      throw 1;
    } catch (int) {
    }
  };
  dropped();
  CHECK(std::get<0>(sync_wait(when_all(seven()))) == 7);
}

TEST_CASE("a range of references gives pointers") {
  std::string text = "a";
  std::vector<task<std::string&>> all;
  all.push_back(refer(text));
  std::vector<std::string*> got = sync_wait(when_all(std::move(all)));
  CHECK(got == std::vector<std::string*>{&text});
}

TEST_CASE("when_some of more than there are gives all") {
  std::vector<task<int>> two;
  two.push_back(seven());
  two.push_back(seven());
  CHECK(sync_wait(when_some(~std::size_t{0}, std::move(two))).size() == 2);
}

TEST_CASE("an eager task in a group is waited for, also when the group has failed") {
  bool ended = false;
  auto slow = [&]() -> eager_task<int> {
    co_await yield();
    ended = true;
    co_return 1;
  };
  auto fails = []() -> task<result<int>> { co_return failure(std::errc::io_error); };
  auto both = [&]() -> task<std::error_code> {
    auto all = co_await when_all(fails(), slow());
    co_return all.error();
  };
  CHECK(sync_wait(both()) == std::errc::io_error);
  CHECK(ended);
}

TEST_CASE("whatever else runs code when it is awaited begins in its turn, or not at all") {
  int begun = 0;
  auto notes = [&]() -> task<int> { co_return ++begun; };
  auto fails = []() -> task<result<int>> { co_return failure(std::errc::io_error); };
  auto gives = []() -> task<int> { co_return 1; };
  auto generates = [&]() -> async_generator<int> { co_yield ++begun; };
  auto values = generates();
  auto body = [&]() -> task<std::error_code> {
    auto all = co_await when_all(fails(), lazy_foreign(begun),
                                 or_throw(then(notes(), [](int n) -> result<int> { return n; })), values.next());
    co_return all.error();
  };
  CHECK(sync_wait(body()) == std::errc::io_error);
  CHECK(begun == 0);
  auto all_begin = [&]() -> task<int> {
    auto all = co_await when_all(gives(), lazy_foreign(begun), then(notes(), [](int n) { return n; }), values.next());
    co_return *std::get<3>(all);
  };
  CHECK(sync_wait(all_begin()) == 3);
}

TEST_CASE("a foreign awaitable that suspends at once begins when the group does") {
  std::coroutine_handle<> waiting;
  auto fails = []() -> task<result<int>> { co_return failure(std::errc::io_error); };
  auto body = [&]() -> task<std::error_code> {
    auto resume = [&]() -> task<> {
      CHECK(waiting);
      waiting.resume();
      co_return;
    };
    auto all = co_await when_all(kept_foreign(waiting), resume(), fails());
    co_return all.error();
  };
  CHECK(sync_wait(body()) == std::errc::io_error);
}

TEST_CASE("the first of none is none, and the first none of many are none, of which none begins") {
  int begun = 0;
  auto begins = [&]() -> task<int> { co_return ++begun; };
  auto body = [&]() -> task<> {
    std::vector<task<int>> nothing, many;
    auto first = co_await when_any(std::move(nothing));
    CHECK(first.index == detail::first_of<int>::none);
    CHECK(first.value.kind() == outcome_kind::none);
    many.push_back(begins());
    many.push_back(begins());
    auto firsts = co_await when_some(0, std::move(many));
    CHECK(firsts.empty());
    auto of_pack = co_await when_some(0, begins(), begins());
    CHECK(of_pack.empty());
  };
  sync_wait(body());
  CHECK(begun == 0);
}

namespace {

std::vector<std::string> noticed;

struct notices_kept {
  notices_kept() {
    set_log_handler([](const char* text) noexcept { noticed.emplace_back(text); });
  }
  ~notices_kept() { set_log_handler(nullptr), noticed.clear(); }
};

}  // namespace

TEST_CASE("what a loser throws is told by a notice, unless it throws because it is stopped") {
  notices_kept kept;
  auto wins = []() -> task<int> { co_return (co_await yield(), 1); };
  auto loses = [](int how) -> task<int> {
    auto stopped = co_await yield();
    while (stopped) stopped = co_await yield();
    if (how == 0) throw std::runtime_error("the disk is full");
    if (how == 1) throw 7;
    if (how == 2) detail::throw_error(stopped.error());
    detail::throw_error(std::make_error_code(std::errc::timed_out));
  };
  auto body = [&]() -> task<int> {
    auto first = co_await when_any(wins(), loses(0), loses(1), loses(2), loses(3));
    co_return *first.get<0>();
  };
  CHECK(sync_wait(body()) == 1);
  REQUIRE(noticed.size() == 2);
  CHECK(noticed[0].find("the disk is full") != std::string::npos);
  CHECK(noticed[1].find("no std::exception") != std::string::npos);
}

TEST_CASE("what counts is no loss: the exceptions that a group gives are told by no notice") {
  notices_kept kept;
  auto fails = []() -> task<int> {
    co_await yield();
    throw std::runtime_error("told to the parent");
  };
  auto some = [&]() -> task<int> {
    auto both = co_await when_some(2, fails(), fails());
    CHECK(both[0].value.exception());
    CHECK(both[1].value.exception());
    auto any = co_await when_any(fails());
    co_return *any.get<0>();
  };
  CHECK_THROWS_AS(sync_wait(some()), std::runtime_error);
  CHECK(noticed.empty());
}

TEST_CASE("a group outside of any executor is refused") {
  auto body = []() -> task<int> {
    auto all = co_await when_all(seven());
    co_return std::get<0>(all);
  };
  struct by_hand {
    struct promise_type {
      by_hand get_return_object() { return {}; }
      std::suspend_never initial_suspend() noexcept { return {}; }
      std::suspend_never final_suspend() noexcept { return {}; }
      void return_void() {}
      void unhandled_exception() { std::terminate(); }
    };
  };
  expect_fatal([&] { [](auto make) -> by_hand { static_cast<void>(co_await make()); }(body); },
               "a group was awaited outside of any executor");
}

TEST_CASE("an outcome tells how something ended") {
  outcome<int> none, value, error, late, cancelled_by_error, thrown;
  value.set_value(3);
  error.set_error(std::make_error_code(std::errc::io_error));
  late.set_error(std::make_error_code(std::errc::timed_out));
  cancelled_by_error.set_error(std::make_error_code(std::errc::operation_canceled));
  thrown.set_exception(std::make_exception_ptr(std::string("x")));
  CHECK(none.kind() == outcome_kind::none);
  CHECK(value);
  CHECK(*value == 3);
  CHECK_FALSE(error);
  CHECK(error.error() == std::errc::io_error);
  CHECK(late.kind() == outcome_kind::timed_out);
  CHECK(cancelled_by_error.kind() == outcome_kind::cancelled);
  CHECK_THROWS_AS(std::move(cancelled_by_error).value(), cancelled);
  CHECK_THROWS_AS(std::move(error).value(), std::system_error);
  CHECK_THROWS_AS(std::move(thrown).value(), std::string);
  CHECK_FALSE(value.exception());
  value.value() = 4;
  CHECK(value.value() == 4);
  CHECK(std::as_const(value).value() == 4);

  outcome<std::string> text;
  text.set_value("long enough to be on the heap, surely");
  outcome<std::string> moved(std::move(text));
  CHECK(moved->size() == 37);
  moved.value() += '.';
  CHECK(moved->size() == 38);
  moved = outcome<std::string>();
  CHECK(moved.kind() == outcome_kind::none);
  expect_fatal([&] { static_cast<void>(*moved); }, "the value of an outcome that has none");
}
