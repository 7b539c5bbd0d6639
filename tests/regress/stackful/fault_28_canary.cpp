// FAULT 28: a canary kept in the wrong place (semu#105). With guards off, one byte too many is found at the next
// switch to the coroutine, at its end and at its destruction, and the message names it.
#include <hocket/fiber/coroutine.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

using namespace hocket;

namespace {

// Writes one byte below the usable part of the stack that it runs on.
void overflow_by_one_byte(const stack_ref& stack) { *static_cast<volatile std::byte*>(stack.low - 1) = std::byte{0}; }

enum class next { resume, end, destroy };

void overflow_then(next what) {
  stack_pool pool({.stack_size = 16384, .protection = guard::canary});
  stack_ref stack = pool.acquire().value();  // the pool is last in, first out: the coroutine gets this one
  pool.release(stack);
  coroutine<void()> c{{.name = "small", .pool = &pool}, [&](auto& self) {
                        self.yield();
                        overflow_by_one_byte(stack);
                        if (what != next::end) self.yield();
                      }};
  c.resume();
  c.resume();
  if (what == next::resume) c.resume();
}

}  // namespace

TEST_CASE("fault 28: an overflow by one byte without guards is found at the next switch") {
  for (next what : {next::resume, next::end, next::destroy})
    hocket_test::expect_fatal([what] { overflow_then(what); }, "overflowed (its canary is gone) [coroutine small]");
}

TEST_CASE("fault 28: a canary that is whole stays silent") {
  stack_pool pool({.stack_size = 16384, .protection = guard::canary});
  coroutine<int()> c{pool, [](auto& self) {
                       self.yield(1);
                       return 2;
                     }};
  CHECK(c.resume() == 1);
  CHECK(c.resume() == 2);
}
