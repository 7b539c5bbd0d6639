// A wait in code that cannot use await: a destructor that joins.
//
// Code on a stack of its own can wait anywhere: a fiber parks (stack_hooks.hpp), a plain thread blocks.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/wait/seam/stack_hooks.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Awaits `waited`. False: the caller runs neither on a fiber nor on a plain thread, and nothing was awaited.
template <class Op, class Options>
bool wait_here(operation<Op, Options> waited) {
  auto&& awaiter = get_awaiter(std::move(waited));
  using W = std::remove_reference_t<decltype(awaiter)>;
  constexpr suspend_call suspend = [](void* erased, std::coroutine_handle<> coroutine) noexcept {
    return static_cast<W*>(erased)->await_suspend(coroutine);
  };
  if (!awaiter.await_ready() && !suspend_stack(&awaiter, suspend)) {
    if (current_executor()) return false;
    block_thread(awaiter);
  }
  static_cast<void>(awaiter.await_resume());
  return true;
}

}}}  // namespace hocket::detail
