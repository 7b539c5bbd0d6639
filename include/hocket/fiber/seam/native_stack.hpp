// The thread's own stack, as the system made it, for extensions that run code there or register the thread.
#pragma once
#include <hocket/stack/stack_pool.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

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
