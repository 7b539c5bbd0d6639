// FAULTS 11: a fiber is resumed while its old thread still runs on its stack. A fiber switches to its worker first, and
// the worker hands its handle out, so whoever wakes it at once finds a stack that nobody is on.
#include <hocket/core/awaitable.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"

#include <cstdint>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace hocket_test;

namespace {

constexpr std::size_t stack_size = 64 * 1024;

[[gnu::noinline]] std::uintptr_t some_address_of_this_stack() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

bool is_near(std::uintptr_t a, std::uintptr_t b) { return (a > b ? a - b : b - a) < stack_size; }

// One of hocket's own kind: it gets the fiber's own handle.
class where_it_commits : public detail::own_awaiter {
 public:
  static bool await_ready() noexcept { return false; }
  bool await_suspend(std::coroutine_handle<>) noexcept {
    at_ = some_address_of_this_stack();
    return false;
  }
  std::uintptr_t await_resume() const noexcept { return at_; }

 private:
  std::uintptr_t at_ = 0;
};

class keep_handle : public detail::own_awaiter {
 public:
  explicit keep_handle(std::coroutine_handle<>& to) noexcept : to_(to) {}
  static bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) const noexcept { to_ = handle; }
  static void await_resume() noexcept {}

 private:
  std::coroutine_handle<>& to_;
};

}  // namespace

TEST_CASE("fault 11: await_suspend runs on the worker's stack, after the fiber has left its own") {
  loop lp;
  auto body = [] {
    const std::uintptr_t mine = some_address_of_this_stack();
    CHECK_FALSE(is_near(await(where_it_commits()), mine));
    CHECK(is_near(some_address_of_this_stack(), mine));
  };
  spawn(lp, {.stack_size = stack_size}, body);
  lp.run();
}

TEST_CASE("fault 11: a fiber that other threads wake while it parks runs on one stack at a time") {
  loop lp;
  event bell;
  int rounds = 0;
  auto body = [&] {
    for (; rounds < 5'000; ++rounds) {
      bell.reset();
      CHECK(await(bell.wait()).has_value());
    }
  };
  // Rings as soon as the fiber can be found in the line of the bell, often before its wait has been committed.
  std::jthread ringer([&](std::stop_token over) {
    while (!over.stop_requested()) bell.set();
  });
  spawn(lp, body);
  lp.run();
  CHECK(rounds == 5'000);
}

TEST_CASE("fault 11: resuming a fiber's handle where it does not belong is fatal") {
  auto resume_elsewhere = [] {
    loop lp;
    std::coroutine_handle<> kept;
    spawn(lp, {.name = "stolen"}, [&] { await(keep_handle(kept)); });
    lp.step();
    std::thread([&] { kept.resume(); }).join();
  };
  expect_fatal(resume_elsewhere, "by another thread than its own");
}
