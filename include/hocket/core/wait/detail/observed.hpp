// The events of a wait for observers (core/observer.hpp), beside seam/observed.hpp.
#pragma once
#include <hocket/core/wait/seam/observed.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline bool has_observers() noexcept {
  // ORDER: relaxed, pairs with nothing: as in observed().
  return static_cast<std::uint32_t>(observer_count.load(std::memory_order_relaxed)) != 0;
}

void add_hooked_slot() noexcept;
void remove_hooked_slot() noexcept;

[[HOCKET_COLD]] void notify_suspended(coroutine_id id, const wait_info& info) noexcept;
[[HOCKET_COLD]] void notify_woken(coroutine_id id) noexcept;

}}}  // namespace hocket::detail
