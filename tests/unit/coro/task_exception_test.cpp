// An exception that passes tasks: what it costs the unwinder, and what is left of a task that failed.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/task.hpp>

#include "support/death.hpp"

#include <dlfcn.h>
#include <doctest/doctest.h>
#include <exception>
#include <memory>
#include <type_traits>
#include <utility>

using namespace hocket;
using namespace hocket_test;

namespace {

long unwind_resumes = 0;

}  // namespace

// In the place of the unwinder's own, for this program. A function that destroyed something goes on by it.
extern "C" [[gnu::visibility("default")]] void _Unwind_Resume(void* exception) {
  static const auto original = reinterpret_cast<void (*)(void*)>(::dlsym(RTLD_NEXT, "_Unwind_Resume"));
  ++unwind_resumes;
  original(exception);
  __builtin_unreachable();
}

namespace {

template <class T>
task<T> deep(int levels) {
  if (levels == 0) throw levels;
  if constexpr (std::is_void_v<T>) {
    co_await deep<T>(levels - 1);
  } else {
    T got = co_await deep<T>(levels - 1);
    co_return std::move(got);
  }
}
template <class T>
task<T> named_deep(int levels) {
  if (levels == 0) throw levels;
  auto below = named_deep<T>(levels - 1);
  co_return co_await std::move(below);
}

// The control: functions that own something.
struct owner {
  int* count;
  ~owner() { ++*count; }
};
[[gnu::noinline]] void owners(int levels, int& destroyed) {
  const owner held{&destroyed};
  if (levels == 0) throw levels;
  owners(levels - 1, destroyed);
}

// How much more often the unwinder is resumed for a hundred levels than for ten.
template <class F>
long resumes_of_ninety(F throws_through) {
  const auto resumes = [&](int levels) {
    const long before = unwind_resumes;
    CHECK_THROWS_AS(throws_through(levels), int);
    return unwind_resumes - before;
  };
  const long ten = resumes(10);
  return resumes(100) - ten;
}

struct failure_of_mine {
  std::shared_ptr<int> held;
};
task<int> fails(std::shared_ptr<int> held) {
  throw failure_of_mine{std::move(held)};
  co_return 1;
}
task<int> fails_beside(std::shared_ptr<int>) {
  throw 5;
  co_return 1;
}

}  // namespace

TEST_CASE("the unwinder does not stop between the tasks that an exception passes") {
  if (detail::sanitizer != detail::sanitizer_kind::plain) return;  // ThreadSanitizer makes every function stop it
  int destroyed = 0;
  CHECK(resumes_of_ninety([&](int levels) { owners(levels, destroyed); }) == 90);
  CHECK(resumes_of_ninety([](int levels) { sync_wait(deep<void>(levels)); }) == 0);
  CHECK(resumes_of_ninety([](int levels) { sync_wait(deep<int>(levels)); }) == 0);
  CHECK(resumes_of_ninety([](int levels) { sync_wait(deep<std::unique_ptr<int>>(levels)); }) == 0);
  CHECK(resumes_of_ninety([](int levels) { sync_wait(named_deep<int&>(levels)); }) == 0);
}

TEST_CASE("the parameters of a task that failed are gone when a handler begins, and the task is empty") {
  auto parent = [](std::weak_ptr<int> parameter, task<int> child) -> task<bool> {
    try {
      co_await std::move(child);
    } catch (int) {
      co_return parameter.expired() && !child;
    }
    co_return false;
  };
  auto given = std::make_shared<int>(1);
  const std::weak_ptr<int> seen = given;
  CHECK(sync_wait(parent(seen, fails_beside(std::move(given)))));
}

TEST_CASE("an exception lives until the end of its handler, and of a named task that failed") {
  auto parent = [](std::weak_ptr<int> thrown, task<int> named) -> task<> {
    try {
      co_await fails(thrown.lock());
    } catch (const failure_of_mine& error) {
      CHECK(error.held == thrown.lock());
    }
    CHECK(thrown.use_count() == 2);  // the test's, and the named task's
    try {
      co_await std::move(named);
    } catch (const failure_of_mine& error) {
      CHECK(error.held == thrown.lock());
    }
    CHECK_FALSE(named);
    auto moved = std::move(named);
    moved = task<int>();
    CHECK(thrown.use_count() == 1);
  };
  const auto held = std::make_shared<int>(1);
  sync_wait(parent(held, fails(held)));
  CHECK(held.use_count() == 1);
}

TEST_CASE("an exception that was kept by the handler is the one that the task threw") {
  auto parent = []() -> task<std::exception_ptr> {
    std::exception_ptr kept;
    try {
      co_await fails(std::make_shared<int>(7));
    } catch (...) {
      kept = std::current_exception();
    }
    co_return kept;
  };
  const std::exception_ptr kept = sync_wait(parent());
  for (int again = 0; again < 2; ++again) {
    try {
      std::rethrow_exception(kept);
    } catch (const failure_of_mine& error) {
      CHECK(*error.held == 7);
      CHECK(error.held.use_count() == 1);
    }
  }
}

TEST_CASE("a task that failed is not awaited again") {
  if (!detail::misuse_checks) return;
  expect_fatal(
      [] {
        auto t = fails_beside(nullptr);
        try {
          sync_wait(std::move(t));
        } catch (int) {
          sync_wait(std::move(t));
        }
      },
      "moved from or awaited before");
}
