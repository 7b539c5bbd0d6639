// FAULT 28: a canary kept in the wrong place (semu#105). With guards off, and on dense stacks, one byte too
// many is found at the next switch to the coroutine, at its end and at its destruction, and the message names it.
#include <hocket/core/yield.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/death.hpp"

#include <cstdio>
#include <cstdlib>
#include <doctest/doctest.h>
#include <vector>

using namespace hocket;

namespace {

// Writes one byte below the usable part of the stack that it runs on.
void overflow_by_one_byte(const stack_ref& stack) { *static_cast<volatile std::byte*>(stack.low - 1) = std::byte{0}; }

constexpr const char* message = "overflowed (its canary is gone) [coroutine small]";

enum class next { resume, end, destroy };

constexpr stack_options unguarded[] = {{.stack_size = 16384, .protection = guard::canary},
                                       {.stack_size = 16384, .layout = stack_layout::dense}};

void overflow_then(next what, const stack_options& options) {
  stack_pool pool(options);
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
  for (const stack_options& options : unguarded)
    for (next what : {next::resume, next::end, next::destroy})
      hocket_test::expect_fatal([&] { overflow_then(what, options); }, message);
}

TEST_CASE("fault 28: so is one of a spawned fiber on a dense stack, when it goes on and at its end") {
  for (const bool waits : {true, false})
    hocket_test::expect_fatal(
        [waits] {
          loop lp;
          spawn(lp, {.name = "small", .stack_size = 16384, .stack = stack_kind::dense}, [waits] {
            overflow_by_one_byte(stack_pool::stack_of(detail::running_fiber()));
            if (waits) await(yield());
            if (waits) std::fputs("it went on", stderr), std::_Exit(1);
          });
          lp.run();
        },
        message);
}

// The control block says where the canary is: in the first slab and in the last one, for the largest distance of all.
TEST_CASE("fault 28: the canary of each of many stacks is found where it is, and is that stack's own") {
  for (const std::size_t size : {std::size_t{4096}, std::size_t{64} << 20})
    hocket_test::expect_fatal(
        [size] {
          stack_pool pool({.stack_size = size, .protection = guard::canary});
          std::vector<coroutine<void()>> all;
          stack_ref last{};
          auto body = [&last](auto& self) {
            last = stack_pool::stack_of(detail::running_fiber());
            for (;;) self.yield();
          };
          for (int i = 0; i < 130; ++i) all.emplace_back(coroutine_options{.name = "large", .pool = &pool}, body);
          all.emplace_back(coroutine_options{.name = "small", .pool = &pool}, body);
          for (int round = 0; round < 2; ++round)
            for (auto& each : all) each.resume();
          overflow_by_one_byte(last);
          for (auto& each : all) each.resume();  // the last of them, which is the only one
        },
        message);
}

TEST_CASE("fault 28: a canary that is whole stays silent") {
  for (const stack_options& options : unguarded) {
    stack_pool pool(options);
    coroutine<int()> c{pool, [](auto& self) {
                         self.yield(1);
                         return 2;
                       }};
    CHECK(c.resume() == 1);
    CHECK(c.resume() == 2);
  }
}
