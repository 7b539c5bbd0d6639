// Housekeeping: a thread that runs coroutines returns memory that it has not needed for a period of decay.
//
// Core returns frames (frame_memory.hpp). The fiber layer returns stacks: it registers one housekeeper for the process.
//
// An executor has a memory_reclaimer, and calls it before its thread sleeps. It is no timer: it is attached to nothing,
// holds no loop open, and needs no end.
//
// # The gate
//
// Before most sleeps there is nothing to return. So reclaim_if_due() reads no clock and takes no lock unless something
// may be due. The reclaimer remembers when the last reclaim() said that something will be due. reclaim_if_due()
// reclaims again if
//   - a clock reading that the caller has anyway is not before that time, or
//   - the last sleep ended by itself (expect_due()), and the clock, which reclaim_if_due() then reads, has reached that
//     time, or
//   - the generation has changed: the thread has begun to cache memory since the last reclaim() found none, other
//     threads are short of stacks that this thread caches, or the policy of the decay has changed.
//
// Hazard: if a thread caches memory that no reclaim() has counted, then it would sleep without a time to return the
// memory. Prevented by the generation: if a thread cached nothing at the last reclaim(), then its first cached memory
// changes the generation. If it cached something, then the next reclaim() has a time, and counts the rest.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/thread/detail/reclaim_policy.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A housekeeper. Its functions are for the calling thread.
struct housekeeper {
  // A number that changes if there is something new to reclaim, and differs between threads. A few instructions.
  std::uint64_t (*generation)() noexcept;
  // Returns the memory that is due by this clock; takes about a millisecond at most. Returns the time until the next
  // call; duration::max(): not before the generation changes.
  duration (*reclaim_if_due)(const clock_source& time) noexcept;
};

// Any thread. `registered` is never destroyed.
void register_housekeeper(const housekeeper& registered) noexcept;

// The reclaimer of one executor.
class memory_reclaimer {
 public:
  explicit memory_reclaimer(const clock_source& time) noexcept : time_(time) {}
  memory_reclaimer(const memory_reclaimer&) = delete;
  memory_reclaimer& operator=(const memory_reclaimer&) = delete;

  // Called on the executor's thread, between two resumes, before it sleeps. `now` is a clock reading of any age.
  // Returns the time of the next call; time_point::max(): none.
  time_point reclaim_if_due(time_point now) noexcept {
    if (now < gate_ && generation() == reclaimed_generation_) [[likely]]
      return due_;
    return reclaim_by_clock();
  }

  // Reclaims now. Returns the time of the next call.
  time_point reclaim() noexcept;

  // Called after a sleep that ended by itself: if something was going to be due, reclaim_if_due() reads the clock.
  void expect_due() noexcept {
    if (due_ != time_point::max()) gate_ = time_point::min();
  }

  // Bytes of frames that the thread cached at the last reclaim(). Any thread.
  // ORDER: relaxed, pairs with nothing: a statistic.
  std::size_t frames() const noexcept { return frames_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t generation() const noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] time_point reclaim_by_clock() noexcept;

  const clock_source& time_;
  time_point due_ = time_point::max();
  time_point gate_ = time_point::min();  // before it nothing is due; min(): read the clock
  time_point next_check_ = time_point::min();
  std::uint64_t reclaimed_generation_ = 0;  // the generation() after the last reclaim()
  atomic<std::size_t> frames_{0};
};

inline std::uint64_t memory_reclaimer::generation() const noexcept {
  // ORDER: relaxed, pairs with the fetch_add in bump_policy_version(): a hint; the depots have the policy itself.
  const std::uint64_t own =
      this_thread().frame_generation + process_reclaim_policy.version.load(std::memory_order_relaxed);
  // ORDER: acquire, pairs with the store in register_housekeeper().
  const housekeeper* const registered = process_reclaim_policy.registered.load(std::memory_order_acquire);
  return registered ? own + registered->generation() : own;
}

}}}  // namespace hocket::detail
