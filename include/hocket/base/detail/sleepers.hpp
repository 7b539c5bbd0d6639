// How many threads sleep for a thread_mutex (base/seam/mutex.hpp), counted apart from the mutexes: in a small table,
// by the mutex's address. So an unlock reads nothing of the mutex afterwards, which may be gone by then. While a
// thread sleeps for a mutex, unlocks of all mutexes with this count take the way that wakes.
//
// In a child by fork() nobody sleeps: the counts begin anew.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline constexpr unsigned sleeper_count_bits = 6;
struct alignas(64) sleeper_table {
  atomic<std::uint32_t> counts[std::size_t{1} << sleeper_count_bits];
};
extern sleeper_table sleepers;

// Any address. By multiplication (Knuth), since objects that lie at equal distances would have few counts otherwise.
inline atomic<std::uint32_t>& sleepers_near(const void* address) noexcept {
  const auto number = static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(address));
  return sleepers.counts[(number * 0x9e37'79b9'7f4a'7c15) >> (64 - sleeper_count_bits)];
}

// For the child of a fork.
void forget_sleepers() noexcept;

}}}  // namespace hocket::detail
