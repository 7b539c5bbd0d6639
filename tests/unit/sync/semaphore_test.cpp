// Permits that were taken at once, beside something else, by a coroutine that is destroyed before it goes on.
#include <hocket/sync/select.hpp>
#include <hocket/sync/semaphore.hpp>

#include "unit/core/script.hpp"

#include <doctest/doctest.h>

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
