// A latch: opens when its count reaches zero, and stays open.
//
//   latch ready(3);
//   ready.count_down();                        // any thread, a callback: counts one; never waits
//   co_await ready.wait();                     // result<void>: until the count is zero
//   co_await ready.arrive_and_wait();          // counts down, then waits
//
// Guarantees.
//   - Everything before every count_down() is visible to the waiters that are let through.
//   - count_down() neither suspends nor runs foreign code.
//   - Any number of waiters may wait. A latch with an initial count of zero is open.
//
// Cost. count_down() is one atomic read-modify-write; the last one also sets the event for which the waiters wait.
// wait() on an open latch is one load.
//
// Cancellation. A wait can be cancelled and timed out. arrive_and_wait() counts down when it is awaited, whatever the
// result of the wait: a count is never undone. In a select_in_order() it counts down unless an earlier operation
// completes at once. In a select(), which tries its operations in random order, and in each try_select(), it may count
// down even if another operation wins.
//
// Lifetime. A waiter that was let through may destroy the latch if there is no other waiter and no later count_down().
//
// Errors. Counting below zero is fatal. Destroying a latch that has a waiter is fatal at check level `debug`.
//
// A latch is used once. For phase after phase use a barrier. unsync::latch is for one thread; see
// core/wait/seam/strength.hpp.
//
// Implementation. The counts are read-modify-writes of one word, so the last one is ordered after all others. The last
// one alone sets the event (sync/detail/event_core.hpp), and touches nothing after that.
#pragma once
#include <hocket/primitive.hpp>
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

  explicit basic_latch(std::size_t count) noexcept : base(count == 0), count_(count) {
    detail::expects(count <= max, "a latch was to count more than it can",
                    "a negative number, perhaps? The limit is latch::max");
  }
  ~basic_latch() {
    if constexpr (detail::debug_checks && !detail::under_model)
      detail::expects(this->is_deserted(), "a latch was destroyed while it has a waiter",
                      "let it outlive the waits: count it down, and let the waiters resume first");
  }

  // Any thread. Opens the latch if the count reaches zero.
  void count_down(std::size_t n = 1) noexcept { static_cast<void>(arrive(n)); }

  // Any thread. True: wait() does not suspend. False may be outdated at once.
  bool is_ready() const noexcept { return this->is_set(); }

  // Waits until the latch is open: result<void>.
  [[nodiscard]] primitive::operation<waiting> wait(call_site site = this_call_site()) noexcept {
    return primitive::operation<waiting>(std::in_place, site, *this);
  }
  // Counts down when the operation is awaited, then waits: result<void>.
  [[nodiscard]] primitive::operation<arriving> arrive_and_wait(std::size_t n = 1,
                                                               call_site site = this_call_site()) noexcept {
    return primitive::operation<arriving>(std::in_place, site, *this, n);
  }

 private:
  // True: this was the last arrival, and a released waiter may have destroyed the latch.
  bool arrive(std::size_t n) noexcept {
    // ORDER: acquire and release, pairs with itself: the last arrival sees everything before the others, and the event
    // makes that visible to the waiters.
    const std::size_t before = count_.fetch_sub(n, std::memory_order_acq_rel);
    detail::expects(
        n <= before, "a latch was counted down below zero",
        "begin it with as many as will count down, and let each do so once; for several rounds use a barrier");
    if (before != n) return false;
    this->set();
    return true;
  }

  const char* what() const noexcept override { return "a latch"; }

  typename Strength::template word<std::size_t> count_;
};

template <class Strength>
class basic_latch<Strength>::waiting {
 public:
  using value_type = void;
  explicit waiting(basic_latch& source) noexcept : latch_(&source) {}
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
  // No budget pause before the arrival: a stop there must not withhold the arrival from the waiters.
  static constexpr std::uint8_t price = 0;
  arriving(basic_latch& source, std::size_t n) noexcept : latch_(&source), count_(n) {}
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
