// The limits of lookup_threads() (detached_threads.hpp).
#pragma once
#include <hocket/runtime/seam/detached_threads.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline constexpr std::size_t max_lookups = 32;  // at once; half of the threads of a blocking_pool
inline constexpr std::size_t max_queued_lookups = 10'000;

}}}  // namespace hocket::detail
