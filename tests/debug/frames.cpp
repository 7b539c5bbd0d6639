// Tasks and generators of every kind of holder while gdb looks at their frames (frames.py knows what it must see).
#include <hocket/coro/generator.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/task.hpp>
#include <hocket/coro/when_all.hpp>
#include <hocket/runtime/loop.hpp>

#include "unit/runtime/gate.hpp"

#include <array>
#include <utility>

using namespace hocket;
using hocket_test::gate;

namespace {

// Out of line: else clang may put a frame into the caller's.
[[gnu::noinline]] task<int> nobody_awaits_it(int n) { co_return n; }

[[gnu::noinline]] task<> inner(gate& at) {
  (void)co_await at.pass();  // line: inner
}
[[gnu::noinline]] task<> outer(gate& at) {
  co_await inner(at);  // line: outer
}
[[gnu::noinline]] task<> first_part(gate& at) {
  (void)co_await at.pass();  // line: first_part
}
[[gnu::noinline]] task<> second_part(gate& at) {
  (void)co_await at.pass();  // line: second_part
}
[[gnu::noinline]] task<> both(gate& at) {
  (void)co_await when_all(first_part(at), second_part(at));  // line: both
}

// Too large for the classes of frame memory.
[[gnu::noinline]] task<int> large(gate& at) {
  std::array<volatile int, 1000> room{};
  (void)co_await at.pass();  // line: large
  co_return room[10] + room[999];
}

[[gnu::noinline]] generator<int> numbers() {
  for (int i = 0;; ++i) co_yield i;  // line: numbers
}

task<> ended() { co_return; }

}  // namespace

extern "C" [[gnu::noinline]] void look_now() { asm volatile(""); }

int main() {
  gate at;
  loop lp({.name = "frames"});
  auto waits = spawn(lp, outer, std::ref(at));
  auto waits_for_two = spawn(lp, both, std::ref(at));
  auto is_large = spawn(lp, large, std::ref(at));
  auto over = spawn(lp, ended);
  while (lp.step()) {
  }
  auto held = nobody_awaits_it(3), dropped = nobody_awaits_it(4);
  std::move(dropped).discard();
  generator<int> all = numbers();
  const int first = *all.begin();
  look_now();
  std::move(held).discard();
  at.open();
  lp.run();
  return over.done() ? first : 1;
}
