// What a thread that runs coroutines does now and then: it gives back memory that it has not needed for a while.
//
// Core gives back frames (frame_memory.hpp). A layer that core does not know gives back stacks: it registers one
// housekeeper for the process.
//
// An executor has a `house`, and asks it before its thread sleeps. The house is no timer: it is attached to nothing,
// holds no loop open, and needs no end.
//
// The gate. Most sleeps have nothing to give back, so keep() reads no clock and takes no lock unless something may be
// due. The house remembers when the last look said that something will be due. keep() looks again if
//   - a reading of the clock that the caller has anyway is not before that time, or
//   - the sleep before ended by itself (ask()), and the clock, which keep() reads then, says that the time has come, or
//   - there is news: the thread has begun to keep memory since the last look found none, other threads are short of
//     stacks that this one keeps free, or the terms of the decay have changed. News is a number that has changed.
// Hazard: if a thread keeps memory that no look has seen, then nobody wakes the thread to give the memory back.
// Prevented by news: a thread that kept nothing at its last look has news as soon as it keeps something, and a thread
// that kept something has a time at which the next look sees the rest.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/atomic.hpp>
#include <hocket/core/thread/detail/reclaim_policy.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Each for the calling thread.
struct housekeeper {
  // A number that is another one if there is news, and on another thread. A few instructions.
  std::uint64_t (*generation)() noexcept;
  // Does what is due by that clock, for a millisecond or so. Returns in what time it wants to be called again;
  // duration::max() if not before there is news.
  duration (*reclaim_if_due)(const clock_source& time) noexcept;
};

// Any thread. `of` lives for ever.
void register_housekeeper(const housekeeper& registered) noexcept;

// One executor's.
class memory_reclaimer {
 public:
  explicit memory_reclaimer(const clock_source& time) noexcept : time_(time) {}
  memory_reclaimer(const memory_reclaimer&) = delete;
  memory_reclaimer& operator=(const memory_reclaimer&) = delete;

  // The executor's thread, between two resumes, before it sleeps. `present` is a reading of the clock, of any age.
  // Returns when the thread wants to come back; time_point::max(): no need.
  time_point reclaim_if_due(time_point now) noexcept {
    if (now < gate_ && generation() == reclaimed_generation_) [[likely]]
      return due_;
    return reclaim_by_clock();
  }

  // The same where nobody knows the time.
  time_point reclaim() noexcept;

  // The last sleep ended by itself: if something was to be due, keep() reads the clock.
  void expect_due() noexcept {
    if (due_ != time_point::max()) gate_ = time_point::min();
  }

  // Bytes of frames that the thread kept at the last look. Any thread.
  // ORDER: relaxed, pairs with nothing: a number for people.
  std::size_t frames() const noexcept { return frames_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t generation() const noexcept;
  [[HOCKET_COLD, HOCKET_NOINLINE]] time_point reclaim_by_clock() noexcept;

  const clock_source& time_;
  time_point due_ = time_point::max();
  time_point gate_ = time_point::min();  // before it nothing is due; min(): the clock is to be asked
  time_point next_check_ = time_point::min();
  std::uint64_t reclaimed_generation_ = 0;  // what news() was after the last look
  atomic<std::size_t> frames_{0};
};

inline std::uint64_t memory_reclaimer::generation() const noexcept {
  // ORDER: relaxed, pairs with the fetch_add in bump_policy_version(): a hint, the depots have the terms themselves.
  const std::uint64_t own =
      this_thread().frame_generation + process_reclaim_policy.version.load(std::memory_order_relaxed);
  // ORDER: acquire, pairs with the store in register_housekeeper().
  const housekeeper* const registered = process_reclaim_policy.registered.load(std::memory_order_acquire);
  return registered ? own + registered->generation() : own;
}

}}}  // namespace hocket::detail
