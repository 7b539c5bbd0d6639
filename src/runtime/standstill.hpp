// A standstill: the workers of a pool stop between two coroutines, so that whoever is_requested can look at what they
// know.
//
//   whoever asks (one at a time: mutex_)          a worker, before each turn
//   1. begin(): the next phase, an odd number     1. halt(): it is odd: notes that it stands for this phase
//   2. nudges all workers                         2. sleeps until the phase changes
//   3. wait_stopped(): until the worker stands for
//      this phase, or the time is over
//   4. looks
//   5. end(): the phase becomes even
//
// A worker that does not come back from a coroutine does not come: what it may touch is not to be looked at then. If it
// comes too late it stands for a phase that is over, and nobody takes that for his own.
//
// The nudge may come between 1. and the worker's look at its inbox, which uses it up. So a worker looks once more,
// after that and before it sleeps: is_requested().
//
// What a worker did before it stands is visible to whoever is_requested, and what he did to the worker, to that. A
// worker that asks itself stands already; while it waits for its turn to ask (try_begin()), it halts for the others.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <hocket/base/seam/mutex.hpp>
#include <hocket/base/seam/time_point.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class standstill {
 public:
  // Of one worker: for which phase it stands.
  using mark = atomic<std::uint32_t>;

  // A worker, where it resumes no coroutine.
  void halt(mark& self) noexcept {
    if (is_requested()) [[unlikely]]
      wait(self);
  }
  // Whether it is to halt. After it has taken a nudge, that of whoever is_requested is told so.
  bool is_requested() const noexcept {
    // ORDER: relaxed, pairs with nothing: a look that costs nothing; the nudge that follows the phase orders it.
    return phase_.load(std::memory_order_relaxed) % 2 != 0;
  }

  // Whoever asks: the phase; 0 if somebody else asks.
  [[nodiscard]] std::uint32_t try_begin() noexcept;
  [[nodiscard]] std::uint32_t begin() noexcept;
  [[nodiscard]] static bool wait_stopped(const mark& worker, std::uint32_t phase, time_point until) noexcept;
  void end() noexcept;

  // Keeps a standstill from beginning until allow(). False: one is under way.
  [[nodiscard]] bool try_prevent() noexcept { return mutex_.try_lock(); }
  void allow() noexcept { mutex_.unlock(); }

 private:
  [[HOCKET_NOINLINE]] void wait(mark& self) noexcept;
  std::uint32_t next_phase() noexcept;

  thread_mutex mutex_;
  atomic<std::uint32_t> phase_{0};
};

}}}  // namespace hocket::detail
