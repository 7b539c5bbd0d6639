// The owners of drivers: loops, workers and plain threads, identified by their addresses; and the groups that wait
// together.
#pragma once
#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Returns the owner of the event loop that the calling thread runs; on a plain thread, the slot of its driver. Null: no
// driver exists yet.
inline const void* current_owner() noexcept {
  const executor_binding& binding = this_thread().binding;
  return binding.ready ? static_cast<const void*>(binding.running_on) : in_current_slot<thread_slot::driver>();
}

// Like current_owner(), but all workers of a runtime are one group.
inline const void* current_group() noexcept {
  const executor_binding& binding = this_thread().binding;
  return binding.pool ? static_cast<const void*>(binding.pool) : current_owner();
}

}}}  // namespace hocket::detail
