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
  return hocket_test::run_in_child(in_child, &body);
}

void touch(std::uintptr_t address);  // writes a byte there
void recur();                        // until the stack ends
void one_large_frame();              // of 64 KiB

}  // namespace overflow
