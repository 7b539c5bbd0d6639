// Static coroutines are destroyed after main(), when the main thread's own thread_local objects are gone. ASan and
// Valgrind watch the destruction. The coroutines stay suspended to the end of the program. So this case is not in the
// program whose tests list the suspended stacks.
#include <hocket/fiber/coroutine.hpp>

#include <doctest/doctest.h>

using namespace hocket;

namespace {
struct pool_and_coroutine {
  stack_pool pool;
  coroutine<void()> c{pool, [](auto& self) { self.yield(); }};
};
}  // namespace

TEST_CASE("fault 62: static coroutines are destroyed after the main thread's own thread_local objects") {
  static pool_and_coroutine own_pool;
  static coroutine<void()> default_pool{[](auto& self) { self.yield(); }};
  own_pool.c.resume();
  default_pool.resume();
  CHECK(own_pool.c.status() == coroutine_status::suspended);
}
