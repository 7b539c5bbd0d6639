// What the handler of a stall was details, with functions in place of addresses.
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/kernel_copies.hpp"

#include <array>
#include <chrono>
#include <coroutine>
#include <csignal>
#include <cstdint>
#include <unwind.h>
#include <vector>

namespace hocket_test {

// Whether this build knows callers: the first of them, else the interrupted function alone.
#if defined(__GLIBC_PREREQ)
#if __GLIBC_PREREQ(2, 35) && (defined(__clang__) || __GNUC__ >= 12)
inline constexpr bool knows_callers = true;
#else
inline constexpr bool knows_callers = false;
#endif
#endif

// ThreadSanitizer delays signals until the interrupted code calls a function that it knows; where the kernel copies no
// memory, the program is emulated.
inline bool has_stacks() {
  return hocket::detail::sanitizer != hocket::detail::sanitizer_kind::tsan && kernel_copies();
}

inline const void* function_at(const void* address) {
  return _Unwind_FindEnclosingFunction(const_cast<void*>(address));
}

struct stall_report {
  static constexpr std::size_t most = 64;
  std::array<const void*, most> frames{}, awaiters{};
  std::size_t frame_count = 0, awaiter_count = 0;
  int reports = 0;

  void take(const hocket::stall& details) noexcept {
    frame_count = details.frames.size();
    awaiter_count = details.awaiters.size();
    for (std::size_t i = 0; i < frame_count; ++i) frames[i] = details.frames[i];
    for (std::size_t i = 0; i < awaiter_count; ++i) awaiters[i] = details.awaiters[i];
    __atomic_fetch_add(&reports, 1, __ATOMIC_RELEASE);
  }
  // The functions of the frames, innermost first.
  std::vector<const void*> functions() const {
    std::vector<const void*> found;
    for (std::size_t i = 0; i < frame_count; ++i)
      found.push_back(function_at(static_cast<const char*>(frames[i]) - (i == 0 ? 0 : 1)));
    return found;
  }
  std::vector<const void*> waiting() const {
    return std::vector<const void*>(awaiters.begin(), awaiters.begin() + static_cast<std::ptrdiff_t>(awaiter_count));
  }
};

// Whether the functions `ours` of a report are `expected`. Where a compiler makes no tail call of a transfer, the tasks
// that await are native callers, too: they follow in the order of their chain.
inline bool is_chain(std::vector<const void*> ours, std::vector<const void*> expected,
                     const std::vector<const void*>& awaiters) {
  if (ours.size() > expected.size()) expected.insert(expected.end(), awaiters.begin(), awaiters.end());
  return ours == expected;
}

// The report of the present test; its coroutines return when there is one.
inline stall_report* current_report = nullptr;
inline void take_report(const hocket::stall& details) noexcept { current_report->take(details); }
// Calls no function at -O0 either (std::atomic's load is one there): the interrupted function is the one that waits.
[[gnu::always_inline]] inline bool is_reported() {
  return __atomic_load_n(&current_report->reports, __ATOMIC_ACQUIRE) != 0;
}
[[gnu::noinline]] inline void hold_until_reported() {
  while (!is_reported()) asm volatile("" ::: "memory");
  asm volatile("");
}

inline hocket::runtime_options reporting(int signal = SIGURG) {
  return {.workers = 1, .stall_limit = std::chrono::milliseconds(5), .on_stall = &take_report, .stall_signal = signal};
}

// co_await own_function(at): notes the function that resumes the coroutine.
struct own_function : hocket::detail::own_awaiter {
  explicit own_function(const void*& place) noexcept : at(place) {}
  const void*& at;
  bool await_ready() const noexcept { return false; }
  bool await_suspend(std::coroutine_handle<> self) const noexcept {
    at = *static_cast<const void* const*>(self.address());
    return false;
  }
  void await_resume() const noexcept {}
};

}  // namespace hocket_test
