// The events of coroutines for observers (core/observer.hpp). For authors of coroutine kinds:
//
//   if (observed()) [[unlikely]] notify_destroyed(id);
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/observer.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The number of observers, and in the upper half that of slots with hooks (core/wait/seam/coroutine_slot.hpp).
extern atomic<std::uint64_t> observer_count;

// Whether there is an observer, or a slot with hooks.
inline bool observed() noexcept {
  // ORDER: relaxed, pairs with nothing: a hint. The observers are read with the orders that this needs. A coroutine
  // finds its own slots, because it has counted them itself.
  return observer_count.load(std::memory_order_relaxed) != 0;
}

[[HOCKET_COLD]] void notify_created(coroutine_id id, const coroutine_info& info) noexcept;
[[HOCKET_COLD]] void notify_resumed(coroutine_id id) noexcept;
[[HOCKET_COLD]] void notify_destroyed(coroutine_id id) noexcept;

}}}  // namespace hocket::detail
