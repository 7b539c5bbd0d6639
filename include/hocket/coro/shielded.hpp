// shielded: runs cleanup that is not cancelled.
//
//   co_await shielded(connection.say_goodbye());            // in a task: a task, or any other awaitable
//   shielded([&] { await(connection.say_goodbye()); });     // in a fiber: a callable, which runs at once
//
// If a coroutine is cancelled, or its deadline has passed, then all its waits end at once, including the waits of its
// cleanup. Shielded code, and everything that it awaits and starts on scopes of its own, ignores both. After the
// shielded code, the coroutine is as cancelled as before.
//
// Arguments. A callable that returns a task, an operation, a group, or anything else that does nothing until it is
// awaited, is called, kept and awaited, as by invoke(): write the co_await (or await) in front. Any other callable runs
// at once, in the call: for fibers, threads, and code that does not wait. shielded() gives the result of its argument,
// and passes exceptions on.
//
// Limits. A kill ends shielded code: a kill cannot be ignored.
//
// Do not.
//   - If shielded code waits without a deadline, then it may never end. Prevented by deadlines for its waits (within).
//   - An eager_task that begins in shielded code must end there. If the next() of an async_generator is shielded, the
//     scopes and eager tasks that its body keeps over a co_yield must end there, too.
//   - On a copied stack, shielded() is fatal (core/wait/seam/stack_hooks.hpp).
//
// Cost. For a task, a frame and a context; for a callable in a fiber, some stores, and a mutex twice. Code that is not
// shielded pays nothing.
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
#include <hocket/core/wait/seam/context_block.hpp>
#include <hocket/coro/detail/kept_awaitable.hpp>
#include <hocket/coro/task.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

template <class T, class A>
task<T> await_shielded(kept_awaitable<A> awaited) {
  stop_shield shield(current_context());
  context_entry entry(context::child_with(current_context(), shield.inherited()));
  co_await entry;
  co_return co_await awaited.get();
}
template <class T, class Call>
task<T> call_shielded(Call call) {
  stop_shield shield(current_context());
  context_entry entry(context::child_with(current_context(), shield.inherited()));
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
// Whether an R has begun when the call that makes it returns.
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

// For an awaitable.
template <awaitable A>
[[nodiscard]] auto shielded(A&& awaited) {
  using T = typename detail::sync_result<await_result_t<A>>::type;
  return detail::await_shielded<T, A>(detail::kept_awaitable<A>(std::forward<A>(awaited)));
}
// For a callable that returns an awaitable.
template <detail::calls_awaitable F>
[[nodiscard]] auto shielded(F&& body) {
  using call = detail::spawned_call_for<F>;
  return detail::call_shielded<detail::awaited_of_t<F>>(call(std::forward<F>(body)));
}
// For any other callable: runs it at once.
template <detail::calls F>
  requires(!detail::calls_awaitable<F>)
decltype(auto) shielded(F&& body) {
  detail::stop_shield shield(current_context());
  detail::context_block block(shield.inherited());
  return std::forward<F>(body)();
}

}}  // namespace hocket
