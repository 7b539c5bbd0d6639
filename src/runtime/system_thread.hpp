// The threads of a blocking_pool. Under the model checker another file of this name makes them the checker's threads
// (tests/model/shim), so that the pool itself is what is proved.
#pragma once
#include <hocket/base/platform/config.hpp>
#include <thread>

namespace hocket::inline HOCKET_ABI {

using system_thread = std::thread;

inline bool is_current(const system_thread& one) noexcept { return one.get_id() == std::this_thread::get_id(); }

}  // namespace hocket::inline HOCKET_ABI
