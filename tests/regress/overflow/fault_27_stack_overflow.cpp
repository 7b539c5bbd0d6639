// FAULT 27: a stack that overflows in silence (minicoro#19, openssl#6017, marl#43, wasmfxtime#26, tarantool#2411). A
// recursion, and one frame that would jump over the guard page, end with a message that names the coroutine, whatever
// handled the signal before. Each case runs in a child; the parent makes no fiber, so that nothing is installed yet.
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/overflow_report.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>

#include "overflow.hpp"
#include "stack/memory.hpp"

#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <thread>

using namespace hocket;
using namespace overflow;

namespace {

constexpr const char* small_message = "the stack of a coroutine overflowed [coroutine small]\n  stack_size 16384; ";

void run_fiber(const spawn_options& options, void (*body)()) {
  loop lp;
  spawn(lp, options, body);
  lp.run();
}

void run_raw(stack_pool& pool, void (*body)()) {
  coroutine<void()> c{{.name = "small", .pool = &pool}, [body](auto&) { body(); }};
  c.resume();
}
void run_raw(void (*body)()) {
  stack_pool pool({.stack_size = 16 * 1024});
  run_raw(pool, body);
}

// The number behind the first `words` of a report; 0 without them.
unsigned long number_after(const std::string& report, const char* words) {
  const std::size_t at = report.find(words);
  return at == std::string::npos ? 0 : std::strtoul(report.c_str() + at + std::strlen(words), nullptr, 10);
}

// Threads of the operating system report nothing.
const doctest::skip on_fibers(detail::machine::fibers_are_threads);

}  // namespace

TEST_CASE("fault 27: a recursion: the report has the fiber's name, its size, where it was spawned, and the remedy" *
          on_fibers) {
  const unsigned line = __LINE__ + 1;
  const child_end end = die([] { run_fiber({.name = "small", .stack_size = 16 * 1024}, recur); });
  CHECK(end.how == segmentation_fault);
  CHECK_HOLDS(end.errors, small_message);
  CHECK_HOLDS(end.errors, "bytes in use at the fault; high-water mark ");
  CHECK(number_after(end.errors, "high-water mark ") > 15 * 1024);
  CHECK_HOLDS(end.errors, "; spawned at ");
  CHECK_HOLDS(end.errors, "fault_27_stack_overflow.cpp:" + std::to_string(line) + "\n");
  CHECK_HOLDS(end.errors,
              "remedy: give it a stack_size of 32768 bytes or more, or make its one deep call by call_on_big");
  CHECK_HOLDS(end.errors, "-fstack-clash-protection");
}

TEST_CASE("fault 27: a frame that is larger than the stack and the guard page" * on_fibers) {
  const child_end end = die([] { run_fiber({.name = "small", .stack_size = 16 * 1024}, one_large_frame); });
  CHECK(end.how == segmentation_fault);
  CHECK_HOLDS(end.errors, small_message);
}

TEST_CASE("fault 27: a raw coroutine" * on_fibers) {
  const child_end end = die([] { run_raw(recur); });
  CHECK(end.how == segmentation_fault);
  CHECK_HOLDS(end.errors, small_message);
  CHECK_LACKS(end.errors, "spawned");
}

TEST_CASE("fault 27: a coroutine on a second thread, which has an alternate stack of its own" * on_fibers) {
  const child_end end = die([] {
    run_raw([] {});
    std::thread([] { run_raw(recur); }).join();
  });
  CHECK(end.how == segmentation_fault);
  CHECK_HOLDS(end.errors, small_message);
}

TEST_CASE("fault 27: a coroutine that another one resumed" * on_fibers) {
  const child_end end = die([] { run_fiber({.name = "outer"}, [] { run_raw(recur); }); });
  CHECK_HOLDS(end.errors, small_message);
  CHECK_LACKS(end.errors, "outer");
}

TEST_CASE("fault 27: a coroutine on a stack that it shares with others" * on_fibers) {
  const child_end end = die([] {
    loop lp;
    for (const char* name : {"first", "small", "last"})
      spawn(lp, {.name = outliving_name(name), .stack_size = 16 * 1024, .stack = stack_kind::copied}, [name] {
        await(yield());
        if (name[0] == 's') recur();
      });
    lp.run();
  });
  CHECK(end.how == segmentation_fault);
  CHECK_HOLDS(end.errors, small_message);
}

TEST_CASE("fault 27: guards that mprotect made" * on_fibers) {
  const child_end end = die([] {
    detail::refuse_guard_markers();
    run_raw(recur);
  });
  CHECK(end.how == segmentation_fault);
  CHECK_HOLDS(end.errors, small_message);
}

TEST_CASE("fault 27: a call on another stack: the report names the fiber and the call" * on_fibers) {
  const child_end end = die([] {
    run_fiber({.name = "small", .stack_size = 16 * 1024}, [] {
      stack_pool own({.stack_size = 128 * 1024});
      call_on_stack(*own.acquire(), recur);
    });
  });
  CHECK(end.how == segmentation_fault);
  CHECK_HOLDS(end.errors, "the stack of a call_on_stack overflowed [coroutine small]\n  stack_size 131072; ");
  CHECK_HOLDS(end.errors, "give the call a stack of 262144 bytes or more;");
}

TEST_CASE("fault 27: a fiber after a call on another stack is on its own stack again" * on_fibers) {
  const child_end end = die([] {
    run_fiber({.name = "small", .stack_size = 16 * 1024}, [] {
      call_on_big_stack([] { call_on_big_stack([] {}); });
      recur();
    });
  });
  CHECK_HOLDS(end.errors, small_message);
}

TEST_CASE("fault 27: a call of a plain thread, which has no name" * on_fibers) {
  const child_end end = die([] {
    stack_pool own({.stack_size = 128 * 1024});
    call_on_stack(*own.acquire(), recur);
  });
  CHECK(end.how == segmentation_fault);
  CHECK_HOLDS(end.errors, "the stack of a call_on_stack overflowed\n  stack_size 131072; ");
}

TEST_CASE("fault 27: a stray access to the guard page is told apart, with how deep the stack was used before" *
          on_fibers) {
  const child_end end = die([] {
    run_raw([] {
      use(8 * 1024);
      auto here = reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
      touch(here - 24 * 1024);  // 16 KiB, the page of the colour and the one that makes the stride odd; 1 KiB is used
    });
  });
  CHECK(end.how == segmentation_fault);
  CHECK_HOLDS(end.errors, "an access below the stack of a coroutine hit its guard page [coroutine small]\n");
  CHECK(number_after(end.errors, "stack_size 16384; ") < 8 * 1024);
  const unsigned long mark = number_after(end.errors, "high-water mark ");
  CHECK(mark >= 8 * 1024);
  CHECK(mark < 16 * 1024);
}
