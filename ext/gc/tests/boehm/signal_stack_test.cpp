// Collections while a signal handler runs on its thread's alternate stack, over code that holds the only references.
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include "herd.hpp"
#include "support/death.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <functional>
#include <pthread.h>
#include <span>
#include <thread>
#include <vector>

using namespace hocket;
using hocket_test::collect;
using hocket_test::herd;
using hocket_test::herd_size;
using hocket_test::object;

namespace {

// SS_AUTODISARM of <linux/signal.h>, which conflicts with <csignal>.
constexpr int autodisarm = static_cast<int>(1u << 31);

// The handler spins until the collections are over: it takes no lock, and makes no call.
std::atomic<bool> is_in_handler{false}, may_return{false};
void spin(int) {
  is_in_handler = true;
  while (!may_return) {
  }
}

// While it lives, SIGUSR1 of this thread runs spin() on an alternate stack.
constexpr std::size_t default_size = std::size_t{1} << 16;
class signal_stack {
 public:
  explicit signal_stack(int flags = 0) : memory_(default_size) { install(memory_, flags); }
  explicit signal_stack(std::span<char> memory) { install(memory, 0); }
  signal_stack(const signal_stack&) = delete;
  signal_stack& operator=(const signal_stack&) = delete;
  ~signal_stack() {
    ::sigaction(SIGUSR1, &action_before_, nullptr);
    ::sigaltstack(&stack_before_, nullptr);
  }

 private:
  void install(std::span<char> memory, int flags) {
    stack_t own{};
    own.ss_sp = memory.data();
    own.ss_size = memory.size();
    own.ss_flags = flags;
    REQUIRE(::sigaltstack(&own, &stack_before_) == 0);
    struct sigaction action{};
    action.sa_handler = spin;
    action.sa_flags = SA_ONSTACK | SA_RESTART;
    REQUIRE(::sigaction(SIGUSR1, &action, &action_before_) == 0);
    is_in_handler = may_return = false;
  }

  std::vector<char> memory_;
  stack_t stack_before_{};
  struct sigaction action_before_{};
};

// Objects that this frame alone holds; the handler interrupts it, and another thread collects meanwhile.
[[gnu::noinline]] std::size_t hold_and_be_interrupted(herd& objects, std::atomic<bool>& holds) {
  object* volatile held[16];
  for (std::size_t i = 0; i < 16; ++i) held[i] = objects.make(i);
  holds = true;
  while (!may_return) {
  }
  std::size_t intact = 0;
  for (std::size_t i = 0; i < 16; ++i) intact += herd::is_intact(held[i], i);
  return intact;
}

// Runs body(hold) on a registered thread; hold() holds 16 objects, and returns how many have survived.
std::size_t survivors(const std::function<void(const std::function<void()>& hold)>& body) {
  herd objects;
  std::atomic<bool> holds{false};
  std::size_t intact = 0;
  is_in_handler = may_return = false;
  std::thread holder([&] {
    const gc::boehm::thread_scope registered;
    const signal_stack stack;
    body([&] { intact = hold_and_be_interrupted(objects, holds); });
  });
  while (!holds) std::this_thread::yield();
  REQUIRE(::pthread_kill(holder.native_handle(), SIGUSR1) == 0);
  while (!is_in_handler) std::this_thread::yield();
  for (int round = 0; round < 3; ++round) {
    collect();
    for (std::size_t i = 0; i < 3 * herd_size; ++i) std::memset(GC_MALLOC(sizeof(object)), 1, sizeof(object));
  }
  may_return = true;
  holder.join();
  return intact;
}

template <class F>
void in_fiber(F f, std::size_t stack_size = 0) {
  loop on;
  auto fiber = spawn(on, {.stack_size = stack_size}, [&] { f(); });
  on.run();
}

// The signal stack is an array of this frame, above the frame that holds the objects.
[[gnu::noinline]] void hold_below_signal_stack(const std::function<void()>& hold) {
  std::array<char, default_size> memory;
  const signal_stack stack(memory);
  hold();
}

}  // namespace

TEST_CASE("a handler on its signal stack runs over a fiber, and a collection keeps what the fiber holds") {
  CHECK(survivors([](const auto& hold) { in_fiber(hold); }) == 16);
}

TEST_CASE("over a call on another stack, a raw coroutine, and the thread's own stack, too") {
  CHECK(survivors([](const auto& hold) { in_fiber([&] { call_on_big_stack([&] { hold(); }); }); }) == 16);
  CHECK(survivors([](const auto& hold) {
          in_fiber([&] {
            coroutine<void()> raw([&](auto&) { hold(); });
            raw.resume();
          });
        }) == 16);
  CHECK(survivors([](const auto& hold) {
          coroutine<void()> raw([&](auto&) { hold(); });
          raw.resume();
        }) == 16);
  CHECK(survivors([](const auto& hold) { call_on_big_stack([&] { hold(); }); }) == 16);
  CHECK(survivors([](const auto& hold) { hold(); }) == 16);
}

TEST_CASE("what the frames below the interrupted fiber hold survives, and what suspended fibers beside it hold") {
  herd beside;
  std::size_t intact = 0;
  const auto is_intact = [](const object* held, std::size_t i) { return herd::is_intact(held, i) ? 1u : 0u; };
  CHECK(survivors([&](const auto& hold) {
          object* volatile below = beside.make(0);
          event end;
          loop on;
          auto waits = spawn(on, [&] {
            object* volatile held = beside.make(1);
            static_cast<void>(await(end.wait()));
            intact += is_intact(held, 1);
          });
          auto interrupted = spawn(on, [&] {
            object* volatile held = beside.make(2);
            coroutine<void()> raw([&](auto&) { hold(); });
            raw.resume();
            intact += is_intact(held, 2);
            end.set();
          });
          on.run();
          intact += is_intact(below, 0);
        }) == 16);
  CHECK(intact == 3);
}

TEST_CASE("a signal stack that is an array of a frame hides no frame below it: of a thread, a fiber, a called stack") {
  constexpr std::size_t stack_size = 4 * default_size;
  CHECK(survivors([](const auto& hold) { hold_below_signal_stack(hold); }) == 16);
  CHECK(survivors([](const auto& hold) { in_fiber([&] { hold_below_signal_stack(hold); }, stack_size); }) == 16);
  CHECK(survivors([](const auto& hold) { call_on_big_stack([&] { hold_below_signal_stack(hold); }); }) == 16);
  CHECK(survivors([](const auto& hold) {
          in_fiber([&] { call_on_big_stack([&] { hold_below_signal_stack(hold); }); });
        }) == 16);
}

TEST_CASE("a signal stack with SS_AUTODISARM is refused by name") {
  hocket_test::expect_fatal(
      [] {
        std::atomic<bool> holds{false};
        std::thread holder([&] {
          const gc::boehm::thread_scope registered;
          const signal_stack stack(autodisarm);
          holds = true;
          for (;;) std::this_thread::yield();
        });
        while (!holds) std::this_thread::yield();
        ::pthread_kill(holder.native_handle(), SIGUSR1);
        while (!is_in_handler) std::this_thread::yield();
        GC_gcollect();
      },
      "not its signal stack");
}
