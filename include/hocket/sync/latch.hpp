// A latch: opens when it has been counted down to zero, and stays open.
//
//   latch ready(3);
//   ready.count_down();                        // any thread, a callback: one of three; never waits
//   co_await ready.wait();                     // result<void>: until all three have come
//   co_await ready.arrive_and_wait();          // both in one: counts down, then waits
//
// Guarantees. Whoever is let through sees what was done before every count_down(). count_down() neither suspends nor
// runs foreign code: it is one atomic read-modify-write, and the last one sets the event that all wait for. wait() on
// an open latch is one load. Any number may wait; a latch that begins at zero is open. Who was let through may destroy
// the latch, if nobody else waits or will count down.
//
// A wait can be cancelled and timed out. arrive_and_wait() counts down when it is awaited, whatever becomes of the wait
// then: a count is not taken back. In a select_in_order() it counts down unless an operation that stands before it was
// chosen at once; in a select(), where chance says who comes first, and in each try_select(), it may count down even if
// another one is chosen.
//
// Counting below zero is fatal, and so is a latch destroyed while somebody waits (at check level `debug`). A latch
// is used once; for phase after phase use a barrier. unsync::latch is for one thread; see core/detail/strength.hpp.
//
// How. The counts are read-modify-writes of one word, so the last one is ordered after all others; it alone sets the
// event (sync/detail/event_core.hpp), and touches nothing after that.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/event_core.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_latch final : private detail::event_core<Strength> {
  using base = detail::event_core<Strength>;
  class waiting;
  class arriving;

 public:
  static constexpr std::size_t max = static_cast<std::size_t>(-1) >> 1;

  explicit basic_latch(std::size_t count) noexcept : base(count == 0), left_(count) {
    detail::expects(count <= max, "a latch was to count more than it can",
                    "a negative number, perhaps? The limit is latch::max");
  }
  ~basic_latch() {
    if constexpr (detail::debug_checks && !detail::under_model)
      detail::expects(this->is_deserted(), "a latch was destroyed while somebody waits for it",
                      "let it outlive the waits: count it down, and let those who wait go on first");
  }

  // Any thread. Opens the latch if nothing is left to count.
  void count_down(std::size_t n = 1) noexcept { static_cast<void>(arrive(n)); }

  // Any thread. Whether a wait would not suspend. False may be outdated at once.
  bool is_ready() const noexcept { return this->is_set(); }

  // Waits until it is open: result<void>.
  [[nodiscard]] primitive::operation<waiting> wait(call_site at = this_call_site()) noexcept {
    return primitive::operation<waiting>(std::in_place, at, *this);
  }
  // Counts down when it is awaited, then waits: result<void>.
  [[nodiscard]] primitive::operation<arriving> arrive_and_wait(std::size_t n = 1,
                                                               call_site at = this_call_site()) noexcept {
    return primitive::operation<arriving>(std::in_place, at, *this, n);
  }

 private:
  // True: this was the last, and others who were let through may have destroyed the latch.
  bool arrive(std::size_t n) noexcept {
    // ORDER: acquire and release, pairs with itself: the last one sees what was done before the others, and the event
    // makes that visible to those who wait.
    const std::size_t before = left_.fetch_sub(n, std::memory_order_acq_rel);
    detail::expects(
        n <= before, "a latch was counted down below zero",
        "begin it with as many as will count down, and let each do so once; for several rounds use a barrier");
    if (before != n) return false;
    this->set();
    return true;
  }

  const char* what() const noexcept override { return "a latch"; }

  typename Strength::template word<std::size_t> left_;
};

template <class Strength>
class basic_latch<Strength>::waiting {
 public:
  using value_type = void;
  explicit waiting(basic_latch& what) noexcept : latch_(&what) {}
  bool try_now() noexcept { return latch_->is_ready(); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { latch_->begin(wait, entry); }
  result<void> take() noexcept { return {}; }

 private:
  basic_latch* latch_;
};

template <class Strength>
class basic_latch<Strength>::arriving {
 public:
  using value_type = void;
  // No pause before the arrival: a stop there must not keep it from the others.
  static constexpr std::uint8_t price = 0;
  arriving(basic_latch& what, std::size_t n) noexcept : latch_(&what), count_(n) {}
  bool try_now() noexcept { return latch_->arrive(count_) || latch_->is_ready(); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { latch_->begin(wait, entry); }
  result<void> take() noexcept { return {}; }

 private:
  basic_latch* latch_;
  std::size_t count_;
};

extern template class basic_latch<strength::shared>;
extern template class basic_latch<strength::unsync>;

using latch = basic_latch<strength::shared>;
namespace unsync {
using latch = basic_latch<strength::unsync>;
}

}}  // namespace hocket
