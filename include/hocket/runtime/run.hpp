// run(f, args...): a loop and its first coroutine, for programs that need no more.
//
//   int main() { return run([] { ...; return await(total); }); }
//
// Returns the result of f, or throws the exception that left f. Coroutines that f spawned and did not join are killed.
#pragma once
#include <hocket/core/spawn/seam/spawn.hpp>
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

// Spawns f(args...) on a loop of its own, and runs the loop until f ends.
template <class F, class... Args>
  requires detail::meant_as_call<F, Args...>
auto run(F&& f, Args&&... args) {
  return detail::run_if<detail::checked_call<F, Args...>::is_possible>(std::forward<F>(f), std::forward<Args>(args)...);
}

}}  // namespace hocket
