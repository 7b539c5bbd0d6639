// Stopping the world: all threads that touch the objects of a collector wait while one of them looks at, or moves, what
// they hold.
//
//   runtime rt({.on_start = gc::on_start, .on_stop = gc::on_stop});
//   ...
//   gc::safepoint();                                     // in loops that compute, in the allocator
//   ...
//   gc::stop_world([&](std::span<const stopped_thread> threads) {
//     collect();                                         // nobody else runs
//   });
//
// A thread that is registered (thread_scope; enter_thread() and leave_thread()) stops
//   - where its code, in a coroutine or not, calls safepoint();
//   - where its loop or worker has come back from a coroutine;
//   - where it sleeps, in hocket: in park(), in a driver, at a mutex of a primitive, in sync_wait, in a runtime's
//     destructor. It need not wake up for that; it is held back if it does, until the world goes on;
//   - in native(f), which is to be written around whatever blocks elsewhere: a system call, a foreign library.
// So a coroutine that computes without a safepoint delays all of them, as in any such scheme.
//
// Where a thread stops its callee-saved registers are on its stack, and stopped_thread has its stack pointer: with
// for_each_stack (fiber/enumeration.hpp) a collector finds all frames. A collector that knows where coroutines keep
// their objects (slot.hpp, root.hpp) needs no stacks.
//
// Threads that are not registered go on. They must not touch the objects, and must not run coroutines that do.
//
// Not in a memory source (base/memory_source.hpp), and not in a signal handler. If a thread stops there while it holds
// a lock of hocket, then a thread that waits for that lock never reaches a safepoint. One stop at a time: a second
// thread that asks stops for the first. A dump of a runtime and a stop take turns.
//
// fork(). In the child only the thread that forked is registered. The slots and roots of the other threads' coroutines
// are told there, too. A thread that has stopped the world may fork: the child's world is stopped until f returns.
//
// Not with the fallback `thread`, whose fibers are threads: registering one throws there. The interfaces of ext/gc may
// change before 1.0.
#pragma once
#include <hocket/core/detail/return_slot.hpp>
#include <hocket/fiber/enumeration.hpp>
#include <hocket/gc/detail/halt.hpp>
#include <memory>
#include <span>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace gc {

namespace detail {

extern halt world_halt;

[[HOCKET_NOINLINE, HOCKET_COLD]] void halt_here() noexcept;
void leave_for(void (*run)(void* with), void* with);
void stop_world(void (*run)(void* with, std::span<const stopped_thread> threads), void* with);

}  // namespace detail

// Registers the calling thread until leave_thread(), which it calls, on the stack where it began. Once for a thread:
// again is fatal. Throws std::bad_alloc; std::system_error (not_supported) with the fallback `thread`, or what the
// system says when it does not tell where the thread's stack is.
void enter_thread();
// Waits while the world is stopped.
void leave_thread() noexcept;

// For runtime_options and blocking_pool_options.
void on_start(std::size_t thread);
void on_stop(std::size_t thread);

// The same for a scope.
class thread_scope {
 public:
  thread_scope() { enter_thread(); }
  thread_scope(const thread_scope&) = delete;
  thread_scope& operator=(const thread_scope&) = delete;
  ~thread_scope() { leave_thread(); }
};

// Waits here while the world is stopped. Two instructions if it is not. In a thread that is not registered: nothing.
inline void safepoint() noexcept {
  if (detail::world_halt.is_stop_requested()) [[unlikely]]
    detail::halt_here();
}

// Returns f(). The thread counts as stopped meanwhile, so f touches no object of the collector, resumes no coroutine,
// and does not suspend the one that calls. Nested calls are part of the outermost. Throws what f throws.
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
  detail::leave_for([](void* with) { (*static_cast<decltype(body)*>(with))(); }, std::addressof(body));
  return result.take();
}

// Calls f(std::span<const stopped_thread>) while every registered thread but the caller is stopped; the caller's entry
// is there, too, if it is registered. Throws what f throws. f must not wait for another registered thread. Within f,
// stop_world is fatal, and safepoint() is nothing. Takes time for each thread, and until the last one stops.
template <class F>
void stop_world(F&& f) {
  using called = std::remove_reference_t<F>;
  detail::stop_world(
      [](void* with, std::span<const stopped_thread> threads) { (*static_cast<called*>(with))(threads); },
      const_cast<void*>(static_cast<const void*>(std::addressof(f))));
}

}}}  // namespace hocket::gc
