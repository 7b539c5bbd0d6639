// Which coroutines a runtime admits, and how many of them have not ended.
//
// A worker counts the coroutines that enter and leave on its thread (worker.hpp); other threads count here.
//
// States of the gate: open -> children_only -> closed. In the second state children of scopes are admitted, because
// they belong to coroutines that were admitted before. If a coroutine ends while the gate is open, notify_end()
// notifies no waiter. A light and a heavy fence order the two sides (notify_end(), refuse()).
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/core/spawn/seam/daemon_group.hpp>

#include "runtime/worker_list.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class admission : public worker_list {
 public:
  using worker_list::worker_list;

  // `are_children`: the coroutines belong to a scope.
  std::error_code enroll(std::size_t count, bool are_children) noexcept {
    if (!is_admitted(are_children)) [[unlikely]]
      return make_error_code(errc::cancelled);
    if (worker* const owner = present_worker()) {
      owner->count_entered(count);
      return {};
    }
    expect_threads();
    // ORDER: relaxed, pairs with nothing: the coroutine itself is handed over by post().
    entered_.fetch_add(count, std::memory_order_relaxed);
    return {};
  }
  void leave() noexcept {
    if (worker* const owner = present_worker()) owner->count_departed();
    // ORDER: release, pairs with the load in others().
    else departed_.fetch_add(1, std::memory_order_release);
    notify_end();
  }
  std::error_code enroll_daemons(std::size_t count, bool are_children) noexcept {
    if (!is_admitted(are_children)) return make_error_code(errc::cancelled);
    expect_threads();
    daemons_.enter(count);
    return {};
  }
  void leave_daemon() noexcept {
    daemons_.leave();
    notify_end();
  }

  // The number of coroutines that have not ended: all, without daemons, daemons.
  std::size_t live() const noexcept {
    return daemons_.plus([this]() noexcept { return others(); });
  }
  std::size_t others() const noexcept;
  std::size_t daemons() const noexcept { return daemons_.size(); }
  bool is_empty() const noexcept { return live() == 0; }
  bool is_drained() const noexcept { return others() == 0; }

  // From now on no coroutine is admitted, except children of scopes. `children`: no child either.
  void refuse(bool children) noexcept;
  // After refuse(): waits until is_empty() or is_drained(). False: the time is over.
  [[nodiscard]] bool wait_until(bool (admission::*condition)() const noexcept, time_point until) noexcept;

 private:
  enum class gate : std::uint8_t { open, children_only, closed };

  bool is_admitted(bool are_children) const noexcept {
    // ORDER: relaxed, pairs with the store in refuse().
    const gate admits = admits_.load(std::memory_order_relaxed);
    return admits == gate::open || (admits != gate::closed && are_children);
  }
  void notify_end() noexcept {
    light_fence();
    // ORDER: relaxed, pairs with the store in refuse(): the fences order it.
    if (admits_.load(std::memory_order_relaxed) == gate::open) [[likely]]
      return;
    // ORDER: release, pairs with the load in wait_until(): the count is visible.
    ends_.fetch_add(1, std::memory_order_release);
    futex_wake_all(ends_);
  }

  alignas(cache_line_size) atomic<std::size_t> entered_{0};  // by other threads than the workers
  alignas(cache_line_size) atomic<gate> admits_{gate::open};
  atomic<std::uint32_t> ends_{0};    // while the gate is not open: changes with each end of a coroutine
  atomic<std::size_t> departed_{0};  // by other threads than the workers
  daemon_count daemons_;
};

}}}  // namespace hocket::detail
