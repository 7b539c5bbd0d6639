// The threads of a runtime and of a blocking_pool. For the model checker there is another file of this name, with the
// checker's threads (tests/model/shim). So the checker runs the code of the blocking_pool.
#pragma once
#include <hocket/base/seam/asleep.hpp>
#include <thread>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using system_thread = std::thread;

// Waits for the end of the thread. The calling thread counts as asleep meanwhile, so a collector that stops all threads
// does not wait for it.
inline void join(system_thread& ended) noexcept {
  asleep([&] { ended.join(); });
}

inline bool is_current(const system_thread& thread) noexcept { return thread.get_id() == std::this_thread::get_id(); }

}}}  // namespace hocket::detail
