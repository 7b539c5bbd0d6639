// A standstill: the workers of a pool stop between two coroutines, so that another thread can read their state.
//
// # Protocol
//
//   the requester (one at a time: mutex_)         a worker, before each turn
//   1. begin(): the next phase, an odd number     1. halt(): the phase is odd: stores it in its mark
//   2. nudges all workers                         2. sleeps until the phase changes
//   3. wait_stopped(): until the mark of each
//      worker is this phase, or the time is over
//   4. reads the state of the stopped workers
//   5. end(): the phase becomes even
//
// Writes of a worker before its stop are visible to the requester, and writes of the requester to the worker after it.
// If a worker is the requester, it is stopped already. While it waits for its turn as requester (try_begin()), it halts
// for the others.
//
// # Hazards
//
// - A worker inside a coroutine does not stop. Do not read its state. If it stops late, its mark is a phase that is
//   over, and no requester accepts that.
// - If the nudge arrives between step 1 of a worker and its check of the inbox, then the check consumes it, and the
//   worker would sleep during the standstill. Prevented by is_requested(): the worker calls it after the check and
//   before it sleeps.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/time_point.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class standstill {
 public:
  // The mark of a worker: the last phase for which it has stopped.
  using mark = atomic<std::uint32_t>;

  // By a worker, while it resumes no coroutine.
  void halt(mark& self) noexcept {
    if (is_requested()) [[unlikely]]
      wait(self);
  }
  // Whether workers must halt. A worker that has consumed the nudge of a requester reads true.
  bool is_requested() const noexcept {
    // ORDER: relaxed, pairs with nothing: a cheap check; the nudge that follows the phase orders it.
    return phase_.load(std::memory_order_relaxed) % 2 != 0;
  }

  // By the requester. They return the phase; try_begin() returns 0 if another thread is the requester.
  [[nodiscard]] std::uint32_t try_begin() noexcept;
  [[nodiscard]] std::uint32_t begin() noexcept;
  // False: `until` has passed, and the worker has not stopped.
  [[nodiscard]] static bool wait_stopped(const mark& worker, std::uint32_t phase, time_point until) noexcept;
  void end() noexcept;

  // Prevents the begin of a standstill until allow(). False: a standstill is in progress.
  [[nodiscard]] bool try_prevent() noexcept { return mutex_.try_lock(); }
  void allow() noexcept { mutex_.unlock(); }

 private:
  [[HOCKET_NOINLINE]] void wait(mark& self) noexcept;
  std::uint32_t next_phase() noexcept;

  thread_mutex mutex_;
  atomic<std::uint32_t> phase_{0};
};

}}}  // namespace hocket::detail
