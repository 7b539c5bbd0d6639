// The counters of collect_statistics(). Each thread adds to one of a few sets, so workers seldom share a cache line.
#pragma once
#include <cstdint>

#include <hocket/base/detail/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

enum class counted : std::uint8_t { calls, waits, pooled };
void count(counted what) noexcept;

}}}  // namespace hocket::hook
