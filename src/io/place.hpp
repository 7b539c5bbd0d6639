// Who waits, and which thread polls: loops, runtimes and plain threads, known by their addresses.
#pragma once
#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Whose event loop the calling thread runs; of a plain thread, where it has its driver. Null: it has none yet.
inline const void* current_owner() noexcept {
  const executor_binding& binding = this_thread().binding;
  return binding.ready ? static_cast<const void*>(binding.running_on) : in_current_slot<thread_slot::driver>();
}

// The same, but all workers of a runtime are one.
inline const void* current_group() noexcept {
  const executor_binding& binding = this_thread().binding;
  return binding.pool ? static_cast<const void*>(binding.pool) : current_owner();
}

}}}  // namespace hocket::detail
