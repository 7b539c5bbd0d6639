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
// A callable that returns a task is called, kept and awaited, as by invoke(). Any other runs at once, where it is
// called: that is for fibers, threads, and code that does not wait. What is shielded gives what it gives without;
// results and exceptions are handed on.
//
// What an eager_task began inside must end inside. On a copied stack it is fatal (core/stack_pin.hpp).
// Cost: of a task, a frame and a context; of a callable in a fiber, some stores, and a mutex twice. Code that is not
// shielded pays nothing.
#pragma once
#include <hocket/core/context_block.hpp>
#include <hocket/core/spawn.hpp>
#include <hocket/coro/detail/kept_awaitable.hpp>
#include <hocket/coro/task.hpp>

namespace hocket::inline HOCKET_ABI {

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
  task<T> body = call();
  co_return co_await std::move(body);
}

template <class F>
concept calls = std::is_invocable_v<F&>;
template <class F>
concept calls_task = calls<F> && is_task<std::invoke_result_t<F&>>;

}  // namespace detail

template <awaitable A>
[[nodiscard]] auto shielded(A&& what) {
  using T = typename detail::sync_result<await_result_t<A>>::type;
  return detail::await_shielded<T, A>(detail::kept_awaitable<A>(std::forward<A>(what)));
}
template <detail::calls_task F>
[[nodiscard]] auto shielded(F&& body) {
  using call = detail::spawned_call<std::decay_t<F>>;
  return detail::call_shielded<typename call::returned::value_type>(call(std::forward<F>(body)));
}
template <detail::calls F>
  requires(!detail::calls_task<F>)
decltype(auto) shielded(F&& body) {
  stop_shield shield(current_context());
  context_block block(shield.given());
  return std::forward<F>(body)();
}

}  // namespace hocket::inline HOCKET_ABI
