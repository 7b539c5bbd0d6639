// await(x): what `co_await x` is in a task, for code that runs in a fiber, at any call depth.
//
//   void login(session& s) {
//     auto reply = await(s.db().load(s.id()));         // the fiber waits; its thread runs others
//
// On a plain thread it blocks the thread instead, like sync_wait. Elsewhere there is nothing that could wait: in a task
// (write co_await), in a raw coroutine<> (its owner resumes it) and in a coroutine that is being unwound it is fatal,
// and the message tells what to do.
//
// What is awaited may be anything that C++20 can await: hocket's operations and tasks, and foreign awaitables whose
// await_suspend takes a std::coroutine_handle<> (core/foreign_wait.hpp).
// await returns what `co_await x` would, and throws what it would; but an rvalue reference becomes a value, since what
// it refers to may be gone. In a task `await` is fatal where it has to wait, and at check level `debug` always.
#pragma once
#include <hocket/context/switch.hpp>
#include <hocket/core/foreign_wait.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/fiber/round_trip.hpp>
#include <hocket/fiber/scheduled_fiber.hpp>

namespace hocket::inline HOCKET_ABI {

namespace detail {

// The scheduled fiber that the caller runs on; null where it runs on no fiber at all. Fatal on a raw coroutine.
control_block* awaiting_fiber() noexcept;

// Calls await_suspend and maps its answer as park_request has it.
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

// How a yield goes on. `own` is the fiber that yields, queued again already: only the thread that runs it pops from
// that queue, so nobody can resume it before it has parked, and there is nothing to commit. `to` is the record to
// switch to: the worker's, or that of the fiber that is next in the queue, if that could be resumed by nothing but a
// switch. Null `own`: none of this is possible, the yield is a wait like any other.
struct yield_way {
  control_block* own;
  void* to;
};
yield_way prepare_yield() noexcept;

// At a landing: notes the record of whoever switched here, the worker or another fiber that yielded.
[[gnu::always_inline]] inline void note_arrival(control_block& own, const machine::arrival& back) noexcept {
  if (back.transfer == &own) own.thread().worker = back.from;
  else static_cast<control_block*>(back.transfer)->record = back.from;
}

// Parks the fiber until somebody resumes it; the request runs meanwhile. Inline: a switch at the place of the await is
// three times as fast as one in a function that it calls (the return predictor).
[[gnu::always_inline]] inline void park_fiber(control_block& block, void* request) {
  [[maybe_unused]] switch_annotation* const annotation = annotation_of(block);
  if constexpr (switch_annotation::active) annotation->before_yield();
  machine::arrival back = machine::switch_to_in_caller(block.thread().worker, request);
  if constexpr (switch_annotation::active) annotation->after_yield();
  note_arrival(block, back);
}

// The same for a fiber that yields.
[[gnu::always_inline]] inline void park_yielding(const yield_way& way) {
  control_block& own = *way.own;
  [[maybe_unused]] switch_annotation* const annotation = annotation_of(own);
  if constexpr (switch_annotation::active) annotation->before_yield();
  machine::arrival back = machine::switch_to_in_caller(way.to, empty_message(own));
  if constexpr (switch_annotation::active) annotation->after_yield();
  note_arrival(own, back);
  auto& self = static_cast<scheduled&>(*own.header.ctx);
  if (self.killed()) [[unlikely]]
    unwind_killed(self);
}

// How a fiber waits where it cannot say await (core/wait_here.hpp).
bool suspend_this_stack(void* awaiter, bool (*suspend)(void* awaiter, std::coroutine_handle<> who) noexcept) noexcept;

[[gnu::noinline, gnu::cold]] void rethrow(park_request& request);

template <class W>
[[gnu::always_inline]] inline void suspend_here(W& awaiter) {
  control_block* block = awaiting_fiber();
  if (!block) [[unlikely]]
    return block_thread(awaiter);
  park_request request{&awaiter, &commit_await<W>};
  park_fiber(*block, &request);
  if (request.error) [[unlikely]]
    rethrow(request);
}

// Waits for an operation that is not possible at once. The terms come one by one: as one object they would be put
// together in memory before every try.
template <class Op>
[[gnu::noinline]] result<typename Op::value_type> await_slowly(Op op, duration::rep until, duration::rep within,
                                                               verdict ignore, std::source_location at) {
  operation<Op> what(op, {time_point(duration(until)), duration(within), ignore, at});
  auto awaiter = std::move(what).operator co_await();
  suspend_here(awaiter);
  return awaiter.await_resume();
}

}  // namespace detail

template <class A>
  requires awaitable<A>
[[gnu::always_inline]] inline typename detail::sync_result<await_result_t<A>>::type await(A&& a) {
  if constexpr (foreign_awaitable<A>) {
    return await(foreign_wait<A>(std::forward<A>(a)));
  } else {
    auto&& awaiter = get_awaiter(std::forward<A>(a));
    if (!awaiter.await_ready()) detail::suspend_here(awaiter);
    return awaiter.await_resume();
  }
}

// The same for an operation. Most are possible at once: what a wait needs is made, out of line, only where there is
// one.
template <class Op>
[[gnu::always_inline]] inline result<typename Op::value_type> await(operation<Op>&& what) {
  if constexpr (debug_checks) static_cast<void>(detail::awaiting_fiber());
  const wait_terms& terms = what.terms();
  Op op = std::move(what).unwrap();
  if (op.try_now()) [[likely]]
    return op.take();
  return detail::await_slowly(op, terms.until.time_since_epoch().count(), terms.within.count(), terms.ignore, terms.at);
}

// The same for a yield, which fibers do most often.
[[gnu::always_inline]] inline void await(yield&&) {
  if (detail::yield_way way = detail::prepare_yield(); way.own) [[likely]]
    return detail::park_yielding(way);
  auto pause = yield{}.operator co_await();
  detail::suspend_here(pause);
  pause.await_resume();
}

}  // namespace hocket::inline HOCKET_ABI
