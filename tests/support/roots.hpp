// Objects that are to be found on a stack, and where the enumeration finds them.
#pragma once
#include <hocket/fiber/enumeration.hpp>
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace hocket_test {

// An address that nothing but a coroutine is to hold. It is kept inverted. Each object of the program has an address of
// its own: the heap would give one twice, and a frame may still have the address of an earlier test in a word that is
// not written yet.
class hidden {
 public:
  hidden() : inverted_(~reinterpret_cast<std::uintptr_t>(nowhere + spacing * made++)) {
    if (made * spacing > sizeof nowhere) std::abort();
  }
  hidden(const hidden&) = delete;
  hidden& operator=(const hidden&) = delete;

  // Not in line, so that the address is in no frame of the caller's but where the caller keeps it.
  [[gnu::noinline]] char* get() const noexcept { return reinterpret_cast<char*>(~inverted_); }

 private:
  static constexpr std::size_t spacing = 16;
  static inline char nowhere[std::size_t{1} << 24];  // never touched
  static inline std::atomic<std::size_t> made{0};
  std::uintptr_t inverted_;
};

// Keeps a pointer in a frame, over what `wait` does; the compiler knows nothing of it.
template <class Wait>
[[gnu::noinline]] void hold(const hidden& what, Wait&& wait) {
  [[maybe_unused]] char* volatile kept = what.get();
  wait();
  kept = nullptr;
}

// What was told, with the words that stood there at that moment.
struct told_ranges {
  struct range : hocket::stack_range {
    std::vector<std::uintptr_t> words;
  };
  std::vector<range> ranges;
  std::size_t unknown = 0;

  // The number of ranges that contain the address: 1, if no two ranges overlap. Words are not counted: without
  // optimisation the compiler keeps copies of an address in a frame.
  [[gnu::noinline]] std::size_t holds(const hidden& what) const {
    std::size_t found = 0;
    for (const range& one : ranges) found += is_in(one, what);
    return found;
  }
  std::size_t holds(const hidden& what, hocket::stack_part part) const {
    std::size_t found = 0;
    for (const range& one : ranges) found += one.part == part && is_in(one, what);
    return found;
  }
  std::size_t words() const {
    std::size_t sum = 0;
    for (const range& one : ranges) sum += one.words.size();
    return sum;
  }
  std::size_t count(hocket::stack_part part) const {
    return static_cast<std::size_t>(
        std::count_if(ranges.begin(), ranges.end(), [&](const auto& one) { return one.part == part; }));
  }

 private:
  static bool is_in(const range& one, const hidden& what) {
    const auto address = reinterpret_cast<std::uintptr_t>(what.get());
    return std::find(one.words.begin(), one.words.end(), address) != one.words.end();
  }
};

inline told_ranges enumerate(std::span<const hocket::stopped_thread> threads) {
  told_ranges told;
  told.unknown = hocket::for_each_stack(threads, [&](const hocket::stack_range& one) {
    told.ranges.push_back({one, {}});
    told.ranges.back().words.resize(static_cast<std::size_t>(one.high - one.low) / sizeof(std::uintptr_t));
    std::memcpy(told.ranges.back().words.data(), one.low, told.ranges.back().words.size() * sizeof(std::uintptr_t));
  });
  return told;
}

// The calling thread, stopped where it calls this, with its own stack between those addresses.
[[gnu::noinline]] inline hocket::stopped_thread this_thread(const void* low, const void* base) {
  return {.fibers = hocket::this_thread_fibers(),
          .stack_pointer = __builtin_frame_address(0),
          .registers = {},
          .stack_low = low,
          .stack_base = base};
}

}  // namespace hocket_test
