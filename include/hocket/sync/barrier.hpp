// A barrier: a number of parties wait for each other, phase after phase.
//
//   barrier all(4);
//   auto met = co_await all.arrive_and_wait(); // result<barrier::arrival>: when all four have arrived
//   if (!met) return met.error();              // the wait was cancelled or timed out: the arrival is undone
//   if (met->last) swap_buffers();             // true for the last arrival of the four
//   co_await all.arrive_and_wait();            // so that no party continues before the buffers are swapped
//
// Guarantees.
//   - A phase ends when as many parties have arrived as the barrier has. Then all waiters resume, in any order, and the
//     next phase has begun.
//   - Exactly one arrival of each phase is `last`. The last party does not wait, and runs beside the others. If the
//     others must not see its work half done, they wait for another phase.
//   - Everything before an arrival is visible to all parties that pass its phase.
//   - No arrival runs foreign code.
//
// arrive() counts for the current phase and does not wait. The party arrives again in a later phase. arrive_and_drop()
// counts, too, and leaves: from this phase on there is one party less. After all parties have dropped out, the barrier
// is used up.
//
// Cancellation. If a wait is cancelled, times out or is killed, its arrival is undone, and nothing else changes: the
// other waiters wait until the party arrives again, or until arrive_and_drop() is called for it. This is exact even if
// the phase ends at the same time: an error means that the arrival was undone, and a party that had arrived when the
// phase ended gets its arrival, though it was cancelled then. A select could not report that, so no select takes an
// arrival.
//
// Errors. These are fatal: a barrier for no party, an arrival after all parties have dropped out, and, at check level
// `debug`, destroying a barrier that has a waiter. If a party arrives twice in a phase without waiting, it counts for
// another party, and no check finds it.
//
// Lifetime. The barrier outlives every arrival. The party whose arrival returns last may destroy it.
//
// Cost. Each arrival holds an inner mutex for a few operations, the last arrival for a few per waiter. It wakes the
// waiters after the unlock.
//
// unsync::barrier is for one thread; see core/wait/seam/strength.hpp.
//
// Implementation. The inner mutex guards everything. A linked waiter counts as one arrival, so a waiter that leaves the
// queue undoes one. The phase ends at the arrival that makes the count equal to the parties. This arrival marks every
// linked waiter as passed, claims the waits under the mutex, and posts the grants after it. If a stop ended a wait
// before, the wait finds the mark (has_it() in core/wait/seam/operation.hpp), and its detach() undoes no arrival. No
// coroutine resumes before the mutex is unlocked, so a resumed coroutine may destroy the barrier.
#pragma once
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/primitive.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_barrier final : private primitive::wait_source {
  class arriving;

 public:
  static constexpr std::size_t max = static_cast<std::size_t>(-1) >> 1;

  // The result of an arrival.
  struct arrival {
    bool last;  // this arrival ended the phase
  };

  explicit basic_barrier(std::size_t parties) noexcept : parties_(parties) {
    detail::expects(parties > 0, "a barrier was made for no party", "say how many will arrive in each phase");
    detail::expects(parties <= max, "a barrier was made for more parties than it can count",
                    "a negative number, perhaps? The limit is barrier::max");
  }
  basic_barrier(const basic_barrier&) = delete;
  basic_barrier& operator=(const basic_barrier&) = delete;
  ~basic_barrier() {
    detail::debug_expects(waiters_.empty(), "a barrier was destroyed while it has a waiter",
                          "let it outlive the waits: let the phase end, or cancel the waiters, first");
  }

  // Arrives when the operation is awaited, and waits for the end of the phase: result<arrival>.
  [[nodiscard]] primitive::operation<arriving> arrive_and_wait(call_site site = this_call_site()) noexcept {
    return primitive::operation<arriving>(std::in_place, site, *this);
  }

  // Any thread. Arrives and does not wait.
  arrival arrive() noexcept { return count_arrival(false); }

  // Any thread. Arrives, does not wait, and removes the party.
  arrival arrive_and_drop() noexcept { return count_arrival(true); }

 private:
  arrival count_arrival(bool drops) noexcept;
  void begin(primitive::suspension& wait, primitive::waiter& entry, arriving& request) noexcept;
  void expect_party() const noexcept;
  void end_phase(primitive::grants& passed) noexcept;
  static arriving& request_of(primitive::waiter& entry) noexcept { return *static_cast<arriving*>(entry.resource); }

  const char* what() const noexcept override { return "a barrier"; }
  bool detach(primitive::waiter& entry) noexcept override;
  void pass_on(primitive::waiter&) noexcept override {}

  typename Strength::mutex mutex_;
  // Guarded by mutex_.
  std::size_t parties_;
  std::size_t arrived_ = 0;  // in this phase; less than parties_
  primitive::wait_queue waiters_;
};

template <class Strength>
class basic_barrier<Strength>::arriving {
 public:
  using value_type = arrival;
  explicit arriving(basic_barrier& source) noexcept : barrier_(&source) {}
  static constexpr bool try_now() noexcept { return false; }  // begin() arrives and links the waiter in one step
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { barrier_->begin(wait, entry, *this); }
  bool has_it() const noexcept { return passed_; }
  result<arrival> take() noexcept { return arrival{last_}; }

 private:
  friend class basic_barrier;
  basic_barrier* barrier_;
  detail::op_flag passed_;  // the phase ended after the arrival
  detail::op_flag last_;
};

extern template class basic_barrier<strength::shared>;
extern template class basic_barrier<strength::unsync>;

using barrier = basic_barrier<strength::shared>;
namespace unsync {
using barrier = basic_barrier<strength::unsync>;
}

}}  // namespace hocket
