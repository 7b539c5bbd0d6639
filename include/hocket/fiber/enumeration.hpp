// Enumerates the stacks of suspended fibers, for a tool that looks for roots on them.
//
//   // When all threads that use hocket are stopped:
//   std::size_t unknown = hocket::for_each_stack(threads, [&](const hocket::stack_range& range) {
//     mark_conservatively(range.low, range.high);
//   });
//
// A switch keeps the whole state of a suspended fiber on the fiber's own stack, its registers too. So the words in
// [low, high) are all of its roots, and the bytes below `low` are dead. A switch costs nothing more for that: the state
// and depth of each fiber follow from the stack pointers and registers of the stopped threads, and from data that
// fibers keep anyway.
//
// Reported for each fiber that does not run:
// - its frames, from its saved stack pointer up to the beginning of its stack, with its user_data and the list of its
//   fiber-local values
// - frames that were packed elsewhere (hibernated and copied stacks)
// - every stack that it has called (call_on_stack)
// - its callable before it begins, and its result after it ends, if these lie on its stack
// Reported for each stopped thread that runs a fiber:
// - the thread's own stack, from the place where the thread resumed that fiber
// - the stacks that the thread itself has called
//
// Not reported.
// - The stack on which a thread is stopped: scan it from its stack pointer (on x86-64 from 128 bytes below, which
//   belong to a leaf function), together with the thread's registers, up to stack_limit(stack pointer).
// - Memory that hocket takes from the heap: frames of tasks, waits of fibers on stacks that may be packed, items of
//   channels, fiber-local values, and arguments of spawned fibers that have not begun. The tool allocates all of
//   that memory itself if it sets a memory_source (base/memory_source.hpp).
// - Stacks of call_on_stack that come from no depot.
//
// Unknown depth. A switch stores the fiber's stack pointer one or a few instructions after the switch itself. Until
// then only a register holds it. A thread that is stopped there leaves a stack of unknown depth: all of that stack is
// reported, and counted.
//
// Conditions.
// - All threads that run fibers, or resume coroutines, are stopped, and are in `threads`. A thread may be stopped at
//   any instruction. If the calling thread is one of them, its entry has its own stack pointer and registers. At check
//   level `debug`, a thread that runs a fiber and is not in `threads` is fatal.
// - The call takes no lock, allocates nothing and uses no thread-local variable. A signal handler may call it.
//
// Complexity. Linear in the stacks that were ever in use, and in the suspended frames. Each stack of unknown depth adds
// a pass over all threads. Each stack from which a coroutine was resumed within a call_on_stack adds a pass over all
// fibers.
//
// Limits. can_enumerate_stacks() is false with the fallbacks `thread` and `ucontext`, and with AddressSanitizer, which
// moves variables away from stacks.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI {

// A thread that is stopped during the enumeration.
struct stopped_thread {
  const void* fibers = nullptr;  // the result of this_thread_fibers() in that thread
  const void* stack_pointer = nullptr;
  std::span<const std::uintptr_t> registers;  // all general registers, in any order; not needed for the calling thread
  const void* stack_low = nullptr;            // the lowest byte of the thread's own stack, as made by the system
  const void* stack_base = nullptr;           // one past its highest byte to scan
};
static_assert(detail::owns_nothing<stopped_thread>);

// The kind of memory that a range is part of.
enum class stack_part : std::uint8_t {
  parked,    // the frames of a suspended fiber, or of a thread that has resumed a fiber
  packed,    // frames that were saved elsewhere
  finished,  // the result of a fiber
  unknown,   // all of a stack of unknown depth
};

// A range of stack memory: the words in [low, high).
struct stack_range {
  const std::byte* low;
  const std::byte* high;
  stack_part part;
};

// Returns the calling thread's value for stopped_thread::fibers. It is the same at each call until the thread ends.
// Throws std::bad_alloc.
const void* this_thread_fibers();

// Returns the end of the roots on the stack that `stack_pointer` is on: the beginning of the fiber's frames, or of a
// called stack. Null if it is on no stack of a fiber. Signal-safe.
const void* stack_limit(const void* stack_pointer) noexcept;

// Returns whether the ranges are right in this build.
bool can_enumerate_stacks() noexcept;

namespace detail {
std::size_t enumerate_stacks(std::span<const stopped_thread> threads, void (*visit)(void* argument, const stack_range&),
                             void* argument) noexcept;
}  // namespace detail

// Calls visit(const stack_range&) for each range. Returns the number of stacks of unknown depth.
template <class Visit>
std::size_t for_each_stack(std::span<const stopped_thread> threads, Visit&& visit) noexcept {
  using visitor = std::remove_reference_t<Visit>;
  return detail::enumerate_stacks(
      threads, [](void* argument, const stack_range& range) { (*static_cast<visitor*>(argument))(range); },
      const_cast<void*>(static_cast<const void*>(std::addressof(visit))));
}

}}  // namespace hocket
