// The budget: how many operations that are possible at once a thread lets its coroutines await in a row.
//
// An operation that is possible at once does not suspend. A loop over such operations would hold its thread for ever,
// and with it the timers, the I/O and every other ready coroutine of that thread. Therefore each thread counts the
// operations that its coroutines await. Each operation has a price, 1 unless it states another one. When the sum
// reaches 256, the budget is *used up*, and the operation that used it up does this:
//   1. The coroutine goes through its executor's queue, as by a yield. Nothing has been taken yet.
//   2. A kill unwinds it there. A cancel, or a deadline that has passed (of the context, or a time point of the
//      operation's own), ends the operation: operation_canceled, timed_out.
//   3. Otherwise the operation begins, like any other: it may have to wait now.
// An operation that suspends resets the count, because others run anyway. Decision 017 has the reasons.
//
// Time. Operations may be far apart: 256 of them may take a second. So a budget is also used up after 10 ms.
//   - On a runtime of several workers, the watch (runtime/worker_watch.hpp) finds that a worker has been in one turn
//     since its last look, and stores a count that the next operation carries over. The store may be lost to an
//     addition of the owner; then the next look repeats it.
//   - On a loop, and on a runtime of one worker, there is no watch. There the count begins at 223, so the 33rd
//     operation of the price 1, and the third of descriptors, carries over. The slow path asks the coarse clock then,
//     which lags by a tick of the system, and nothing happens before the turn is 10 ms old.
// A clock of the program's own ends no budget: one seed, one run.
//
// Code that cannot pause spends and continues: a plain thread, an eager body on its caller's stack, a raw coroutine,
// code that is being unwound.
//
// The count is a byte of the thread's state. It counts upward, so that a state of all zeros is a full budget, and the
// carry of one addition tells that it is used up.
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/detail/claim.hpp>
#include <atomic>
#include <coroutine>

namespace hocket { inline namespace HOCKET_ABI {

enum class stop_level : std::uint8_t;

namespace primitive {
class suspension;
class waiter;
}  // namespace primitive

namespace detail {

// An operation that always completes at once, for loops whose other operations may never wait. It spends `Price` of the
// budget. So other coroutines run in between, and a stop or a passed deadline ends the loop.
template <std::uint8_t Price = 1>
struct always_possible {
  using value_type = void;
  static constexpr std::uint8_t price = Price;
  static constexpr bool try_now() noexcept { return true; }
  static void begin(primitive::suspension&, primitive::waiter&) noexcept {}  // never called: try_now() returns true
  static result<void> take() noexcept { return {}; }

  std::uintptr_t unused = 0;  // an operation has no padding
};

// True: this use ends the budget.
template <std::uint8_t Price>
[[HOCKET_ALWAYS_INLINE]] inline bool spend_budget() noexcept {
  if constexpr (under_model || Price == 0) return false;  // the model checker repeats executions
  else return add_to_this_thread<offsetof(thread_state, spent), Price>();
}

// Called after other coroutines of the thread have run.
inline void refill_budget(thread_state& thread) noexcept {
  // ORDER: relaxed, pairs with the store of the watch: a count, of which either is right.
  std::atomic_ref(thread.spent).store(0, std::memory_order_relaxed);
  wrote_this_thread();
}

// The budget of a thread with turns that end by time: it reads the clock after a few operations.
inline constexpr std::uint8_t first_of_timed = 223, next_of_timed = 224;
inline constexpr std::uint8_t clock_reads_per_budget = 7;  // 33 + 7 * 32 operations
inline constexpr duration budget_time = std::chrono::milliseconds(10);

// Any thread: the next operation of that thread finds its budget used up.
inline void use_up_budget(thread_state& thread) noexcept {
  // ORDER: relaxed, pairs with nothing: a count, which its owner may overwrite.
  std::atomic_ref(thread.spent).store(255, std::memory_order_relaxed);
}

// Called when the count has carried over, on a thread with turns that end by time. True: the turn is not over, and the
// count begins again.
[[HOCKET_COLD, HOCKET_NOINLINE]] bool restart_budget_by_time() noexcept;

// In the middle of an operation. True: the budget is used up, and the operation is to wait for a turn.
template <std::uint8_t Price>
inline bool spend_budget_between() noexcept {
  return spend_budget<Price>() && !restart_budget_by_time();
}

// Called when the budget is used up: whether the running coroutine can pass through its executor's queue. Refills the
// budget.
[[HOCKET_COLD, HOCKET_NOINLINE]] bool can_pause() noexcept;

// The end of the running coroutine's next wait, before it begins: by a stop above `ignore`, or by a deadline that has
// passed, its context's or `until`. wait_end::none: the wait begins.
[[HOCKET_COLD, HOCKET_NOINLINE]] wait_end ended_already(stop_level ignore, time_point until) noexcept;

// The running task passes through its executor's queue. Then `begin` runs in the task's context, perhaps on another
// thread, and returns the task to resume it, or null. False: there is no memory, and nothing happens.
using begin_after_pause = std::coroutine_handle<> (*)(void* wait) noexcept;
[[HOCKET_COLD, HOCKET_NOINLINE]] bool pause_task(void* wait, begin_after_pause begin) noexcept;

}  // namespace detail

}}  // namespace hocket
