// A coroutine that is parked two calls deep while gdb looks at it.
#include <hocket/fiber/coroutine.hpp>

using namespace hocket;
using self_type = coroutine<void()>::self;

[[gnu::noinline]] static void innermost_call(self_type& self) {
  self.yield();
  asm volatile("");  // keeps the call below from being a tail call
}
[[gnu::noinline]] static void outer_call(self_type& self) {
  innermost_call(self);
  asm volatile("");
}

extern "C" [[gnu::noinline]] void everybody_parked() { asm volatile(""); }

int main() {
  const char* volatile here = "main";
  coroutine<void()> parked{[](auto& self) { outer_call(self); }};
  parked.resume();
  everybody_parked();
  parked.resume();
  return parked.done() && here ? 0 : 1;
}
