// The check of a wait, at check level `debug`: a coroutine holds no checked lock while it waits
// (core/checked_lock.hpp).
#pragma once
#include <hocket/base/seam/call_site.hpp>
#include <hocket/core/thread/seam/current.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A coroutine is about to wait, or to yield: at check level `debug` this thread may hold no checked lock.
[[noreturn, HOCKET_COLD]] void wait_under_lock(const lock_record& held, const context* ctx,
                                               const std::source_location& at) noexcept;
inline void expect_no_lock(const thread_state& thread, [[maybe_unused]] call_site at = {}) noexcept {
  if constexpr (debug_checks && !under_model) {
    if (thread.locks) [[unlikely]]
      wait_under_lock(*thread.locks, thread.ctx, location_of(at));
  }
}

// Like expect_no_lock(), for an await that may complete at once: the check does not depend on that. A plain thread may
// hold a lock.
inline void expect_no_lock_to_await([[maybe_unused]] call_site at = {}) noexcept {
  if constexpr (debug_checks && !under_model) {
    const thread_state& thread = this_thread();
    if (thread.binding.running_on) expect_no_lock(thread, at);
  }
}

}}}  // namespace hocket::detail
