// The threads of a blocking_pool. For the model checker there is another file of this name, with the checker's threads
// (tests/model/shim): so the checker runs the pool itself.
#pragma once
#include <hocket/base/seam/asleep.hpp>
#include <thread>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using system_thread = std::thread;

// Whoever stops all threads need not wait for the one that joins.
inline void join(system_thread& ended) noexcept {
  asleep([&] { ended.join(); });
}

inline bool is_current(const system_thread& thread) noexcept { return thread.get_id() == std::this_thread::get_id(); }

}}}  // namespace hocket::detail
