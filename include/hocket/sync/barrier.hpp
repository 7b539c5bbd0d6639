// A barrier: a number of parties that wait for each other, phase after phase.
//
//   barrier all(4);
//   auto met = co_await all.arrive_and_wait(); // result<barrier::arrival>: when all four have come
//   if (!met) return met.error();              // the wait was cancelled or timed out: the arrival is taken back
//   if (met->last) swap_buffers();             // one of the four: the one who came last
//   co_await all.arrive_and_wait();            // so that the others do not go on before the buffers are swapped
//
// Guarantees. A phase ends when as many have arrived as there are parties; then all who wait go on, in any order, and
// the next phase has begun. Exactly one arrival of each phase is told that it was the last. It does not wait, and runs
// beside the others from then on: what they are not to see half done, they wait for in a phase of its own. What was
// done before an arrival is visible to all who go through its phase. No arrival runs foreign code.
//
// arrive() does not wait: it counts for the phase under way, and whoever says it comes again in a later one.
// arrive_and_drop() does the same and leaves: from this phase on there is one party less. When all have dropped out,
// the barrier is used up.
//
// A wait that is cancelled, times out or is killed takes its arrival back, and nothing else is changed: the others go
// on waiting, until it comes again, or somebody drops out for it (arrive_and_drop). That is exact: if the phase ends at
// the same time, one of the two comes first; an error says that the arrival was taken back, and who had arrived when
// the phase ended is told so, though it was cancelled then. Therefore an arrival cannot stand in a select, which could
// not tell.
//
// A barrier for no party, and an arrival when all parties have dropped out, are fatal, and so is a barrier destroyed
// while somebody waits (at check level `debug`). A party that arrives twice in a phase without waiting cannot be found:
// it counts for another. The barrier outlives every arrival; whoever returns from it last may destroy it. Each arrival
// takes an inner mutex for a few operations, the last one for a few for each who waits; it wakes them outside of it.
// unsync::barrier is for one thread; see core/detail/strength.hpp.
//
// How. All is guarded by the inner mutex. A wait that is under way stands in the line, and counts as one arrival; so a
// wait that leaves the line takes one back. The phase ends at the arrival that makes them as many as the parties: it
// marks every linked waiter as passed, claims the waits under the mutex, and posts the grants after it. If a stop ended
// a wait before, the wait finds the mark (has_it() in core/detail/operation.hpp), and its detach() undoes no arrival.
// No coroutine resumes before the mutex is unlocked, so a resumed coroutine may destroy the barrier.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/core/detail/strength.hpp>
#include <hocket/core/detail/wait_queue.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_barrier final : private primitive::wait_source {
  class arriving;

 public:
  static constexpr std::size_t max = static_cast<std::size_t>(-1) >> 1;

  // What an arrival is told.
  struct arrival {
    bool last;  // it ended the phase
  };

  explicit basic_barrier(std::size_t parties) noexcept : parties_(parties) {
    detail::expects(parties > 0, "a barrier was made for no party", "say how many will arrive in each phase");
    detail::expects(parties <= max, "a barrier was made for more parties than it can count",
                    "a negative number, perhaps? The limit is barrier::max");
  }
  basic_barrier(const basic_barrier&) = delete;
  basic_barrier& operator=(const basic_barrier&) = delete;
  ~basic_barrier() {
    detail::debug_expects(line_.empty(), "a barrier was destroyed while somebody waits at it",
                          "let it outlive the waits: let the phase end, or cancel those who wait, first");
  }

  // Arrives when it is awaited, and waits for the end of the phase: result<arrival>.
  [[nodiscard]] primitive::operation<arriving> arrive_and_wait(call_site at = this_call_site()) noexcept {
    return primitive::operation<arriving>(std::in_place, at, *this);
  }

  // Any thread. Arrives and does not wait.
  arrival arrive() noexcept { return come(false); }

  // Any thread. The same, and is no party any more.
  arrival arrive_and_drop() noexcept { return come(true); }

 private:
  arrival come(bool drops) noexcept;
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
  std::size_t arrived_ = 0;    // in this phase; fewer than the parties
  primitive::wait_queue line_;  // of the parties that wait
};

template <class Strength>
class basic_barrier<Strength>::arriving {
 public:
  using value_type = arrival;
  explicit arriving(basic_barrier& at) noexcept : at_(&at) {}
  static constexpr bool try_now() noexcept { return false; }  // begin() arrives, in one step with getting in line
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { at_->begin(wait, entry, *this); }
  bool has_it() const noexcept { return passed_; }
  result<arrival> take() noexcept { return arrival{last_}; }

 private:
  friend class basic_barrier;
  basic_barrier* at_;
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
