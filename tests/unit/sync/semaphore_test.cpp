// Permits that were taken at once, beside something else, by a coroutine that is destroyed before it goes on; and more
// permits than there can be.
#include <hocket/core/sync_wait.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// A source that lets a wait go only when it is told to.
struct slow_source final : primitive::wait_source {
  primitive::waiter* kept = nullptr;

  const char* what() const noexcept override { return "a slow source"; }
  bool detach(primitive::waiter&) noexcept override { return false; }
  void pass_on(primitive::waiter&) noexcept override {}
};

// This wait makes the semaphore free: then the next operation of the select finds it free.
struct release_and_wait {
  using value_type = void;
  slow_source* at;
  semaphore* free;

  static constexpr bool try_now() noexcept { return false; }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    entry.enlist(wait, *at);
    at->kept = &entry;
    free->release();
  }
  static result<void> take() noexcept { return {}; }
};

script take_permit(slow_source& slow, semaphore& permits) {
  [[maybe_unused]] auto got =
      co_await select(primitive::operation<release_and_wait>(release_and_wait{&slow, &permits}), permits.acquire());
}

script take_some(semaphore& from, std::size_t n, int& had) {
  if (auto got = co_await from.acquire(n)) ++had;
}
script take_some_of_one(semaphore& one, std::size_t n, semaphore& other, std::size_t m, int& had) {
  if (auto got = co_await select(one.acquire(n), other.acquire(m))) ++had;
}

// A waiter that is first in the queue of one semaphore is queued before the next one at the other.
script take_turn_or_permit(semaphore& turns, semaphore& permits, int& had) {
  auto got = co_await select(turns.acquire(0), permits.acquire());
  if (got && got->index() == 0) ++had;
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
  CHECK_FALSE(slow.kept->claim_popped());
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

TEST_CASE("the end of one wait lets any number of selects go, one by the other") {
  constexpr int many = detail::sanitizer == detail::sanitizer_kind::plain ? 100'000 : 20'000;
  stepped_executor on;
  semaphore one(0), other(0);
  int had = 0;
  stop_source stop;
  const context_ptr first = context::child_of(context::root(), {.stop = &stop});
  auto head = take_some(one, 1, had);
  head.start(on, first.get());
  on.run();
  std::vector<script> all;
  for (int i = 0; i < many; ++i) {
    all.push_back(i % 2 == 0 ? take_turn_or_permit(one, other, had) : take_turn_or_permit(other, one, had));
    all.back().start(on);
  }
  on.run();
  CHECK(had == 0);
  stop.request();
  on.run();
  CHECK(had == many);
  CHECK(head.done());
  CHECK(one.available() + other.available() == 0);
}

TEST_CASE("permits that a select is served when it has others already go to the next") {
  stepped_executor on;
  semaphore one(1), other(1);
  int had = 0;
  stop_source stop;
  const context_ptr first = context::child_of(context::root(), {.stop = &stop});
  auto head = take_some(one, 2, had);
  head.start(on, first.get());
  on.run();
  script all[] = {take_some_of_one(one, 0, other, 2, had), take_some_of_one(one, 1, other, 1, had),
                  take_some(other, 1, had)};
  for (script& each : all) each.start(on);
  on.run();
  CHECK(had == 0);
  stop.request();
  on.run();
  CHECK(had == 3);
  CHECK(one.available() == 1);
  CHECK(other.available() == 1);
}
