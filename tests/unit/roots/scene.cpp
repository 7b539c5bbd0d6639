#include "unit/roots/scene.hpp"

#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/enumeration.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include "machine_state.hpp"
#include "unit/roots/search.hpp"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <memory>
#include <pthread.h>
#include <vector>

using namespace hocket;

namespace hocket_test {

namespace {

bool is_held[words_held];
const std::byte* stack_low;
const std::byte* stack_base;
const void* own_fibers;
findings all_found;

event* go;
loop* on;
stack_pool* others;
const scene* played;

bool is_complete(const search& all) noexcept {
  for (std::size_t i = 0; i < words_held; ++i)
    if (is_held[i] && !all.has(i)) return false;
  return true;
}

}  // namespace

void look(const void* context) noexcept {
  const machine_state state(context);
  ++all_found.looks;
  search all;
  for (const std::uintptr_t word : state.registers) all.note(word);
  const void* const limit = stack_limit(state.stack_pointer);
  all.in(state.stack_pointer - red_zone, limit ? limit : stack_base);
  const stopped_thread here{own_fibers, state.stack_pointer, state.registers, stack_low, stack_base};
  const std::size_t unknown =
      for_each_stack({&here, 1}, [&](const stack_range& range) { all.in(range.low, range.high); });
  all_found.with_unknown_depth += unknown != 0;
  if (!is_complete(all) && all_found.lost++ == 0) all_found.first_loss = state.instruction;
}

const findings& found() noexcept { return all_found; }

namespace {

template <class F>
void on_another_stack(F&& f) {
  auto stack = others->acquire();
  if (!stack) std::abort();
  call_on_stack(*stack, f);
  others->release(*stack);
}

}  // namespace

void yields() { await(yield()); }
void waits() {
  static_cast<void>(await(go->wait()));
  await(yield());
}
void calls() {
  on_another_stack([] { await(yield()); });
}
void waits_in_a_call() {
  on_another_stack([] { static_cast<void>(await(go->wait())); });
}
void mixes() {
  yields();
  waits();
  calls();
}
// From several depths of the stack, and from one coroutine in another.
void resumes_raw_ones() {
  coroutine<void()> inner([](auto& self) {
    for (;;) self.yield();
  });
  coroutine<void()> outer([&](auto& self) {
    for (;;) {
      inner.resume();
      self.yield();
      on_another_stack([&] { inner.resume(); });
    }
  });
  outer.resume();
  await(yield());
  on_another_stack([&] { outer.resume(); });
}
void bears() {
  auto child = spawn(*on, [] { await(yield()); });
  static_cast<void>(await(child.join()));
}

namespace {

void wait_and_do() {
  static_cast<void>(await(go->wait()));
  for (int i = 0; played->goes_on(i); ++i) played->round();
}

void live(std::size_t i) {
  const std::uintptr_t kept = hold_in[i](~inverted(i), &wait_and_do);
  is_held[i] = false;
  if (kept != ~inverted(i)) std::abort();
}

// The thread holds a word, too, while it does something, and its stack is at another depth each time: what is known of
// it must not be of the time before. The word is on the stack and in no register, which would hold it in the fiber,
// too.
void (*held_call)();
void do_while_held() {
  is_held[thread_that_holds] = true;
  held_call();
  is_held[thread_that_holds] = false;
}
void do_with_empty_registers() { call_with_empty_registers(&do_while_held); }
[[gnu::noinline]] void do_at_depth(int depth, void (*what)()) {
  char room[1000];  // more than the frames between this one and the record: with -O0 those have 700 bytes
  asm volatile("" : : "r"(room) : "memory");
  if (depth > 0) {
    do_at_depth(depth - 1, what);
  } else {
    held_call = what;
    if (hold_in[4](~inverted(thread_that_holds), &do_with_empty_registers) != ~inverted(thread_that_holds))
      std::abort();
  }
  asm volatile("" : : "r"(room) : "memory");
}

coroutine<void()>* raw;  // nobody but the thread resumes it

// Until the fibers have ended, and a few times more.
void drive() {
  coroutine<void()> native([](auto& self) {
    for (;;) self.yield();
  });
  raw = &native;
  played->begin();
  for (int i = 0, after = 0; after < 4; ++i) {
    do_at_depth(i % 3 * 2, [] { on->poll(); });
    go->set();
    do_at_depth((i + 1) % 3 * 2, [] { on->poll(); });
    go->reset();
    do_at_depth(i % 4, [] { raw->resume(); });
    played->between();
    after += std::none_of(std::begin(is_held), std::end(is_held), [](bool held) { return held; });
  }
  played->end();
}

void find_own_stack() {
  pthread_attr_t attributes;
  void* low = nullptr;
  std::size_t size = 0;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) std::abort();
  pthread_attr_getstack(&attributes, &low, &size);
  pthread_attr_destroy(&attributes);
  stack_low = static_cast<std::byte*>(low);
  stack_base = stack_low + size;
  own_fibers = this_thread_fibers();
}

void (*handler)(void* context);

}  // namespace

void handle(int signal, void (*with)(void* context)) {
  static const auto stack = std::make_unique<std::byte[]>(1 << 20);
  stack_t alternate{};
  alternate.ss_sp = stack.get();
  alternate.ss_size = 1 << 20;
  handler = with;
  struct sigaction action{};
  action.sa_sigaction = [](int, siginfo_t*, void* context) { handler(context); };
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART;
  if (sigaltstack(&alternate, nullptr) != 0 || sigaction(signal, &action, nullptr) != 0) std::abort();
}

findings play(const scene& what) {
  all_found = {};
  event opens;
  stack_pool called({.stack_size = 128 * 1024});
  loop lp;
  go = &opens;
  on = &lp;
  others = &called;
  played = &what;
  find_own_stack();
  std::vector<join_handle<>> all;
  for (std::size_t i = 0; i < fibers_that_hold; ++i) all.push_back(spawn(lp, what.options, &live, i));
  lp.poll();  // each has its word now
  std::fill_n(is_held, fibers_that_hold, true);
  drive();
  lp.run();
  return all_found;
}

}  // namespace hocket_test
