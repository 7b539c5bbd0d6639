// Calls a callable that returns a task, and keeps the callable and its arguments until the task has ended.
//
//   task<int> length(std::string name) {
//     return invoke([name]() -> task<int> { co_await yield(); co_return int(name.size()); });
//   }
//
// The hazard. A coroutine keeps its parameters, but not the captures of its lambda. If the lambda above were called
// directly, then its body would read a destroyed lambda, because the lambda ends with the return
// (docs/traps/captures.md). Prevented by invoke.
//
// Guarantees.
//   - invoke stores the callable and the arguments by value beside the coroutine, as spawn does; std::ref passes a
//     reference.
//   - If an argument is converted for a reference parameter, the converted object is kept, too
//     (core/spawn/detail/call_parameters.hpp).
//   - The callable is called when the task is awaited.
//
// Do not.
//   - A result that refers to a capture dangles.
//   - In an expression with co_await, name a lambda with captures first: g++ 11 and 12 (docs/traps/temporaries.md).
//
// Cost. One more frame, and a transfer there and back.
#pragma once
#include <hocket/coro/detail/awaited_call.hpp>

namespace hocket { inline namespace HOCKET_ABI {

template <class F, class... Args>
  requires detail::is_task<std::invoke_result_t<std::decay_t<F>, std::decay_t<Args>...>>
[[nodiscard]] auto invoke(F&& f, Args&&... args) {
  using call = detail::spawned_call_for<F, Args...>;
  return detail::await_call(call(std::forward<F>(f), std::forward<Args>(args)...));
}

}}  // namespace hocket
