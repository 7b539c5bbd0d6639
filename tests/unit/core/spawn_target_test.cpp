// What may stand as the `where` of a spawn.
#include <hocket/core/spawn_target.hpp>

#include "unit/core/script.hpp"

#include <doctest/doctest.h>

using namespace hocket;

namespace {

struct target final : spawn_target {
  executor& home() noexcept override { return on; }
  context& surroundings() noexcept override { return context::root(); }
  std::error_code enroll(spawn_member& member) noexcept override {
    if (closed) return std::make_error_code(std::errc::operation_canceled);
    members.push_back(member);
    return {};
  }
  void leave(spawn_member& member) noexcept override { members.erase(member); }
  void unhandled(std::exception_ptr, const context&) noexcept override {}

  hocket_test::stepped_executor on;
  list<spawn_member> members;
  bool closed = false;
};

struct leads_to_one {
  target it;
  spawn_target& as_spawn_target() { return it; }
};
struct leads_elsewhere {
  int as_spawn_target() { return 0; }
};

static_assert(spawnable_on<target> && spawnable_on<leads_to_one>);
static_assert(!spawnable_on<leads_elsewhere> && !spawnable_on<int> && !spawnable_on<context>);

}  // namespace

TEST_CASE("a target lists its members and may refuse one") {
  target where;
  spawn_member one;
  one.ctx = context_ptr(where.surroundings());
  CHECK_FALSE(where.enroll(one));
  CHECK(one.linked());
  where.leave(one);
  CHECK_FALSE(one.linked());
  where.closed = true;
  CHECK(where.enroll(one) == std::errc::operation_canceled);
}
