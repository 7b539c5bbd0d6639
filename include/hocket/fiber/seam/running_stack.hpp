// The stack of the running code, for extensions that act for code at any depth: the fiber that owns it, and the
// thread's own stack, as the system made it.
//
// The functions that read the fiber are signal-safe. At each instruction of a switch a signal handler reads a fiber
// with its stack and its context.
#pragma once
#include <hocket/fiber/detail/control_block.hpp>
#include <optional>

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

// Whether each fiber is a thread of the system (HOCKET_BACKEND=thread). Then a thread has no fibers of its own.
bool fibers_are_threads() noexcept;

// Whether the caller may be on another stack than the thread's own: a fiber runs, or the thread has called a stack.
// Throws std::bad_alloc.
bool may_be_off_native_stack();

// Returns the unused part of the thread's own stack, which has the bytes [low, base); nothing if the caller is on it.
// The used part ends where the thread last left its stack for a fiber or a called stack. Fatal if that place is
// unknown: in a raw coroutine that was resumed within a call_on_stack.
std::optional<stack_ref> unused_native_stack(std::byte* low, std::byte* base);

}}}  // namespace hocket::detail
