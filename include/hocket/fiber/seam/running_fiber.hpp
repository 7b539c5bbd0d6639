// The fiber that owns the stack of the running code, for extensions that act for code at any depth below a fiber.
//
// Signal-safe. At each instruction of a switch a signal handler reads a fiber with its stack and its context.
#pragma once
#include <hocket/fiber/detail/control_block.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The context of the spawned fiber that owns the stack of the running code, also in an eager body there. It identifies
// the fiber until the fiber ends. Null: a raw coroutine owns the stack, or no fiber.
[[HOCKET_ALWAYS_INLINE]] inline context* running_fiber_context() noexcept {
  const fiber_thread* const thread = fiber_thread::current_if_any();
  const control_block* const running = thread ? thread->running : nullptr;
  return running ? running->header.ctx : nullptr;
}

// The name of the raw coroutine that owns the stack of the running code. Null: none does.
const char* running_raw_coroutine() noexcept;

// Whether the thread is on a copied stack: other code may run there while the fiber waits.
bool runs_on_copied_stack() noexcept;

}}}  // namespace hocket::detail
