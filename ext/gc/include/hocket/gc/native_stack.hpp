// on_native_stack: a call that runs on the thread's own stack, from a fiber.
//
//   gc::on_native_stack([] { run_finalizers(); });
//
// For code of a collector that wants more stack than a fiber has, and that a collector scans as it scans any thread's:
// finalizers, a foreign library that notes the bounds of the stack it was loaded on.
//
// Where it is called on the thread's own stack (in plain code, in a task) it is a plain call. The call must not wait:
// the stack belongs to all fibers of the thread. At check level `debug` a wait in it is fatal. What f throws comes out.
#pragma once
#include <hocket/core/checked_lock.hpp>
#include <hocket/fiber/call_on_stack.hpp>
#include <optional>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace gc {

namespace detail {

// Returns the unused part of the thread's own stack, or nothing if the caller runs on it. Fatal if the used part is
// unknown: in a raw coroutine that was resumed within a call_on_stack. Throws std::system_error if the system does not
// tell where the stack is.
std::optional<stack_ref> free_native_stack();

struct no_mutex {
  void lock() noexcept {}
  void unlock() noexcept {}
};

}  // namespace detail

template <class F>
  requires std::is_invocable_v<F>
std::invoke_result_t<F> on_native_stack(F&& f) {
  const std::optional<stack_ref> native = detail::free_native_stack();
  if (!native) return std::forward<F>(f)();
  checked_lock<detail::no_mutex> stays("the thread's own stack");
  const primitive::locked held(stays);
  return call_on_stack(*native, std::forward<F>(f));
}

}}}  // namespace hocket::gc
