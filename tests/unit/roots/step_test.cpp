// At every instruction of switches, waits, calls, births and deaths: is everything in the root set that a coroutine
// holds in a register, and in nothing else?
//
// Six fibers hold a word each, in a callee-saved register of which each has another one, while they wait. The thread
// holds one, too, below all its frames. With the trap flag the processor stops after each instruction, and a handler
// looks where a collector would look: in the registers, on the stack that the thread is stopped on, from the stack
// pointer and the red zone on, and at what for_each_stack() tells. A word that is nowhere is a lost object.
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/enumeration.hpp>
#include <hocket/fiber/hibernate.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <doctest/doctest.h>
#include <memory>
#include <pthread.h>
#include <ucontext.h>
#include <vector>

using namespace hocket;

// hold_in_<register>(word, f): calls f with the word in that register, and nowhere else; returns what is in it then.
#define HOLD_IN(r)                                                                      \
  extern "C" std::uintptr_t hold_in_##r(std::uintptr_t, void (*)());                    \
  asm(".text\n.globl hold_in_" #r "\nhold_in_" #r ":\n\tpush %" #r "\n\tmov %rdi, %" #r \
      "\n\txor %edi, %edi\n\tcall *%rsi\n\tmov %" #r ", %rax\n\tpop %" #r "\n\tret\n");
HOLD_IN(rbx)
HOLD_IN(rbp)
HOLD_IN(r12)
HOLD_IN(r13)
HOLD_IN(r14)
HOLD_IN(r15)

namespace {

constexpr std::size_t fibers = 6;
constexpr std::array<std::uintptr_t (*)(std::uintptr_t, void (*)()), fibers> hold_in{
    &hold_in_rbx, &hold_in_rbp, &hold_in_r12, &hold_in_r13, &hold_in_r14, &hold_in_r15};

// What is held, inverted, so that the table itself holds nothing. The last one is the thread's.
std::uintptr_t inverted(std::size_t i) { return ~(0x1234'5678'0000'0001u + i * 0x1001); }
bool is_held[fibers + 1];

const std::byte* stack_low;
const std::byte* stack_base;
const void* own_fibers;

long steps, lost, with_unknown_depth;
std::uintptr_t first_loss;

class search {
 public:
  void in(const void* low, const void* high) noexcept {
    auto at = (reinterpret_cast<std::uintptr_t>(low) + 7) & ~std::uintptr_t{7};
    for (; at + 8 <= reinterpret_cast<std::uintptr_t>(high); at += 8) {
      std::uintptr_t word = 0;
      std::memcpy(&word, reinterpret_cast<const void*>(at), sizeof word);
      note(word);
    }
  }
  void note(std::uintptr_t word) noexcept {
    for (std::size_t i = 0; i <= fibers; ++i) found_[i] |= word == ~inverted(i);
  }
  bool has_all() const noexcept {
    for (std::size_t i = 0; i <= fibers; ++i)
      if (is_held[i] && !found_[i]) return false;
    return true;
  }

 private:
  bool found_[fibers + 1] = {};
};

void on_trap(int, siginfo_t*, void* context) {
  const auto& registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  std::array<std::uintptr_t, NGREG> words;
  std::memcpy(words.data(), registers, sizeof words);
  const auto* const pointer = reinterpret_cast<const std::byte*>(registers[REG_RSP]);
  ++steps;
  search all;
  for (const std::uintptr_t word : words) all.note(word);
  const void* const limit = limit_of(pointer);
  all.in(pointer - 128, limit ? limit : stack_base);
  const stopped_thread here{own_fibers, pointer, words, stack_low, stack_base};
  const std::size_t unknown =
      for_each_stack({&here, 1}, [&](const stack_range& range) { all.in(range.low, range.high); });
  with_unknown_depth += unknown != 0;
  if (all.has_all()) return;
  if (lost++ == 0) first_loss = static_cast<std::uintptr_t>(registers[REG_RIP]);
}

[[gnu::noinline]] void begin_steps() { asm volatile("pushfq\n\torq $0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory"); }
[[gnu::noinline]] void end_steps() { asm volatile("pushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq" ::: "cc", "memory"); }

event* go;
loop* on;
void (*round)();
void (*between)() = [] {};
int rounds;

void yields() { await(yield()); }
void waits() {
  static_cast<void>(await(go->wait()));
  await(yield());
}
void calls() {
  on_big_stack([] { await(yield()); });
}
void waits_in_a_call() {
  on_big_stack([] { static_cast<void>(await(go->wait())); });
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
      on_big_stack([&] { inner.resume(); });
    }
  });
  outer.resume();
  await(yield());
  on_big_stack([&] { outer.resume(); });
}
void bears() {
  auto child = spawn(*on, [] { await(yield()); });
  static_cast<void>(await(child.join()));
}

void wait_and_do() {
  static_cast<void>(await(go->wait()));
  for (int i = 0; i < rounds; ++i) round();
}

void live(std::size_t i) {
  const std::uintptr_t kept = hold_in[i](~inverted(i), &wait_and_do);
  is_held[i] = false;
  if (kept != ~inverted(i)) std::abort();
}

// The thread holds a word, too, while it does something, and its stack is at another depth each time: what is known of
// it must not be of the time before.
void (*held_call)();
void do_while_held() {
  is_held[fibers] = true;
  held_call();
  is_held[fibers] = false;
}
[[gnu::noinline]] void do_at_depth(int depth, void (*what)()) {
  char room[200];
  asm volatile("" : : "r"(room) : "memory");
  if (depth > 0) {
    do_at_depth(depth - 1, what);
  } else {
    held_call = what;
    if (hold_in_r14(~inverted(fibers), &do_while_held) != ~inverted(fibers)) std::abort();
  }
  asm volatile("" : : "r"(room) : "memory");
}

coroutine<void()>* raw;  // nobody but the thread resumes it

void drive() {
  coroutine<void()> native([](auto& self) {
    for (;;) self.yield();
  });
  raw = &native;
  begin_steps();
  for (int i = 0; i < 2 * rounds + 4; ++i) {
    do_at_depth(i % 3 * 2, [] { on->poll(); });
    go->set();
    do_at_depth((i + 1) % 3 * 2, [] { on->poll(); });
    go->reset();
    do_at_depth(i % 4, [] { raw->resume(); });
    between();
  }
  end_steps();
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
  own_fibers = fibers_of_this_thread();
}

// On a stack of its own, so that the trap leaves no trace on the stack that it looks at.
void handle_traps() {
  static const auto stack = std::make_unique<std::byte[]>(1 << 20);
  stack_t alternate{};
  alternate.ss_sp = stack.get();
  alternate.ss_size = 1 << 20;
  struct sigaction action{};
  action.sa_sigaction = &on_trap;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK;
  if (sigaltstack(&alternate, nullptr) != 0 || sigaction(SIGTRAP, &action, nullptr) != 0) std::abort();
}

void step_through(void (*what)(), const spawn_options& options = {}, void (*in_between)() = [] {}, int how_often = 6) {
  rounds = how_often;
  steps = lost = with_unknown_depth = 0;
  event opens;
  loop lp;
  go = &opens;
  on = &lp;
  round = what;
  between = in_between;
  find_own_stack();
  std::vector<join_handle<>> all;
  for (std::size_t i = 0; i < fibers; ++i) all.push_back(spawn(lp, options, &live, i));
  lp.poll();  // each has its word now
  handle_traps();
  for (std::size_t i = 0; i < fibers; ++i) is_held[i] = true;
  drive();
  for (std::size_t i = 0; i < fibers; ++i) CHECK_FALSE(is_held[i]);
  CAPTURE(reinterpret_cast<void*>(first_loss));
  CHECK(lost == 0);
  CHECK(with_unknown_depth > 0);
  CHECK(with_unknown_depth < steps / 10);
  MESSAGE(steps, " instructions, ", with_unknown_depth, " of them with a stack of unknown depth");
  lp.run();
}

}  // namespace

TEST_SUITE_BEGIN("instruction by instruction" * doctest::skip(!stacks_can_be_enumerated()));

TEST_CASE("yields") { step_through(&yields); }
TEST_CASE("waits") { step_through(&waits); }
TEST_CASE("calls on other stacks") { step_through(&calls); }
TEST_CASE("waits in a call on another stack") { step_through(&waits_in_a_call); }
TEST_CASE("raw coroutines, resumed from several depths") {
  step_through(&resumes_raw_ones, {}, [] {}, 2);
}
TEST_CASE("births and deaths") { step_through(&bears); }
TEST_CASE("all of them") { step_through(&mixes); }
TEST_CASE("all of them on dense stacks") {
  step_through(&mixes, {.stack_size = 16 * 1024, .stack = stack_kind::dense});
}
TEST_CASE("all of them on copied stacks") { step_through(&mixes, {.stack = stack_kind::copied}); }
TEST_CASE("all of them in fibers that may migrate") { step_through(&mixes, {.migratable = true}); }
TEST_CASE("hibernation") {
  step_through(&waits, {.hibernate_after = std::chrono::hours(1)}, [] { hibernate_parked(); });
}

TEST_SUITE_END();
