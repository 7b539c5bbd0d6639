// on_native_stack: a call from a fiber that runs on the thread's own stack.
//
//   gc::on_native_stack([] { run_finalizers(); });
//
// Use it for code that needs more stack than a fiber has, such as finalizers, and for a foreign library that stores the
// bounds of the stack it was loaded on. A collector scans this stack like the stack of any thread.
//
// On the thread's own stack (in plain code, in a task) it is a plain call. An exception of f passes to the caller.
// Do not wait in the call: the stack belongs to all fibers of the thread. At check level `debug` a wait in it is fatal.
#pragma once
#include <hocket/core/checked_lock.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <optional>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace gc {

namespace detail {

// Returns the unused part of the thread's own stack, or nothing if the caller runs on it. Fatal if the used part is
// unknown: in a raw coroutine that was resumed within a call_on_stack. Throws std::system_error if the system does not
// report the place of the stack.
std::optional<stack_ref> free_native_stack();

struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};

}  // namespace detail

// Calls f() on the thread's own stack, and returns its result; see above.
template <class F>
  requires std::is_invocable_v<F>
std::invoke_result_t<F> on_native_stack(F&& f) {
  const std::optional<stack_ref> native = detail::free_native_stack();
  if (!native) return std::forward<F>(f)();
  checked_lock<detail::no_mutex> wait_check("the thread's own stack");
  const primitive::locked guard(wait_check);
  return call_on_stack(*native, std::forward<F>(f));
}

}}}  // namespace hocket::gc
