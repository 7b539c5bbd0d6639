// Waiting in code that cannot say await: a destructor that joins.
//
// Code on a stack of its own can wait wherever it is: a fiber parks, a plain thread blocks. The fiber layer registers
// how a fiber parks, since core knows of no stacks.
#pragma once
#include <hocket/core/sync_wait.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using suspend_call = bool (*)(void* awaiter, std::coroutine_handle<> who) noexcept;

struct stack_hooks {
  // Parks the running fiber and has `call(awaiter, its handle)` called; false: the caller runs on no fiber.
  bool (*suspend)(void* awaiter, suspend_call call) noexcept;
  // See stack_pin. Null: nothing is to be done.
  void* (*pin)(const void* object, const char* what) noexcept;
  void (*unpin)(void* pinned) noexcept;
};
void register_stack_hooks(const stack_hooks& hooks) noexcept;  // `hooks` lives for ever

bool suspend_stack(void* awaiter, suspend_call suspend) noexcept;

// Awaits `what`. False: the caller runs neither on a fiber nor on a plain thread, and nothing was awaited.
template <class Op, class Options>
bool wait_here(operation<Op, Options> what) {
  auto&& awaiter = get_awaiter(std::move(what));
  using W = std::remove_reference_t<decltype(awaiter)>;
  constexpr suspend_call suspend = [](void* at, std::coroutine_handle<> who) noexcept {
    return static_cast<W*>(at)->await_suspend(who);
  };
  if (!awaiter.await_ready() && !suspend_stack(&awaiter, suspend)) {
    if (current_executor()) return false;
    block_thread(awaiter);
  }
  static_cast<void>(awaiter.await_resume());
  return true;
}

}}}  // namespace hocket::detail
