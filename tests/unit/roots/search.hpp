// What is held, and the search for it in registers and memory.
//
// The search has a source of its own, which is compiled with optimisation in every build: it reads some words a billion
// times. So it includes nothing of hocket.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hocket_test {

inline constexpr std::size_t fibers_that_hold = 6;
inline constexpr std::size_t thread_that_holds = fibers_that_hold;  // the last word is the thread's
inline constexpr std::size_t words_held = fibers_that_hold + 1;

// Inverted, so that the table itself holds nothing.
constexpr std::uintptr_t inverted(std::size_t i) { return ~(0x1234'5678'0000'0001u + i * 0x1001); }

class search {
 public:
  void in(const void* low, const void* high) noexcept;
  void note(std::uintptr_t word) noexcept {
    for (std::size_t i = 0; i < words_held; ++i) found_[i] |= word == ~inverted(i);
  }
  bool has(std::size_t i) const noexcept { return found_[i]; }

 private:
  bool found_[words_held] = {};
};

}  // namespace hocket_test
