// Coroutines of both kinds that wait for one another while gdb looks at them (look.py knows what it must see):
//
//   loop "chain"
//     "third"        fiber   third_body > third_call > task third_outer > third_inner    waits at the gate
//     "second"       task    second_outer > second_inner                                 joins "third"
//     "first"        fiber   first_body > first_call                                     joins "second"
//     "still ready"  a task and a fiber that have yielded
//     "parent"       fiber   parent_body                                                 leaves a scope
//     "child"        task    child_body                                                  in that scope, waits at
//                           the gate
//   loop "other"
//     "abroad"       fiber   waits for a foreign awaitable
//     "asleep"       fiber   waits for the gate, and hibernates
//   loop "early", whose tasks await through stand-ins
//     "returns"      task    returns_outer > or_return of returns_inner > or_return of the gate
//     "propagates"   task    propagates_outer > propagate() of propagates_inner, waits at the gate
//     "returning"    task    yields_outer > or_return of yields_inner, which yields
//     "joins"        fiber   joins_call > task joins_inner > or_return of the end of "returns"
//     "slotted"      task    slotted_outer, which has a slot with hooks > slotted_inner    waits at the gate
#include <hocket/core/wait/seam/coroutine_slot.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>

#include "unit/runtime/gate.hpp"

using namespace hocket;
using hocket_test::gate;

namespace {

task<void> third_inner(gate& at) {
  auto passed = co_await at.pass();  // line: third_inner
  if (!passed) co_return;
}

task<int> third_outer(gate& at) {
  co_await third_inner(at);  // line: third_outer
  co_return 3;
}

// The empty statements keep what stands before them from being the end of the function, which the compiler may omit.
[[gnu::noinline]] int third_call(gate& at) {
  int three = await(third_outer(at));  // line: third_call
  asm volatile("" : "+r"(three));
  return three;
}

[[gnu::noinline]] int third_body(gate& at) {
  int three = third_call(at);  // line: third_body
  asm volatile("" : "+r"(three));
  return three;
}

task<int> second_inner(join_handle<int>& third) {
  int three = co_await third;  // line: second_inner
  co_return three - 1;
}

task<int> second_outer(join_handle<int>& third) {
  int two = co_await second_inner(third);  // line: second_outer
  co_return two;
}

[[gnu::noinline]] void first_call(join_handle<int>& second, int depth) {
  int two = await(second);  // line: first_call
  asm volatile("" : "+r"(two), "+r"(depth));
}

[[gnu::noinline]] void first_body(join_handle<int>& second) {
  first_call(second, 4711);  // line: first_body
  asm volatile("");
}

task<void> yield_in_task() {
  for (;;) {
    co_await yield();  // line: yield_in_task
    asm volatile("");
  }
}

[[gnu::noinline]] void yield_in_fiber() {
  for (;;) {
    await(yield());  // line: yield_in_fiber
    asm volatile("");
  }
}

task<void> child_body(gate& at) {
  auto passed = co_await at.pass();  // line: child_body
  if (!passed) co_return;
}

[[gnu::noinline]] void parent_body(gate& at) {
  {
    scope children;
    spawn(children, {.name = "child"}, child_body, std::ref(at));
  }  // line: parent_body
  asm volatile("");
}

task<result<void>> returns_inner(gate& at) {
  co_await or_return(at.pass());  // line: returns_inner
  co_return {};
}
task<result<int>> returns_outer(gate& at) {
  co_await or_return(returns_inner(at));  // line: returns_outer
  co_return 1;
}

task<void> propagates_inner(gate& at) {
  static_cast<void>(co_await at.pass());  // line: propagates_inner
}
task<void> propagates_outer(gate& at) {
  co_await propagates_inner(at).propagate();  // line: propagates_outer
}

task<result<void>> yields_inner(const bool& go_on) {
  while (go_on) {
    co_await yield();  // line: yields_inner
    asm volatile("");
  }
  co_return {};
}
task<result<void>> yields_outer(const bool& go_on) {
  co_await or_return(yields_inner(go_on));  // line: yields_outer
  co_return {};
}

task<result<void>> joins_inner(join_handle<result<int>>& joined) {
  int value = co_await or_return(joined);  // line: joins_inner
  asm volatile("" : "+r"(value));
  co_return {};
}
[[gnu::noinline]] void joins_call(join_handle<result<int>>& joined) {
  static_cast<void>(await(joins_inner(joined)));  // line: joins_call
  asm volatile("");
}

struct hooked_slot : detail::coroutine_slot {
  static void ignore(coroutine_slot&) noexcept {}
  static constexpr detail::slot_kind kind{.name = "hooked", .on_suspend = &ignore, .on_resume = &ignore};
  hooked_slot() : coroutine_slot(kind) {}
};

task<void> slotted_inner(gate& at) {
  static_cast<void>(co_await at.pass());  // line: slotted_inner
}
task<void> slotted_outer(gate& at) {
  const hooked_slot own;
  co_await slotted_inner(at);  // line: slotted_outer
}

struct foreign {
  std::coroutine_handle<>& waiting;
  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<> handle) noexcept { waiting = handle; }
  void await_resume() const noexcept {}
};

[[gnu::noinline]] void abroad(std::coroutine_handle<>& waiting) {
  await(foreign{waiting});  // line: abroad
  asm volatile("");
}

void asleep(gate& at) {
  static_cast<void>(await(at.pass()));  // line: asleep
}

}  // namespace

extern "C" [[gnu::noinline]] void everybody_waits() { asm volatile(""); }

int main() {
  const char* volatile here = "main";
  gate at;
  manual_clock time;
  std::coroutine_handle<> waiting;
  bool go_on = true;
  loop early({.name = "early", .clock = &time});
  auto returns = spawn(early, {.name = "returns"}, returns_outer, std::ref(at));
  spawn(early, {.name = "propagates"}, propagates_outer, std::ref(at));
  spawn(early, {.name = "returning"}, yields_outer, std::cref(go_on));
  spawn(early, {.name = "joins"}, joins_call, std::ref(returns));
  spawn(early, {.name = "slotted"}, slotted_outer, std::ref(at));
  for (int i = 0; i < 20; ++i) early.step();
  loop other({.name = "other", .clock = &time});
  spawn(other, {.name = "abroad"}, abroad, std::ref(waiting));
  spawn(other, {.name = "asleep", .hibernate_after = std::chrono::hours(1)}, asleep, std::ref(at));
  other.run();
  loop lp({.name = "chain", .clock = &time});
  auto third = spawn(lp, {.name = "third"}, third_body, std::ref(at));  // line: spawn_third
  auto second = spawn(lp, {.name = "second"}, second_outer, std::ref(third));
  auto first = spawn(lp, {.name = "first"}, first_body, std::ref(second));
  auto in_task = spawn(lp, {.name = "still ready"}, yield_in_task);
  auto in_fiber = spawn(lp, {.name = "still ready"}, yield_in_fiber);
  spawn(lp, {.name = "parent"}, parent_body, std::ref(at));
  for (int i = 0; i < 20; ++i) lp.step();
  hibernate_parked();
  everybody_waits();
  at.open();
  lp.run_until(first);
  waiting.resume();
  other.run();
  go_on = false;
  early.run();
  return here ? 0 : 1;
}
