// run(f): a loop and its first coroutine, for programs that need no more.
//
//   int main() { return run([] { ...; return await(total); }); }
//
// Returns the value that f returned, or throws what left it. Coroutines that f spawned and did not join are killed.
#pragma once
#include <hocket/core/spawn.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/runtime/loop.hpp>

namespace hocket::inline HOCKET_ABI {

template <class F, class... Args>
  requires detail::spawnable<F, Args...>
auto run(F&& f, Args&&... args) {
  loop lp;
  auto first = spawn(lp, std::forward<F>(f), std::forward<Args>(args)...);
  lp.run_until(first);
  return sync_wait(first);
}

}  // namespace hocket::inline HOCKET_ABI
