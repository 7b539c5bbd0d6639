// How long the inside of a task manager lives: what is live in it, and who else holds it, in one word.
//
//   low half    what is *live*: coroutines, those without an id included, and replies
//   high half   the *holders*: the manager, expectations, waits, daemons, the keeper while it is under way
//
// Whoever takes the last of all frees the inside. The last live one becomes a holder as it goes, in the same step: it
// has to tell those who join, and the keeper, and the manager may be gone by then.
#pragma once
#include <hocket/base/seam/atomic.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class life_count {
 public:
  static constexpr std::size_t most_live = 0xffff'fffe;

  // One more is live; false: there are as many as there may be.
  [[nodiscard]] bool admit(std::size_t limit) noexcept {
    // ORDER: relaxed, pairs with nothing: the compare-exchange verifies it.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    do {
      if (live_in(seen) >= limit) return false;
      // ORDER: forbids that keeper::first() is read before it is counted, against keeper::rest(); relaxed on failure.
    } while (!word_.compare_exchange_weak(seen, seen + 1, std::memory_order_seq_cst, std::memory_order_relaxed));
    return true;
  }
  void enter(std::size_t count) noexcept {
    // ORDER: relaxed, pairs with nothing: who enters keeps it alive, and sets no deadline.
    word_.fetch_add(count, std::memory_order_relaxed);
  }
  // True: that was the last live one, which is a holder now.
  [[nodiscard]] bool leave() noexcept {
    // ORDER: relaxed, pairs with nothing: the compare-exchange verifies it.
    std::uint64_t seen = word_.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    do {
      next = live_in(seen) == 1 ? seen - 1 + one_holder : seen - 1;
      // ORDER: release, pairs with the load in live() and the fetch_sub in let_go(): the work of this coroutine is
      // visible there. The last coroutine acquires the work of the others there, too, before it tells the joins.
    } while (!word_.compare_exchange_weak(seen, next, std::memory_order_release, std::memory_order_relaxed));
    return live_in(next) == 0;
  }

  void hold() noexcept {
    // ORDER: relaxed, pairs with nothing: who copies a reference has one.
    word_.fetch_add(one_holder, std::memory_order_relaxed);
  }
  // Of daemons that are counted already.
  void hold_daemons(std::size_t count) noexcept {
    // ORDER: forbids that keeper::first() is read before the daemons are counted, against keeper::rest(), which reads
    // this word before it reads their number for the last time.
    word_.fetch_add(count * one_holder, std::memory_order_seq_cst);
  }
  // True: that was the last of all.
  [[nodiscard]] bool let_go() noexcept {
    // ORDER: acq_rel, pairs with itself and the compare-exchange in leave(): the last one frees it after all the
    // others.
    return word_.fetch_sub(one_holder, std::memory_order_acq_rel) == one_holder;
  }

  std::size_t live() const noexcept {
    // ORDER: forbids that it is read before the keeper has written its time, against keeper::want(); acquires what was
    // done before leave().
    return live_in(word_.load(std::memory_order_seq_cst));
  }

 private:
  static constexpr std::uint64_t one_holder = std::uint64_t{1} << 32;
  static std::size_t live_in(std::uint64_t seen) noexcept { return static_cast<std::size_t>(seen % one_holder); }

  atomic<std::uint64_t> word_{one_holder};
};

}}}  // namespace hocket::detail
