// What a worker's queues are asked for by others.
#pragma once
#include <hocket/base/detail/atomic.hpp>
#include <cstddef>

namespace hocket::inline HOCKET_ABI::detail {

enum class demand : std::uint8_t { none, surplus, anything };

// Whether a queue with `size` entries has something for it: of a surplus the last entry is not a part.
inline bool meets(demand wanted, std::size_t size) noexcept {
  return wanted != demand::none && size >= (wanted == demand::surplus ? 2u : 1u);
}

}  // namespace hocket::inline HOCKET_ABI::detail
