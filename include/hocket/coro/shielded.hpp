// shielded: cleanup that is not cancelled.
//
//   co_await shielded(connection.say_goodbye());            // in a task: of a task, or whatever else can be awaited
//   shielded([&] { await(connection.say_goodbye()); });     // in a fiber: of a callable, which runs at once
//
// A coroutine that is cancelled, or whose deadline has passed, finds all of its waits ended at once: also those of its
// cleanup. What runs shielded, and all that it awaits and starts on scopes of its own, does not know of either. Such
// code must end by itself: it gives its waits deadlines of their own (within). A kill ends it: that cannot be ignored.
// After the shielded code the coroutine is as cancelled as before.
//
// A callable that returns a task, or an operation, a group, or anything else that does nothing until it is awaited, is
// called, kept and awaited, as by invoke(): write the co_await (or await) in front. Any other runs at once, where it is
// called: that is for fibers, threads, and code that does not wait. What is shielded gives what it gives without;
// results and exceptions are handed on.
//
// An eager_task that is begun inside must end inside; so must what an async_generator keeps over its co_yield (a scope,
// an eager task) if its next() is shielded. On a copied stack it is fatal (core/detail/stack_pin.hpp).
// Cost: of a task, a frame and a context; of a callable in a fiber, some stores, and a mutex twice. Code that is not
// shielded pays nothing.
#pragma once
#include <hocket/core/detail/context_block.hpp>
#include <hocket/core/detail/spawn.hpp>
#include <hocket/coro/detail/kept_awaitable.hpp>
#include <hocket/coro/task.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

template <class T, class A>
task<T> await_shielded(kept_awaitable<A> what) {
  stop_shield shield(current_context());
  context_entry entry(context::child_with(current_context(), shield.given()));
  co_await entry;
  co_return co_await what.get();
}
template <class T, class Call>
task<T> call_shielded(Call call) {
  stop_shield shield(current_context());
  context_entry entry(context::child_with(current_context(), shield.given()));
  co_await entry;
  if constexpr (Call::may_leave_temporaries) {  // by a default argument
    co_return co_await std::get<0>(std::move(call.parts()))();
  } else {
    auto body = call();
    co_return co_await std::move(body);
  }
}

template <class F>
concept calls = std::is_invocable_v<F&>;
// What it returns has not begun.
template <class R>
inline constexpr bool is_under_way = requires { R::begins_when_called; };
template <class T>
inline constexpr bool is_under_way<join_handle<T>> = true;
template <class F>
concept calls_awaitable =
    calls<F> && awaitable<std::invoke_result_t<F&>> && !is_under_way<std::remove_cvref_t<std::invoke_result_t<F&>>>;
template <calls_awaitable F>
using awaited_of_t = typename sync_result<await_result_t<std::invoke_result_t<F&>>>::type;

}  // namespace detail

template <awaitable A>
[[nodiscard]] auto shielded(A&& what) {
  using T = typename detail::sync_result<await_result_t<A>>::type;
  return detail::await_shielded<T, A>(detail::kept_awaitable<A>(std::forward<A>(what)));
}
template <detail::calls_awaitable F>
[[nodiscard]] auto shielded(F&& body) {
  using call = detail::spawned_call_for<F>;
  return detail::call_shielded<detail::awaited_of_t<F>>(call(std::forward<F>(body)));
}
template <detail::calls F>
  requires(!detail::calls_awaitable<F>)
decltype(auto) shielded(F&& body) {
  detail::stop_shield shield(current_context());
  detail::context_block block(shield.given());
  return std::forward<F>(body)();
}

}}  // namespace hocket
