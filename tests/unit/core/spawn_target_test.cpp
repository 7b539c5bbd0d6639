// What may stand as the `where` of a spawn.
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/core/spawn_target.hpp>

#include "support/death.hpp"
#include "unit/core/script.hpp"

#include <doctest/doctest.h>

using namespace hocket;

namespace {

struct target final : spawn_target {
  executor& home() noexcept override { return on; }
  context& parent_context() noexcept override { return context::root(); }
  std::error_code enroll(std::size_t count) noexcept override {
    if (closed) return std::make_error_code(std::errc::operation_canceled);
    members += static_cast<int>(count);
    return {};
  }
  void leave() noexcept override { --members; }
  unhandled_handler on_unhandled() const noexcept override { return nullptr; }

  hocket_test::stepped_executor on;
  int members = 0;
  bool closed = false;
};

struct leads_to_one {
  target it;
  spawn_target& as_spawn_target() { return it; }
};
struct leads_elsewhere {
  int as_spawn_target() { return 0; }
};

static_assert(detail::spawnable_on<target> && detail::spawnable_on<leads_to_one>);
static_assert(!detail::spawnable_on<leads_elsewhere> && !detail::spawnable_on<int> && !detail::spawnable_on<context>);

}  // namespace

TEST_CASE("a target counts its members and may refuse one") {
  target where;
  CHECK_FALSE(where.enroll(2));
  CHECK(where.members == 2);
  where.leave();
  CHECK(where.members == 1);
  where.closed = true;
  CHECK(where.enroll(1) == std::errc::operation_canceled);
}

TEST_CASE("a spawn without a target by code that is no spawned coroutine is fatal") {
  hocket_test::expect_fatal([] { detail::current_target(); }, "spawn was called without a target");
}
