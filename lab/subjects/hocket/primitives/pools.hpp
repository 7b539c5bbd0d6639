#pragma once
// A connection pool of the page `primitives` for hocket.
#include <hocket/pool/connection_pool.hpp>

#include <atomic>

#include "../world.hpp"
#include "primitives/primitives.hpp"

namespace lab {

struct idle_connection {
  hocket::connection_state state() const noexcept { return hocket::connection_state::idle; }
  bool is_idle() noexcept { return true; }
};

inline hocket::task<hocket::result<idle_connection>> connect_idle() { co_return idle_connection(); }

template <bool Yields>
bool borrow_connections(const load& r, std::uint64_t k) {
  hocket::connection_pool<idle_connection> pool(workers(), &connect_idle, {.limit = pooled_connections});
  std::atomic<std::uint64_t> counter{0};
  many(static_cast<int>(r.count), [&](int) -> coroutine {
    for (std::uint64_t turns = k / r.count; turns; --turns) {
      auto lent = LAB_AWAIT(pool.acquire());
      if (!lent) break;
      counter.fetch_add(1, std::memory_order_relaxed);
      if constexpr (Yields) LAB_AWAIT(hocket::yield());
    }
    LAB_END;
  });
  return counter == k;
}

}  // namespace lab
