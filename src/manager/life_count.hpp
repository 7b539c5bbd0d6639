// The lifetime of manager_core: the live coroutines and replies, and the holders of references, in one word.
//
//   low half    *live*: coroutines, also without an id, and replies
//   high half   *holders*: the manager, expectations, waits, daemons, and the deadline timer while it is not idle
//
// The thread that removes the last of all frees manager_core. The last live one becomes a holder in the same step: it
// must notify the joiners and the deadline timer, and the manager may be destroyed by then.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class life_count {
 public:
  static constexpr std::size_t max_live = 0xffff'fffe;

  // Adds a live one. False: the limit is reached.
  [[nodiscard]] bool admit(std::size_t limit) noexcept {
    // ORDER: relaxed, pairs with nothing: the compare-exchange verifies it.
    std::uint64_t expected = word_.load(std::memory_order_relaxed);
    do {
      if (live_in(expected) >= limit) return false;
      // ORDER: forbids that deadline_timer::first_deadline() is read before it is counted, against
      // deadline_timer::disarm_if_idle(); relaxed on failure.
    } while (
        !word_.compare_exchange_weak(expected, expected + 1, std::memory_order_seq_cst, std::memory_order_relaxed));
    return true;
  }
  void enter(std::size_t count) noexcept {
    // ORDER: relaxed, pairs with nothing: the caller keeps manager_core alive, and sets no deadline.
    word_.fetch_add(count, std::memory_order_relaxed);
  }
  // True: it was the last live one, and is a holder now.
  [[nodiscard]] bool leave() noexcept {
    // ORDER: relaxed, pairs with nothing: the compare-exchange verifies it.
    std::uint64_t expected = word_.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    do {
      next = live_in(expected) == 1 ? expected - 1 + one_holder : expected - 1;
      // ORDER: release, pairs with the load in live() and the fetch_sub in release(): the work of this coroutine is
      // visible there. The last coroutine acquires the work of the others there, too, before it grants the joins.
    } while (!word_.compare_exchange_weak(expected, next, std::memory_order_release, std::memory_order_relaxed));
    return live_in(next) == 0;
  }

  void retain() noexcept {
    // ORDER: relaxed, pairs with nothing: the caller has a reference.
    word_.fetch_add(one_holder, std::memory_order_relaxed);
  }
  // For daemons that are counted already.
  void retain_daemons(std::size_t count) noexcept {
    // ORDER: forbids that deadline_timer::first_deadline() is read before the daemons are counted, against
    // deadline_timer::disarm_if_idle(), which reads this word before it reads their number for the last time.
    word_.fetch_add(count * one_holder, std::memory_order_seq_cst);
  }
  // True: it was the last of all.
  [[nodiscard]] bool release() noexcept {
    // ORDER: acq_rel, pairs with itself and the compare-exchange in leave(): the last one frees it after all the
    // others.
    return word_.fetch_sub(one_holder, std::memory_order_acq_rel) == one_holder;
  }

  std::size_t live() const noexcept {
    // ORDER: forbids that it is read before the deadline timer has written its time, against deadline_timer::arm_by();
    // acquires all writes before leave().
    return live_in(word_.load(std::memory_order_seq_cst));
  }

 private:
  static constexpr std::uint64_t one_holder = std::uint64_t{1} << 32;
  static std::size_t live_in(std::uint64_t word) noexcept { return static_cast<std::size_t>(word % one_holder); }

  atomic<std::uint64_t> word_{one_holder};
};

}}}  // namespace hocket::detail
