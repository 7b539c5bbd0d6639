// Permits that were taken at once, beside something else, by a coroutine that is destroyed before it goes on; and more
// permits than there can be.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

// A source that lets a wait go only when it is told to.
struct slow_source final : wait_source {
  waiter* kept = nullptr;

  const char* what() const noexcept override { return "a slow source"; }
  bool detach(waiter&) noexcept override { return false; }
  void pass_on(waiter&) noexcept override {}
};

// Whoever waits so makes the semaphore free: then what stands behind it in a select finds it so.
struct release_and_wait {
  using value_type = void;
  slow_source* at;
  semaphore* free;

  static constexpr bool try_now() noexcept { return false; }
  void begin(suspension& wait, waiter& entry) noexcept {
    entry.enlist(wait, *at);
    at->kept = &entry;
    free->release();
  }
  static result<void> take() noexcept { return {}; }
};

script take_permit(slow_source& slow, semaphore& permits) {
  [[maybe_unused]] auto got =
      co_await select(operation<release_and_wait>(release_and_wait{&slow, &permits}), permits.acquire());
}

}  // namespace

TEST_CASE("a permit that a select found free goes back with a coroutine that is destroyed before it goes on") {
  stepped_executor on;
  slow_source slow;
  semaphore permits(0);
  auto only = take_permit(slow, permits);
  only.start(on);
  on.run();
  REQUIRE_FALSE(only.done());
  CHECK(permits.available() == 0);
  slow.kept->abandon();
  REQUIRE(on.take() != nullptr);
  only.destroy();
  CHECK(permits.available() == 1);
}

TEST_CASE("a semaphore counts up to its most, and no further") {
  semaphore all(semaphore::max);
  CHECK(all.available() == semaphore::max);
  auto every = all.try_acquire(semaphore::max);
  CHECK(every.count() == semaphore::max);
  CHECK_FALSE(all.try_acquire());
  every.release();
  all.release(0);
  CHECK(all.available() == semaphore::max);
}

TEST_CASE("more permits than a semaphore can count are fatal: at its making, and asked for") {
  const std::string message = "more permits than a semaphore can count";
  expect_fatal([] { semaphore none(semaphore::max + 1); }, message);
  expect_fatal([] { semaphore none(static_cast<std::size_t>(-1)); }, message);
  expect_fatal(
      [] {
        semaphore one(1);
        static_cast<void>(one.try_acquire(semaphore::max + 1));
      },
      message);
  expect_fatal(
      [] {
        semaphore one(1);
        static_cast<void>(sync_wait(one.acquire(static_cast<std::size_t>(-1))));
      },
      message);
  expect_fatal(
      [] {
        semaphore one(1);
        one.release(static_cast<std::size_t>(-1));
      },
      message);
}

TEST_CASE("a release beyond what a semaphore can count is fatal, also while somebody waits") {
  const std::string message = "a semaphore was given more permits than it can count";
  expect_fatal(
      [] {
        semaphore full(semaphore::max);
        full.release();
      },
      message);
  expect_fatal(
      [] {
        semaphore half(semaphore::max / 2 + 1);
        half.release(semaphore::max / 2 + 1);
      },
      message);
  expect_fatal(
      [] {
        stepped_executor on;
        semaphore almost(semaphore::max - 1);
        auto wants_all = [](semaphore& from) -> script {
          [[maybe_unused]] auto all = co_await from.acquire(semaphore::max);
        };
        auto waits = wants_all(almost);
        waits.start(on);
        on.run();
        almost.release(2);
      },
      message);
}
