// await(x) waits like `co_await x` does in a task, but in code that runs in a fiber, at any call depth.
//
//   void login(session& s) {
//     auto reply = await(s.db().load(s.id()));         // the fiber waits; its thread runs others
//
// Result. await() returns the result of `co_await x`, and throws its exceptions. An rvalue reference becomes a value,
// because its object may be destroyed by then.
// Operands. Every C++20 awaitable: hocket's operations and tasks, and foreign awaitables with an await_suspend that
// takes a std::coroutine_handle<> (core/spawn/seam/foreign_wait.hpp).
//
// On a plain thread await() blocks the thread, like sync_wait. It is fatal in a raw coroutine<> (its owner resumes it)
// and in a coroutine that is being unwound. In a task it is fatal if it has to wait, and at check level `debug` always:
// write co_await there. The fatal message names the remedy.
#pragma once
#include <hocket/base/seam/platform/attributes.hpp>
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/spawn/seam/foreign_wait.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/fiber/detail/off_stack_wait.hpp>
#include <hocket/fiber/detail/park.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Called when the budget is used up (core/wait/seam/budget.hpp). The running fiber passes through its executor's
// queue. Returns the end of its next wait: a stop or a deadline, or none. Other callers do not pause, and a wait that
// ignores a kill does not pause.
[[gnu::cold, gnu::noinline]] wait_end pause_fiber(stop_level ignore, duration::rep until);

// A fiber's wait for an operation that cannot complete at once, in memory of its own, from the frames that its thread
// caches. So the switch is at the place of the await, where the return predictor works. The caller's frame, and its
// packed image, have no space for an awaiter. A stack that may be packed needs nothing else.
template <class Op>
class fiber_wait : public park_request {
 public:
  // Inline: a call would get the options in memory, and read in pairs what was just written one by one.
  [[HOCKET_ALWAYS_INLINE]] fiber_wait(control_block& fiber, Op op, const wait_options& options) noexcept
      : park_request{nullptr, &fiber_wait::commit_wait},
        fiber_(fiber),
        operation_(op, options),
        awaiter_(std::move(operation_).operator co_await()) {
    if (stack_moves(&fiber)) [[unlikely]]
      pin_.begin(fiber, exposed_memory_of(operation_));
  }
  control_block& fiber() const noexcept { return fiber_; }
  wait_result_t<Op> end() { return awaiter_.await_resume(); }

 private:
  static std::coroutine_handle<> commit_wait(park_request& self, fiber_handle parked) noexcept {
    return static_cast<fiber_wait&>(self).awaiter_.await_suspend(parked) ? std::coroutine_handle<>{} : parked;
  }

  control_block& fiber_;
  limited_operation<Op> operation_;
  wait<Op, wait_options> awaiter_;
  wait_pin pin_;
};

// The type that passes an operation: by value in a register, without its options, if it is one word. A larger operation
// is passed by reference, since a copy of words that were just written costs more.
template <class Op>
using op_parameter = std::conditional_t<sizeof(Op) <= sizeof(std::uintptr_t), Op, Op&>;

// Returns null if the caller is no fiber, or if there is no memory. The options are separate parameters: one object of
// options would be built in memory before every try.
template <class Op>
[[gnu::noinline]] fiber_wait<Op>* begin_wait(op_parameter<Op> op, duration::rep until, duration::rep within,
                                             stop_level ignore, call_site site) {
  static_assert(alignof(fiber_wait<Op>) <= 16);
  thread_state& state = this_thread();
  control_block* const fiber = awaiting_fiber(running_fiber(state));
  if (!fiber) [[unlikely]]
    return nullptr;
  void* memory = nullptr;
  try {
    memory = allocate_frame(sizeof(fiber_wait<Op>), state);
  } catch (const std::bad_alloc&) {
    if (stack_moves(fiber)) {
      if constexpr (requires { op.resumed(); }) op.resumed();  // its attempt is over
      throw;
    }
    return nullptr;
  }
  return ::new (memory) fiber_wait<Op>(*fiber, op, {time_point(duration(until)), duration(within), ignore, site});
}

template <class Op>
[[gnu::noinline]] wait_result_t<Op> end_wait(fiber_wait<Op>* wait) {
  struct guard {
    fiber_wait<Op>* wait;
    ~guard() {
      wait->~fiber_wait();
      release_frame(wait, sizeof *wait);
    }
  } owner{wait};
  return owner.wait->end();
}

// Waits if begin_wait() returned null: on a plain thread, or with the awaiter on the caller's stack.
template <class Op>
[[gnu::noinline, gnu::cold]] wait_result_t<Op> await_in_place(op_parameter<Op> op, duration::rep until,
                                                              duration::rep within, stop_level ignore, call_site site) {
  limited_operation<Op> operation(op, {time_point(duration(until)), duration(within), ignore, site});
  auto awaiter = std::move(operation).operator co_await();
  suspend_on(awaiting_fiber(), awaiter);
  return awaiter.await_resume();
}

}  // namespace detail

// Awaits `a` in a fiber or on a plain thread.
template <class A>
  requires awaitable<A>
[[gnu::always_inline]] inline typename detail::sync_result<await_result_t<A>>::type await(A&& a) {
  detail::control_block* fiber = detail::running_fiber();
  if (detail::stack_moves(fiber)) [[unlikely]]
    return detail::await_off_stack<A>(*fiber, std::forward<A>(a));
  if constexpr (!detail::is_task<std::remove_cvref_t<A>>) {
    if (!detail::is_scheduled(fiber)) detail::refill_budget(detail::this_thread());  // it cannot pause
  }
  if constexpr (detail::foreign_awaitable<A>) {
    detail::foreign_wait<A> awaiter(std::forward<A>(a));
    if (!awaiter.await_ready()) detail::suspend_here(fiber, awaiter);
    return awaiter.await_resume();
  } else {
    auto&& awaiter = detail::get_awaiter(std::forward<A>(a));
    if (!awaiter.await_ready()) detail::suspend_here(fiber, awaiter);
    return awaiter.await_resume();
  }
}

// The overload for operations. Most operations complete at once: only a wait builds an awaiter, out of line.
template <class Op, class Options>
[[gnu::always_inline]] inline detail::wait_result_t<Op> await(primitive::operation<Op, Options>&& operation) {
  if constexpr (detail::debug_checks) static_cast<void>(detail::awaiting_fiber());
  const detail::wait_options options(operation.options());
  detail::expect_no_lock_to_await(options.at);
  Op&& unwrapped = std::move(operation).unwrap();
  detail::op_parameter<Op> op = unwrapped;
  if (detail::spend_budget<detail::price_of<Op>>()) [[unlikely]] {
    const detail::wait_end end = detail::pause_fiber(options.ignore, options.until.time_since_epoch().count());
    if (end != detail::wait_end::none) return detail::fail_wait<Op>(op, end);
  }
  if (op.try_now()) [[likely]]
    return op.take();
  const duration::rep until = options.until.time_since_epoch().count(), within = options.within.count();
  detail::fiber_wait<Op>* const wait = detail::begin_wait<Op>(op, until, within, options.ignore, options.at);
  // The result of a call is moved out of a separate variable: else g++ keeps the result of try_now() in memory, too. An
  // operation larger than a word lies in memory anyway.
  if (!wait) [[unlikely]] {
    auto result = detail::await_in_place<Op>(op, until, within, options.ignore, options.at);
    return detail::wait_result_t<Op>(std::move(result));
  }
  detail::park_fiber(wait->fiber(), static_cast<detail::park_request*>(wait));
  if constexpr (sizeof(Op) > sizeof(std::uintptr_t)) {
    return detail::end_wait(wait);
  } else {
    auto result = detail::end_wait(wait);
    return detail::wait_result_t<Op>(std::move(result));
  }
}

// The overload for a yield, the most frequent wait of fibers.
[[gnu::always_inline]] inline waited await(yield&&) {
  if (detail::yield_way way = detail::prepare_yield(); way.own) [[likely]]
    return detail::park_yielding(way);
  detail::control_block* fiber = detail::running_fiber();
  if (detail::stack_moves(fiber)) return detail::await_off_stack(*fiber, yield{});
  auto pause = yield{}.operator co_await();
  detail::suspend_here(fiber, pause);
  return pause.await_resume();
}

}}  // namespace hocket
