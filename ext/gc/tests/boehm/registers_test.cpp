// An object that only one callee-saved register refers to, each register alone: in fibers that wait, and in the thread
// below them.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include "herd.hpp"

#include <doctest/doctest.h>
#include <machine_state.hpp>
#include <vector>

using namespace hocket;
using hocket_test::collect;
using hocket_test::herd;
using hocket_test::herd_size;
using hocket_test::hold_in;
using hocket_test::object;
using hocket_test::scrub;

namespace {

herd* objects;
event* drop;
loop* on;

void wait_for_drop() { static_cast<void>(await(drop->wait())); }

[[gnu::noinline]] std::uintptr_t make(std::size_t i) { return reinterpret_cast<std::uintptr_t>(objects->make(i)); }

// Holds object i in a register; gives whether it is intact.
[[gnu::noinline]] bool hold(std::size_t i, void (*meanwhile)()) {
  const std::uintptr_t address = hold_in[i % hold_in.size()](make(i), meanwhile);
  return herd::is_intact(reinterpret_cast<const object*>(address), i);
}

void settle() {
  while (on->poll()) {
  }
}

// Runs the loop from a frame that is `depth` further down.
[[gnu::noinline]] void settle_deeper(int depth) {
  volatile char frame[128];
  frame[0] = 1;
  if (depth != 0) settle_deeper(depth - 1);
  else settle();
  frame[1] = frame[0];
}

}  // namespace

TEST_CASE("each callee-saved register of a fiber that waits") {
  herd all;
  event dropped, over;
  loop own;
  objects = &all, drop = &dropped, on = &own;
  std::vector<join_handle<bool>> holders;
  GC_disable();
  for (std::size_t i = 0; i < herd_size; ++i)
    holders.push_back(spawn(own, {.stack_size = 16384}, [i, &over] {
      const bool intact = hold(i, wait_for_drop);
      scrub();
      static_cast<void>(await(over.wait()));
      return intact;
    }));
  settle();
  GC_enable();
  collect();
  CHECK(all.alive() == herd_size);
  dropped.set();
  settle();
  collect();
  CHECK(all.alive() <= 10);
  over.set();
  settle();
  std::size_t intact = 0;
  for (auto& holder : holders) intact += sync_wait(holder);
  CHECK(intact == herd_size);
  holders.clear();
  collect();
  CHECK(all.alive() <= 10);
}

// The thread was somewhere else on its stack when it resumed a fiber before: what was noted then is too high or too low
// now.
TEST_CASE("each callee-saved register of a thread whose fiber collects, at a depth of its own each time") {
  herd all;
  event dropped;
  loop own;
  objects = &all, drop = &dropped, on = &own;
  std::size_t intact = 0;
  for (std::size_t i = 0; i < herd_size; ++i) {
    intact += hold(i, [] {
      auto fiber = spawn(*on, [] { collect(); });
      static int depth = 0;
      settle_deeper(depth = (depth + 7) % 23);
    });
    if (i % 100 == 0) scrub();
  }
  CHECK(intact == herd_size);
}
