// Planted bugs, which AddressSanitizer must find although they happen on a coroutine's stack; with each, the same code
// without the bug, which it must let pass.
#include <hocket/context/seam/switch.hpp>
#include <hocket/fiber/coroutine.hpp>

#include "support/death.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>

using namespace hocket;

extern "C" int __lsan_do_recoverable_leak_check() __attribute__((weak));
extern "C" const char* __asan_default_options() { return "detect_stack_use_after_return=1"; }

namespace {

constexpr bool under_asan = detail::sanitizer == detail::sanitizer_kind::asan;
bool leaks_now() { return under_asan && __lsan_do_recoverable_leak_check && __lsan_do_recoverable_leak_check() != 0; }
volatile int sink;

[[gnu::noinline]] const int* address_of_a_local(bool planted, const int* outer) {
  volatile int local[4] = {1, 2, 3, 4};
  const int* volatile leaked = planted ? const_cast<const int*>(&local[0]) : outer;
  return leaked;
}

void use_after_return(bool planted) {
  coroutine<void()> c{[planted](auto& self) {
    const int outer[4] = {};
    const int* dangling = address_of_a_local(planted, outer);
    self.yield();
    sink = dangling[2];
  }};
  c.resume();
  c.resume();
}

void overflow_of_a_local(bool planted) {
  coroutine<void()> c{[planted](auto& self) {
    volatile char buffer[16] = {};
    volatile char* volatile at = buffer;  // so that no other sanitizer knows the bound
    self.yield();
    for (int i = 0; i < (planted ? 17 : 16); ++i) at[i] = 1;
    sink = buffer[3];
  }};
  c.resume();
  c.resume();
}

void use_of_a_pooled_stack(bool planted) {
  const volatile int* escaped = nullptr;
  coroutine<void()> c{[&](auto& self) {
    alignas(64) volatile int local[16] = {};
    escaped = &local[0];
    self.yield();
  }};
  c.resume();
  if (planted) c.reset();
  sink = escaped[0];
}

void check(void (*program)(bool), const char* report) {
  auto planted = hocket_test::run_in_child([](void* f) { (*static_cast<void (**)(bool)>(f))(true); }, &program);
  CHECK(planted.how != "the body returned");
  CHECK_MESSAGE(planted.errors.find(report) != std::string::npos, planted.errors);
  auto clean = hocket_test::run_in_child([](void* f) { (*static_cast<void (**)(bool)>(f))(false); }, &program);
  CHECK_MESSAGE(clean.how == "the body returned", clean.errors);
}

// The suite runs with the detection on and off, since each finds what the other misses.
bool detects_use_after_return() {
  const char* options = std::getenv("ASAN_OPTIONS");
  return under_asan && !(options && std::strstr(options, "detect_stack_use_after_return=0"));
}

}  // namespace

TEST_CASE("AddressSanitizer finds a use after return in a coroutine" * doctest::skip(!detects_use_after_return())) {
  check(&use_after_return, "stack-use-after-return");
}

TEST_CASE("AddressSanitizer finds an overflow of a coroutine's local" * doctest::skip(!under_asan)) {
  check(&overflow_of_a_local, "stack-buffer-overflow");
}

TEST_CASE("AddressSanitizer finds a use of a stack that went back to its pool" *
          doctest::skip(!under_asan ||
                        detail::machine::fibers_are_threads)) {  // the frames are on a stack of the C library's
  check(&use_of_a_pooled_stack, "AddressSanitizer");
}

namespace {

// Leaks, and leaves no copy of the pointer where the leak check would find it.
[[gnu::noinline]] void lose_an_allocation() {
  int* volatile lost = new int[100];
  lost[0] = 1;
  lost = nullptr;
}
[[gnu::noinline, gnu::no_sanitize_address]] void wipe_the_stack_below() {
  volatile char wiped[40 * 1024];  // the leak check scans the whole stack of a coroutine, also what is dead
  for (volatile char& byte : wiped) byte = 0;
}

// Looks for leaks while a suspended coroutine is the only owner of an allocation; `planted`: while nobody is.
void look_for_leaks(bool planted) {
  coroutine<void()> c{[planted](auto& self) {
    int* const owned = new int[100];  // a variable that is never referred to: others may lie where no leak check looks
    owned[0] = 1;
    if (planted) lose_an_allocation();
    wipe_the_stack_below();
    self.yield();
    sink = owned[0];
    delete[] owned;
  }};
  c.resume();
  if (leaks_now()) std::fputs("the leak check found something", stderr), std::abort();
  c.resume();
}

}  // namespace

TEST_CASE("what a suspended coroutine owns is no leak" * doctest::skip(!under_asan)) {
  check(&look_for_leaks, "the leak check found something");
}
