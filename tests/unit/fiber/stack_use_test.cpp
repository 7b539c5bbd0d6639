#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/stack_use.hpp>

#include <doctest/doctest.h>
#include <thread>

using namespace hocket;

namespace {

constexpr std::size_t kilobyte = 1024;
volatile std::size_t first = 0;  // an index that the compiler does not know: it keeps the whole array

// Writes to every page of about so many kilobytes. AddressSanitizer must leave its array on the stack.
[[gnu::noinline, gnu::no_sanitize_address]] std::size_t use(std::size_t kilobytes) {
  volatile char room[kilobyte];
  room[first] = 1;
  return kilobytes == 0 ? 0 : use(kilobytes - 1) + static_cast<std::size_t>(room[first]);
}

bool about(std::size_t bytes, std::size_t kilobytes) {
  const std::size_t slack =
      detail::sanitizer == detail::sanitizer_kind::plain ? 2 : 2 + kilobytes;  // what sanitizers add to a frame
  return bytes >= kilobytes * kilobyte && bytes <= kilobytes * kilobyte * 5 / 4 + slack * 2 * kilobyte;
}

// Where fibers are threads, their frames are not on our stacks.
const doctest::skip on_fibers(detail::machine::fibers_are_threads);

}  // namespace

TEST_CASE("a coroutine's deepest use is told while it is parked, while it runs and when it has ended" * on_fibers) {
  stack_pool pool({.stack_size = 256 * kilobyte, .measure = true});
  coroutine<void()> c(pool, [](auto& self) {
    use(20);
    self.yield();
    use(60);
    CHECK(about(stack_high_water(), 60));
    self.yield();
    use(10);
  });
  CHECK(c.stack_high_water() <= 4 * kilobyte);
  c.resume();
  CHECK(about(c.stack_high_water(), 20));
  c.resume();
  CHECK(about(c.stack_high_water(), 60));
  c.resume();
  CHECK(about(c.stack_high_water(), 60));
  CHECK(pool.statistics().high_water == 0);  // it has its stack yet
  c.reset();
  CHECK(about(pool.statistics().high_water, 60));
}

TEST_CASE("the next coroutine on a stack is measured alone" * on_fibers) {
  stack_pool pool({.stack_size = 256 * kilobyte, .measure = true});
  coroutine<void()>(pool, [](auto&) { use(100); }).resume();
  coroutine<void()> next(pool, [](auto&) { use(30); });
  next.resume();
  CHECK(about(next.stack_high_water(), 30));
}

TEST_CASE("pools of a thread measure if that was asked for before they were made" * on_fibers) {
  measure_stacks(true);
  std::thread([] {
    coroutine<void()>([](auto&) { use(30); }).resume();
    CHECK(about(fiber_stack_statistics().high_water, 30));
    call_on_big_stack([] { use(500); });
    CHECK(about(fiber_stack_statistics(8 * kilobyte * kilobyte).high_water, 500));
  }).join();
  measure_stacks(false);
  std::thread([] {
    coroutine<void()>([](auto&) { use(30); }).resume();
    CHECK(fiber_stack_statistics().high_water == 0);
  }).join();
}

TEST_CASE("where no coroutine runs, or none is, there is no stack to tell of") {
  CHECK(stack_high_water() == 0);
  CHECK(coroutine<void()>().stack_high_water() == 0);
}
