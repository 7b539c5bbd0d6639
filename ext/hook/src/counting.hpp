// The counters of collect_statistics(). Each thread adds to one of a few sets, so workers seldom share a cache line.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/cache_line.hpp>
#include <hocket/base/seam/platform/config.hpp>
#include <hocket/core/thread/seam/current.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

enum class counted : std::uint8_t { calls, waits, pooled };

using counter_set = std::array<primitive::atomic<std::uint64_t>, 3>;  // by `counted`
extern std::array<hocket::detail::padded<counter_set>, 16> counter_sets;

inline void count(counted event) noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(&hocket::detail::this_thread());
  counter_set& own = *counter_sets[(address >> 12) % counter_sets.size()];
  // ORDER: relaxed, pairs with nothing: statistics.
  own[static_cast<std::size_t>(event)].fetch_add(1, std::memory_order_relaxed);
}

}}}  // namespace hocket::hook
