#include <hocket/core/sync_wait.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

template <class T>
struct ready {
  T value;
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  T await_resume() { return static_cast<T&&>(value); }
};

struct nothing {
  bool* awaited;
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  void await_resume() const noexcept { *awaited = true; }
};

struct fails {
  const std::exception_ptr& error;
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  int await_resume() const { std::rethrow_exception(error); }
};

// Not hocket's: it resumes the handle itself, from inside await_suspend or from a thread of its own.
struct foreign {
  bool inline_;
  std::thread* thread;
  std::thread::id resumed_by{};
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) {
    if (inline_) return handle.resume();
    *thread = std::thread([handle] { handle.resume(); });
  }
  std::thread::id await_resume() const noexcept { return std::this_thread::get_id(); }
};

// Which operator co_await is chosen.
struct by_category {
  ready<std::string> operator co_await() & { return {"lvalue"}; }
  ready<std::string> operator co_await() const& { return {"const lvalue"}; }
  ready<std::string> operator co_await() && { return {"rvalue"}; }
};
struct lvalue_only {
  ready<int> operator co_await() & { return {7}; }
};
struct by_free_operator {
  int value;
};
ready<int> operator co_await(by_free_operator it) { return {it.value}; }

struct counted {
  static inline int live = 0;
  counted() { ++live; }
  counted(const counted&) noexcept { ++live; }
  ~counted() { --live; }
};

struct asks_context {
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<>) noexcept {
    seen = &current_context();
    on = current_executor();
    return false;
  }
  std::pair<context*, executor*> await_resume() const noexcept { return {seen, on}; }
  context* seen = nullptr;
  executor* on = nullptr;
};

}  // namespace

TEST_CASE("sync_wait gives a value, a move-only value, a reference, or nothing") {
  CHECK(sync_wait(ready<int>{42}) == 42);
  CHECK(*sync_wait(ready<std::unique_ptr<int>>{std::make_unique<int>(7)}) == 7);
  int there = 1;
  decltype(auto) same = sync_wait(ready<int&>{there});
  static_assert(std::is_same_v<decltype(same), int&>);
  CHECK(&same == &there);
  bool awaited = false;
  static_assert(std::is_void_v<decltype(sync_wait(nothing{&awaited}))>);
  sync_wait(nothing{&awaited});
  CHECK(awaited);
}

TEST_CASE("an rvalue reference becomes a value: its source may be gone") {
  struct moves {
    std::unique_ptr<int> value = std::make_unique<int>(3);
    bool await_ready() const noexcept { return true; }
    void await_suspend(std::coroutine_handle<>) const noexcept {}
    std::unique_ptr<int>&& await_resume() noexcept { return std::move(value); }
  };
  static_assert(std::is_same_v<decltype(sync_wait(moves{})), std::unique_ptr<int>>);
  CHECK(*sync_wait(moves{}) == 3);
}

TEST_CASE("an lvalue is awaited as an lvalue, an rvalue as an rvalue") {
  by_category it;
  CHECK(sync_wait(it) == "lvalue");
  CHECK(sync_wait(std::as_const(it)) == "const lvalue");
  CHECK(sync_wait(by_category{}) == "rvalue");
  lvalue_only only;
  CHECK(sync_wait(only) == 7);
  CHECK(sync_wait(by_free_operator{5}) == 5);
}

TEST_CASE("an exception comes out as the same object") {
  auto error = std::make_exception_ptr(std::runtime_error("the one"));
  const void* thrown = nullptr;
  try {
    std::rethrow_exception(error);
  } catch (const std::exception& e) {
    thrown = &e;
  }
  try {
    sync_wait(fails{error});
    FAIL("nothing was thrown");
  } catch (const std::runtime_error& e) {
    CHECK(&e == thrown);
  }
}

TEST_CASE("a foreign awaitable may resume from its own thread or inside of await_suspend; the result is taken here") {
  std::thread other;
  CHECK(sync_wait(foreign{true, &other}) == std::this_thread::get_id());
  for (int round = 0; round < 200; ++round) {
    auto by = sync_wait(foreign{false, &other});
    CHECK(by == std::this_thread::get_id());
    other.join();
  }
}

TEST_CASE("the result is destroyed as often as it is made, and the exception is given back") {
  counted::live = 0;
  for (int round = 0; round < 10; ++round) {
    auto result = sync_wait(ready<counted>{});
    CHECK(counted::live == 1);
  }
  CHECK(counted::live == 0);
  auto error = std::make_exception_ptr(counted{});
  CHECK(counted::live == 1);
  CHECK_THROWS_AS(sync_wait(fails{error}), counted);
  error = nullptr;
  CHECK(counted::live == 0);
}

TEST_CASE("the awaitable runs under the caller's context and an executor of the call") {
  auto ctx = context::child_of(context::root(), {.name = "caller"});
  detail::running_scope running({nullptr}, ctx.get());
  auto [seen, on] = sync_wait(asks_context{});
  CHECK(seen == ctx.get());
  CHECK(on != nullptr);
  CHECK(current_executor() == nullptr);
  CHECK(&current_context() == ctx.get());
}

TEST_CASE("sync_wait inside of a coroutine is fatal") {
  expect_fatal(
      [] {
        stepped_executor on;
        auto nested = []() -> script { co_return void(sync_wait(ready<int>{1})); }();
        nested.start(on);
        on.run();
      },
      "sync_wait was called by a coroutine");
}
