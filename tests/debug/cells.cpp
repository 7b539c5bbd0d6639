// Fibers of every state while gdb looks at their cells (cells.py knows what it must see).
#include <hocket/core/yield.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>

#include "unit/runtime/gate.hpp"

using namespace hocket;
using hocket_test::gate;

extern "C" [[gnu::noinline]] void look_now() { asm volatile(""); }

int main() {
  using self_type = coroutine<void()>::self;
  gate at;
  loop lp({.name = "cells"});
  auto waiting = spawn(lp, {.name = "at the gate"}, [&] { static_cast<void>(await(at.pass())); });
  auto ready = spawn(lp, {.name = "in the queue"}, [] {
    for (int i = 0; i < 5; ++i) await(yield());
  });
  for (int i = 0; i < 3; ++i) lp.step();
  auto nothing = [](self_type&) {};
  coroutine<void()> unstarted{{.name = "fresh"}, nothing};
  coroutine<void()> suspended{{.name = "asleep"}, [](self_type& self) { self.yield(); }};
  suspended.resume();
  coroutine<void()> finished{{.name = "over"}, nothing};
  finished.resume();
  coroutine<void()> running{{.name = "at work"}, [&](self_type&) {
                              {
                                const coroutine<void()> dropped{{.name = "never begun"}, nothing};
                              }
                              look_now();
                            }};
  running.resume();
  suspended.resume();
  at.open();
  lp.run();
  return 0;
}
