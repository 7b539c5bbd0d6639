// park: how a scheduled fiber leaves its worker's thread, and how it returns.
//
// # Ways to suspend
//
//   wait                    way                                          cost
//   a yield, another fiber  park_for_yield(): switches to the next       one switch for each fiber; no request, no
//   of the thread is ready  fiber of the run queue                       awaiter, no return to the worker
//   a yield, otherwise      park_for_yield(): switches to the worker     two switches; no request
//   an operation            fiber_wait (fiber/await.hpp) in a frame of   two switches, one frame of the thread's cache,
//                           its own; park_fiber()                        one commit on the worker
//   any other awaitable     park_request on the fiber's stack;           two switches, one commit on the worker
//                           suspend_on()
//   any, on a stack that    the awaiter in memory off the stack          the same, one allocation, and a search of the
//   moves                   (off_stack_wait.hpp)                         awaiter for addresses on the stack
//   code that cannot call   suspend_this_stack(): two pointers to        two switches, one commit, two indirect calls;
//   await                   functions                                    the switch is in a called function
//   no fiber: a thread      block_thread()                               a futex
//
// Numbers: tests/counts (fiber_yield, fiber_yield_alone, wait_in_fiber, task_call_in_fiber). The switch is at the place
// of the await, because the return predictor works there (docs/decisions/001).
#pragma once
#include <hocket/context/seam/switch.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/fiber/detail/round_trip.hpp>
#include <hocket/fiber/detail/scheduled_fiber.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Returns the running scheduled fiber or raw coroutine; null if there is neither. `state` is the caller's own thread's.
inline control_block* running_fiber(thread_state& state) noexcept {
  auto* thread = static_cast<fiber_thread*>(slot_of(state, thread_slot::fiber));
  return thread && !state.eager ? thread->running : nullptr;
}
control_block* running_fiber() noexcept;

// Whether `running` is a fiber that can wait.
inline bool is_scheduled(const control_block* running) noexcept {
  return running && (running->header.flags & fiber_flag::scheduled) != 0;
}

// Fatal if the caller cannot wait: on a raw coroutine, or inside an executor without a fiber (in a task).
[[gnu::noinline]] void expect_fiber(const control_block* running) noexcept;
inline control_block* awaiting_fiber(control_block* running = running_fiber()) noexcept {
  if (!is_scheduled(running)) [[unlikely]]
    expect_fiber(running);
  return running;
}

// Calls await_suspend and converts its answer to the form of park_request.
template <class W>
std::coroutine_handle<> suspend_awaiter(W& awaiter, auto parked, std::coroutine_handle<> self) {
  using answer = decltype(awaiter.await_suspend(parked));
  if constexpr (std::is_void_v<answer>) {
    awaiter.await_suspend(parked);
    return nullptr;
  } else if constexpr (std::is_same_v<answer, bool>) {
    return awaiter.await_suspend(parked) ? nullptr : self;
  } else {
    return awaiter.await_suspend(parked);
  }
}

template <class W>
std::coroutine_handle<> commit_await(park_request& request, park_request::fiber_handle parked) noexcept {
  try {
    return suspend_awaiter(*static_cast<W*>(request.awaiter), parked, parked);
  } catch (...) {
    request.error = std::current_exception();
    return parked;
  }
}

// The switch of a yield. `own` is the fiber that yields, already queued again. Only its own thread pops from that
// queue, so the fiber is not resumed before it has parked, and the yield commits nothing. `target` is the record to
// switch to: the next fiber's in the queue if a switch alone resumes that fiber, else the worker's. Null `own`: this is
// not possible, and the yield is an ordinary wait.
struct yield_way {
  control_block* own;
  void* target;
};
yield_way prepare_yield() noexcept;

// After a switch: stores the record of the switching side, the worker or another fiber that yielded.
[[gnu::always_inline]] inline void store_arrival(control_block& own, const machine::arrival& back) noexcept {
  if (back.transfer == &own) own.thread().worker = back.from;
  else static_cast<control_block*>(back.transfer)->record = back.from;
}

// Parks the fiber until it is resumed; the request runs meanwhile. Inline: a switch at the place of the await is three
// times as fast as a switch in a called function, because of the return predictor.
[[gnu::always_inline]] inline void park_fiber(control_block& block, void* request) {
  [[maybe_unused]] switch_annotation* const annotation = annotation_of(block);
  if constexpr (switch_annotation::active) annotation->before_yield();
  machine::arrival back = machine::switch_to_in_caller(block.thread().worker, request);
  if constexpr (switch_annotation::active) annotation->after_yield();
  store_arrival(block, back);
}

// Like park_fiber(), for a fiber that yields.
[[gnu::always_inline]] inline void park_for_yield(const yield_way& way) {
  control_block& own = *way.own;
  [[maybe_unused]] switch_annotation* const annotation = annotation_of(own);
  if constexpr (switch_annotation::active) annotation->before_yield();
  machine::arrival back = machine::switch_to_in_caller(way.target, empty_message(own));
  if constexpr (switch_annotation::active) annotation->after_yield();
  store_arrival(own, back);
}
[[gnu::always_inline]] inline waited park_yielding(const yield_way& way) {
  park_for_yield(way);
  auto& self = static_cast<scheduled&>(*way.own->header.ctx);
  if (self.may_be_stopped()) [[unlikely]]
    return check_stop(this_thread().ctx);
  return {};
}

// Suspends the running fiber for code that cannot call await (core/wait/seam/stack_hooks.hpp).
bool suspend_this_stack(void* awaiter,
                        bool (*suspend)(void* awaiter, std::coroutine_handle<> handle) noexcept) noexcept;

[[gnu::noinline, gnu::cold]] void rethrow(park_request& request);

template <class W>
[[gnu::always_inline]] inline void suspend_on(control_block* fiber, W& awaiter) {
  if (!fiber) [[unlikely]]
    return block_thread(awaiter);
  park_request request{&awaiter, &commit_await<W>};
  park_fiber(*fiber, &request);
  if (request.error) [[unlikely]]
    rethrow(request);
}
template <class W>
[[gnu::always_inline]] inline void suspend_here(control_block* running, W& awaiter) {
  suspend_on(awaiting_fiber(running), awaiter);
}

}}}  // namespace hocket::detail
