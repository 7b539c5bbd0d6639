// stop_world: all threads that touch objects of a collector wait while one thread scans or moves these objects.
//
//   runtime rt({.on_start = gc::on_start, .on_stop = gc::on_stop});
//   ...
//   gc::safepoint();                                     // in loops that compute, in the allocator
//   ...
//   gc::stop_world([&](std::span<const stopped_thread> threads) {
//     collect();                                         // no other registered thread runs
//   });
//
// A registered thread (thread_scope; enter_thread() and leave_thread()) stops
// - where its code, in a coroutine or not, calls safepoint()
// - where its loop or worker has returned from a coroutine
// - where it sleeps in hocket: in park(), in a driver, at a mutex of a primitive, in sync_wait, in a runtime's
//   destructor. It need not wake up to stop. If it wakes up, it is blocked until the stop ends.
// - in native(f): wrap every call that blocks elsewhere in it, such as a system call or a foreign library
// So a coroutine that computes without a safepoint delays all threads, as in any such scheme.
//
// Guarantees. The callee-saved registers of a stopped thread are on its stack, and stopped_thread has its stack
// pointer. With for_each_stack (fiber/enumeration.hpp) a collector finds all frames. A collector that knows the places
// of the coroutines' objects (slot.hpp, root.hpp) needs no stacks.
//
// Unregistered threads do not stop. They must not touch the objects, and must not run coroutines that do.
//
// Do not stop in a memory source (base/memory_source.hpp) or in a signal handler. If a thread stops there while it
// holds a lock of hocket, then a thread that waits for that lock never reaches a safepoint.
//
// Thread safety. One stop runs at a time: a second thread that calls stop_world stops for the first. A dump of a
// runtime and a stop exclude each other.
//
// fork(). In the child only the thread that forked is registered. The slots and roots of the other threads' coroutines
// are reported there, too. A thread that has stopped the world may fork: the child's world is stopped until f returns.
//
// Limits. The fallback `thread` is not supported, because its fibers are threads: registering a thread throws there.
// The interfaces of ext/gc may change before 1.0.
#pragma once
#include <hocket/core/spawn/seam/return_slot.hpp>
#include <hocket/fiber/enumeration.hpp>
#include <hocket/gc/detail/halt.hpp>
#include <memory>
#include <span>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace gc {

namespace detail {

extern halt world_halt;

[[HOCKET_NOINLINE, HOCKET_COLD]] void halt_here() noexcept;
void leave_for(void (*run)(void* argument), void* argument);
void stop_world(void (*run)(void* argument, std::span<const stopped_thread> threads), void* argument);

}  // namespace detail

// Registers the calling thread until the thread calls leave_thread(), on the stack that the thread began on. Fatal if
// the thread is registered already. Throws std::bad_alloc; std::system_error (not_supported) with the fallback
// `thread`; std::system_error with the system's error if the system does not report the place of the thread's stack.
void enter_thread();
// Ends the registration of the calling thread. Waits while the world is stopped.
void leave_thread() noexcept;

// Hooks for runtime_options and blocking_pool_options that register and unregister their threads.
void on_start(std::size_t thread);
void on_stop(std::size_t thread);

// Registers the calling thread for a scope.
class thread_scope {
 public:
  thread_scope() { enter_thread(); }
  thread_scope(const thread_scope&) = delete;
  thread_scope& operator=(const thread_scope&) = delete;
  ~thread_scope() { leave_thread(); }
};

// Waits while the world is stopped. Two instructions if it is not stopped. No effect in an unregistered thread.
inline void safepoint() noexcept {
  if (detail::world_halt.is_stop_requested()) [[unlikely]]
    detail::halt_here();
}

// Calls f() and returns its result. The thread counts as stopped during the call. So f must not touch an object of the
// collector, resume a coroutine, or suspend the caller. A nested call is part of the outermost call. An exception of f
// passes to the caller.
template <class F>
std::invoke_result_t<F> native(F&& f) {
  using R = std::invoke_result_t<F>;
  hocket::detail::return_slot<R> result;
  auto body = [&] {
    if constexpr (std::is_void_v<R>) {
      std::forward<F>(f)();
      result.set_value();
    } else {
      result.set_value(std::forward<F>(f)());
    }
  };
  detail::leave_for([](void* argument) { (*static_cast<decltype(body)*>(argument))(); }, std::addressof(body));
  return result.take();
}

// Calls f(std::span<const stopped_thread>) while every registered thread except the caller is stopped. The span has an
// entry for the caller, too, if it is registered. An exception of f passes to the caller.
// Do not wait in f for another registered thread. Within f, stop_world is fatal and safepoint() has no effect.
// Complexity. Linear in the threads, plus the time until the last thread stops.
template <class F>
void stop_world(F&& f) {
  using callable = std::remove_reference_t<F>;
  detail::stop_world(
      [](void* argument, std::span<const stopped_thread> threads) { (*static_cast<callable*>(argument))(threads); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

}}}  // namespace hocket::gc
