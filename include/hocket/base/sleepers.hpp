// How many threads sleep for a thread_mutex (base/mutex.hpp), counted apart from the mutexes: in a small table, by the
// mutex's address. So whoever unlocks one reads nothing of it afterwards, and it may be gone by then. Two mutexes that
// share a counter cost one another a wake that finds nobody.
#pragma once
#include <hocket/base/atomic.hpp>
#include <cstddef>

namespace hocket::inline HOCKET_ABI::detail {

inline constexpr std::size_t sleeper_counts = 64;
extern atomic<std::uint32_t> sleepers[sleeper_counts];

// Any address; the low bits of one tell mutexes apart that lie in one object, those above it objects.
inline atomic<std::uint32_t>& sleepers_near(const void* address) noexcept {
  return sleepers[(reinterpret_cast<std::uintptr_t>(address) >> 6) % sleeper_counts];
}

}  // namespace hocket::inline HOCKET_ABI::detail
