// invoke: calls a callable that returns a task, and keeps it and its arguments until the task has ended.
//
//   task<int> length(std::string name) {
//     return invoke([name]() -> task<int> { co_await yield(); co_return int(name.size()); });
//   }
//
// A coroutine keeps its parameters, not what its lambda has captured: called by itself, the coroutine above would read
// a lambda that ended with the return (docs/traps/captures.md). invoke stores the callable and the arguments by value
// beside the coroutine, as spawn does: std::ref shows what is not. What a reference parameter refers to, if an argument
// is converted for it, is kept, too (core/detail/call_parameters.hpp). The callable is called when the task is awaited.
// A result that refers to what was captured is one to something that is gone.
//
// Cost: one frame more, and a transfer there and back.
// In an expression with co_await, name a lambda with captures first: g++ 11 and 12 (docs/traps/temporaries.md).
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
