// Where the stacks of suspended fibers are: for a collector, whose roots lie on them.
//
//   // In the collector, when it has stopped all threads that use hocket:
//   std::size_t unknown = hocket::for_each_stack(threads, [&](const hocket::stack_range& range) {
//     mark_conservatively(range.low, range.high);
//   });
//
// A switch keeps everything that a suspended fiber holds on the fiber's own stack, its registers too. So the words in
// [low, high) are all of its roots, and what lies below `low` is dead. Nothing is paid for that in a switch: what is
// suspended, and how deep, follows from the stack pointers and registers of the stopped threads, and from what fibers
// keep anyway.
//
// What is told. Of each fiber that does not run: its frames, from where it goes on up to the beginning of its stack,
// with its user_data and the list of its fiber-local values; the frames that were packed elsewhere (hibernated and
// copied stacks); every stack that it has called (call_on_stack); and what it was made with and has returned, which
// lies on its stack before it begins and after it ends. Of each stopped thread that runs a fiber: its own stack, from
// where it resumed that fiber, and the stacks that it has called itself. The stack that a thread is stopped on is told
// by its stack pointer, and not here: scan it from there (on x86-64 from 128 bytes below, which belong to a leaf
// function), together with the thread's registers, up to stack_limit(stack pointer).
//
// Unknown depth. Between a switch and the store of where the fiber goes on, one instruction or a few later, only a
// register knows that. A thread that is stopped there leaves a stack of unknown depth: all of it is told, and counted.
//
// What is not told: what is in memory that hocket takes from the heap, such as the frames of tasks, the waits of fibers
// whose stacks move, items of channels, fiber-local values and the arguments of fibers that have not begun; and stacks
// of call_on_stack that are from no depot. A collector has all of that memory from its own allocator if it sets a
// memory_source (base/memory_source.hpp).
//
// Conditions. All threads that run fibers, or resume coroutines, are stopped, and are in `threads`, the calling one
// with its own stack pointer and registers if it is one of them. A thread may be stopped at any instruction. The call
// takes no lock, allocates nothing, uses no thread-local variable, and may be made in a signal handler. It takes time
// for each stack that ever was in use, and for what is suspended; a stack of unknown depth costs a look at all threads,
// and one from which a coroutine was resumed within a call_on_stack a look at all fibers.
//
// Not with the fallbacks `thread` and `ucontext`, and not with AddressSanitizer, which moves variables away from
// stacks: can_enumerate_stacks() is false there.
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// A thread that does not run meanwhile.
struct stopped_thread {
  const void* fibers = nullptr;  // what this_thread_fibers() has told the thread
  const void* stack_pointer = nullptr;
  std::span<const std::uintptr_t> registers;  // all general ones, in any order; of the calling thread none are needed
  const void* stack_low = nullptr;            // the thread's own stack, as the system has made it: the lowest byte,
  const void* stack_base = nullptr;           // and one past the highest that is to be scanned
};
static_assert(detail::owns_nothing<stopped_thread>);

// What a range is a part of.
enum class stack_part : std::uint8_t {
  parked,    // where a fiber goes on, or a thread that has resumed one
  packed,    // frames that were saved elsewhere
  finished,  // what a fiber has returned
  unknown,   // all of a stack whose depth is not known
};

// The words in [low, high).
struct stack_range {
  const std::byte* low;
  const std::byte* high;
  stack_part part;
};

// The calling thread's, for stopped_thread: the same at each call until the thread ends. Throws bad_alloc.
const void* this_thread_fibers();

// Up to where the stack has roots that `stack_pointer` is on: the beginning of the fiber's frames, or of a called
// stack. Null: it is on no stack of a fiber. Signal-safe.
const void* stack_limit(const void* stack_pointer) noexcept;

// Whether the ranges are right in this build.
bool can_enumerate_stacks() noexcept;

namespace detail {
std::size_t enumerate_stacks(std::span<const stopped_thread> threads, void (*visit)(void* with, const stack_range&),
                             void* with) noexcept;
}  // namespace detail

// Calls visit(const stack_range&) for each range. Returns how many stacks were of unknown depth.
template <class Visit>
std::size_t for_each_stack(std::span<const stopped_thread> threads, Visit&& visit) noexcept {
  using called = std::remove_reference_t<Visit>;
  return detail::enumerate_stacks(
      threads, [](void* with, const stack_range& range) { (*static_cast<called*>(with))(range); },
      const_cast<void*>(static_cast<const void*>(std::addressof(visit))));
}

}}  // namespace hocket
