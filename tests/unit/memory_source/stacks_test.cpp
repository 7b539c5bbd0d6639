// What fibers hold in memory beside their stacks, while a memory_source is set: images, and waits of stacks that move.
#include <hocket/context/seam/switch.hpp>
#include <hocket/hocket.hpp>

#include "support/own_stack.hpp"
#include "unit/memory_source/blocks.hpp"

#include <doctest/doctest.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

auto holder(stack_pool& pool, const hidden& what) {
  return coroutine<void()>(pool, [&what](auto& self) {
    hold(what, [&] { self.yield(); });
    self.yield();
  });
}

// Aligned more strictly than frames are. Suspends until resume() is called.
struct alignas(64) wide_wait {
  char* kept;
  std::coroutine_handle<>* suspended;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> whom) const noexcept { *suspended = whom; }
  bool await_resume() const noexcept { return reinterpret_cast<std::uintptr_t>(this) % alignof(wide_wait) == 0; }
};

}  // namespace

TEST_CASE("what a fiber holds on its stack is found there, and in no block" * doctest::skip(!can_enumerate_stacks())) {
  const blocks::none_left check;
  hidden object;
  loop lp;
  event bell;
  spawn(lp, [&] { hold(object, [&] { [[maybe_unused]] auto heard = await(bell.wait()); }); });
  lp.run_for(duration::zero());
  CHECK(blocks::holding(object) == 0);
  CHECK(look().holds(object) >= 1);
  bell.set();
  lp.run();
}

TEST_CASE("the image of a stack that was hibernated is a block" * doctest::skip(!can_enumerate_stacks())) {
  const blocks::none_left check;
  hidden object;
  stack_pool pool({.protection = guard::required});
  auto one = holder(pool, object);
  one.resume();
  CHECK(blocks::holding(object) == 0);
  REQUIRE(hibernate(one));
  CHECK(blocks::holding(object) == 1);
  one.resume();
  CHECK(blocks::holding(object) == 0);
  one.resume();
}

TEST_CASE("the image of a copied stack is a block until its frames are back" * doctest::skip(!can_enumerate_stacks())) {
  const blocks::none_left check;
  hidden first_object, second_object;
  stack_pool pool({.layout = stack_layout::copied});
  auto first = holder(pool, first_object), second = holder(pool, second_object);
  first.resume();
  CHECK(blocks::holding(first_object) == 0);
  second.resume();
  CHECK(blocks::holding(first_object) == 1);
  CHECK(blocks::holding(second_object) == 0);
  first.resume();  // drops its object
  CHECK(blocks::holding(first_object) == 0);
  CHECK(blocks::holding(second_object) == 1);
  second.resume();
  CHECK(blocks::holding(first_object) == 0);
  CHECK(blocks::holding(second_object) == 0);
  first.resume();
  second.resume();
}

TEST_CASE("an over-aligned wait on a stack that moves is a block, and aligned" *
          doctest::skip(detail::machine::fibers_are_threads)) {
  const blocks::none_left check;
  hidden object;
  loop lp;
  std::coroutine_handle<> suspended;
  bool aligned = false;
  spawn(lp, {.stack = stack_kind::copied}, [&] { aligned = await(wide_wait{object.get(), &suspended}); });
  lp.run_for(duration::zero());
  REQUIRE(suspended);
  CHECK(blocks::holding(object) == 1);
  suspended.resume();
  lp.run();
  CHECK(aligned);
  CHECK(blocks::holding(object) == 0);
}
