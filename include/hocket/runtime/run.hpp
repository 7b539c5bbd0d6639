// run(f): a loop and its first coroutine, for programs that need no more.
//
//   int main() { return run([] { ...; return await(total); }); }
//
// Returns the value that f returned, or throws what left it. Coroutines that f spawned and did not join are killed.
#pragma once
#include <hocket/core/detail/spawn.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/runtime/loop.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

template <bool IsPossible, class F, class... Args>
auto run_if(F&& f, Args&&... args) {
  if constexpr (IsPossible) {
    loop lp;
    auto first = spawn(lp, std::forward<F>(f), std::forward<Args>(args)...);
    lp.run_until(first);
    return sync_wait(first);
  } else {
    return misused();
  }
}

}  // namespace detail

template <class F, class... Args>
  requires detail::meant_as_call<F, Args...>
auto run(F&& f, Args&&... args) {
  return detail::run_if<detail::checked_call<F, Args...>::is_possible>(std::forward<F>(f), std::forward<Args>(args)...);
}

}}  // namespace hocket
