// A standstill: the workers of a pool stop between two coroutines, so that another thread can read their state.
//
// # Protocol
//
//   the requester (one at a time: mutex_)           a worker, before each turn
//   1. begin(): the phase becomes odd               1. halt(): if the phase is odd, the worker stores the phase in its
//   2. nudges all workers                              own mark
//   3. wait_stopped(), for each worker: until its   2. the worker sleeps until the phase changes
//      mark equals the phase, or `until` has passed
//   4. reads the state of the stopped workers
//   5. end(): the phase becomes even
//
// Visibility. Writes of a worker before its stop are visible to the requester when wait_stopped() returns true. Writes
// of the requester before end() are visible to a stopped worker when halt() returns.
//
// A worker that is the requester counts as stopped: worker_list does not call wait_stopped() for this worker. While a
// worker waits to become the requester, it calls halt() between two try_begin(), for the present requester.
//
// # Hazards
//
// - A worker inside a coroutine does not stop. Read nothing that this worker may write, except atomics and data under a
//   mutex that you hold.
// - If a worker stores its mark after the requester has given up, the mark is the number of an earlier phase, or the
//   worker is recorded as not stopped (worker::record_stop()). Later requesters wait for another number.
// - If the nudge arrives between step 1 of a worker and its check of the inbox, then the check consumes the nudge. The
//   worker would sleep without storing its mark, so the requester would count it as not stopped. Prevented by
//   is_requested(): the worker calls it after the check and before it sleeps.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/time_point.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class standstill {
 public:
  // The mark of a worker: the last phase for which it has stopped.
  using mark = atomic<std::uint32_t>;

  // Stops the calling worker until the standstill ends; without a standstill it returns at once. Call it between two
  // coroutines. The coroutine that dumps is an exception (worker_list::bring_to_a_standstill()): it runs no code of its
  // own during the call, so it changes nothing that the requester reads.
  void halt(mark& self) noexcept {
    if (is_requested()) [[unlikely]]
      wait(self);
  }
  // Whether workers must halt. A worker that has consumed the nudge of a requester reads true until end().
  bool is_requested() const noexcept {
    // ORDER: relaxed, pairs with nothing: a cheap check; the nudge that follows the phase orders it.
    return phase_.load(std::memory_order_relaxed) % 2 != 0;
  }

  // Make the calling thread the requester, and return the phase. begin() blocks while another thread is the requester
  // or prevents a standstill; try_begin() returns 0 then. A worker must not call begin(): it would not halt for the
  // present requester.
  [[nodiscard]] std::uint32_t try_begin() noexcept;
  [[nodiscard]] std::uint32_t begin() noexcept;
  // By the requester. False: `until` has passed, and the worker has not stopped.
  [[nodiscard]] static bool wait_stopped(const mark& worker, std::uint32_t phase, time_point until) noexcept;
  // By the requester. The stopped workers continue.
  void end() noexcept;

  // Prevents the start of a standstill until allow(). False: one is in progress, or another thread prevents.
  [[nodiscard]] bool try_prevent() noexcept { return mutex_.try_lock(); }
  void allow() noexcept { mutex_.unlock(); }

 private:
  [[HOCKET_NOINLINE]] void wait(mark& self) noexcept;
  std::uint32_t next_phase() noexcept;

  thread_mutex mutex_;
  atomic<std::uint32_t> phase_{0};
};

}}}  // namespace hocket::detail
