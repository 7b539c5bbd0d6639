// The walk of a worker through its part of a parallel_for, in pieces of `grain` indices.
//
// walk() is a plain function and no coroutine: g++ keeps the variables of a coroutine in its frame, so each iteration
// would wait for its own store of the index. walk() returns to the coroutine for one of these reasons:
//
//   finished  the part is done, or another part has failed
//   split     an idle worker looks for work: the coroutine forks the upper half of the rest, and walks the lower half
//   used_up   the budget (core/wait/seam/budget.hpp) is used up; each piece spends 1. The coroutine goes through the
//             queue of its executor: other ready coroutines, timers and I/O get their turn, and a kill reaches the walk
//
// A part is split only for a thief: while no worker is idle, the whole range is one task. (Lazy binary splitting, after
// Tzannes, Caragea, Barua and Vishkin, PPoPP 2010. Their worker looks at its own deque, ours looks for idle workers.)
//
// All parts share one range_walk, in the frame of parallel_for(), which outlives the parts. Any part may set failed_;
// all other members are constant.
#pragma once
#include <hocket/base/seam/cache_line.hpp>
#include <hocket/core/thread/seam/fork_deque.hpp>
#include <hocket/core/wait/seam/budget.hpp>
#include <hocket/coro/task.hpp>
#include <cstdint>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The number of indices. Unsigned: a signed type has more values than its maximum.
template <class Index>
using range_count = std::make_unsigned_t<Index>;
template <class Index>
constexpr range_count<Index> range_size(Index first, Index last) noexcept {
  using count = range_count<Index>;
  return static_cast<count>(static_cast<count>(last) - static_cast<count>(first));
}
template <class Index>
constexpr Index range_after(Index first, range_count<Index> steps) noexcept {
  using count = range_count<Index>;
  return static_cast<Index>(static_cast<count>(static_cast<count>(first) + steps));
}
template <class Index>
constexpr Index range_middle(Index first, Index last) noexcept {
  return range_after(first, static_cast<range_count<Index>>(range_size(first, last) / 2));
}

template <class Index, class F>
class range_walk {
 public:
  // `grain`: at least 1.
  range_walk(F& body, Index grain) noexcept : body_(body), grain_(static_cast<range_count<Index>>(grain)) {}
  range_walk(const range_walk&) = delete;
  range_walk& operator=(const range_walk&) = delete;

  enum class pause : std::uint8_t { finished, split, used_up };
  struct stop {
    Index next;  // the next index
    pause reason;
  };
  // From `first`, which is below `last`. Throws what the body throws.
  stop walk(Index first, Index last) {
    const fork_deque* const forks = this_thread().binding.forks;
    // ORDER: relaxed, pairs with the store in call_body(): a hint to stop; the join orders the exception itself.
    while (!failed_.load(std::memory_order_relaxed)) {
      if (range_size(first, last) <= grain_) {
        call_body(first, last);
        break;
      }
      if (forks && forks->should_offer()) return {first, pause::split};
      const Index next = range_after(first, grain_);
      call_body(first, next);
      first = next;
      if (spend_budget<1>() && !restart_budget_by_time()) return {first, pause::used_up};
    }
    return {last, pause::finished};
  }

 private:
  void call_body(Index first, Index last) {
    try {
      run(body_, first, last);
    } catch (...) {
      // ORDER: relaxed, pairs with the load in walk().
      failed_.store(true, std::memory_order_relaxed);
      throw;
    }
  }
  // A function of its own, at the beginning of a cache line: a loop of few instructions that lies across the border of
  // two lines takes twice as long.
  [[HOCKET_NOINLINE, HOCKET_FUNCTION_ALIGNED(cache_line_size)]] static void run(F& body, Index first, Index last) {
    do static_cast<void>(body(first));
    while (++first != last);
  }

  F& body_;
  const range_count<Index> grain_;
  atomic<bool> failed_{false};
};

// A yield, out of line. A kill ends the computation here, a cancellation does not.
task<> yield_once();

}}}  // namespace hocket::detail
