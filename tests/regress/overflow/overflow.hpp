// Children that die of a fault, and how to.
#pragma once
#include "support/death.hpp"

#include <csignal>
#include <cstdint>
#include <doctest/doctest.h>
#include <string>

#define CHECK_HOLDS(text, part) CHECK_MESSAGE((text).find(part) != std::string::npos, (text))
#define CHECK_LACKS(text, part) CHECK_MESSAGE((text).find(part) == std::string::npos, (text))

namespace overflow {

using hocket_test::child_end;

inline constexpr const char* segmentation_fault = "killed by Segmentation fault";
inline constexpr const char* returned = "the body returned";

// In a child: what doctest and sanitizers have installed is taken away.
inline void be_plain() {
  std::signal(SIGSEGV, SIG_DFL);
  std::signal(SIGBUS, SIG_DFL);
  stack_t none{};
  none.ss_flags = SS_DISABLE;
  ::sigaltstack(&none, nullptr);
}

// Runs the body in a plain child.
inline child_end die(void (*body)()) {
  auto in_child = [](void* f) {
    be_plain();
    (*static_cast<void (**)()>(f))();
  };
  child_end end = hocket_test::run_in_child(in_child, &body);
  // qemu's user mode adds a last line of its own to what a program says that a signal ends.
  if (const auto at = end.errors.find("qemu: uncaught target signal"); at != std::string::npos) end.errors.resize(at);
  return end;
}

void touch(std::uintptr_t address);  // writes a byte there
void recur();                        // until the stack ends
void one_large_frame();              // of 64 KiB
void use(std::size_t bytes);         // so many of the stack, and gives them back

}  // namespace overflow
