// memory_source: where hocket takes the memory from that holds objects of its user. For garbage collectors.
//
//   // Before anything else of hocket: memory that the collector scans and never frees.
//   hocket::set_memory_source({
//       .allocate = [](std::size_t bytes, std::size_t alignment) noexcept {
//         return alignment <= 16 ? GC_malloc_uncollectable(bytes) : nullptr;   // over-aligned objects: bad_alloc
//       },
//       .release = [](void* memory, std::size_t, std::size_t) noexcept { GC_free(memory); },
//   });
//
// A collector looks for references on stacks (fiber/enumeration.hpp) and in memory that it knows. Objects that wait in
// memory of hocket are on no stack: the arguments of a coroutine that has not begun, the locals of a task, a result
// that nobody has joined, the items of a channel. With a source, all of these are in blocks of the source. The
// collector scans the blocks that are allocated and not released.
//
// Covered: each piece of memory on the heap in which hocket stores objects of its user.
//   - Frames of tasks and generators, small and large. Not: frames whose function takes an allocator.
//   - What spawn() and post() store: callable, arguments, result.
//   - Shared states: oneshot, expectation, context_local, fiber_local.
//   - The items of channels, spsc_channels and broadcasts.
//   - The children of when_all, when_any and when_some; the handles of fork_join.
//   - The waits of fibers, and the images of stacks that were hibernated or copied.
//   - The handler of a server and its arguments; the data of a managed task.
//   - The buffers of buffered_reader and buffered_writer.
// Not covered:
//   - Stacks: for_each_stack() tells what they hold. A stack_source allocates them.
//   - Objects that the user allocates: a channel or a mutex itself, and the vectors that when_all and fork_join take
//     and return.
//   - Exceptions: the C++ runtime allocates them.
//   - What hocket refers to and its user keeps anyway: observers, executors, clocks, stop sources.
//   - Memory without objects of the user: queues, contexts, timers, drivers, the bytes that are read from a file.
//
// The dead. While a source is set, no thread and no pool keeps released memory for its next use: each release goes to
// the source at once. So a dead object is not taken for a live one. Memory in use may hold dead words: a place of a
// channel holds the bytes of its last item until the next item comes, and a frame those of locals whose scope is over.
//
// Costs. Without a source: nothing in the paths that are taken often. With one: each frame is an allocation of the
// source, where it would be a few instructions.
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <cstddef>
#include <new>

namespace hocket { inline namespace HOCKET_ABI {

// Both functions may be called by any thread, on any stack, also by a thread that is ending, and at the end of the
// process. hocket may hold a lock of its own meanwhile. So the functions must not call hocket: a collector runs
// finalizers elsewhere.
struct memory_source {
  // At least `bytes` bytes, aligned to `alignment`: a power of two, and at most that of operator new but for
  // over-aligned types of the user. Null: there is no memory. The caller reports that as if the heap had none, in most
  // cases by std::bad_alloc.
  void* (*allocate)(std::size_t bytes, std::size_t alignment) noexcept = nullptr;

  // What allocate() returned, with the same numbers. Never null.
  void (*release)(void* memory, std::size_t bytes, std::size_t alignment) noexcept = nullptr;
};
static_assert(detail::owns_nothing<memory_source>);

// Sets the source of the process, once, for ever. Throws std::logic_error: a function is null, a source is set already,
// or hocket has allocated memory before. Any thread. A child by fork() has the source of its parent.
void set_memory_source(const memory_source& source);

namespace detail {

// From the source; from the heap, if none is set. The first call decides that. Null: there is no memory.
[[nodiscard]] void* source_allocate(std::size_t bytes, std::size_t alignment) noexcept;
// The same with an exception: bad_alloc, or what operator new throws.
[[nodiscard]] void* source_allocate_or_throw(std::size_t bytes, std::size_t alignment);
// `memory` is not null.
void source_release(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

// Whether released memory may be kept for its next use: if no source is set. Decides that, as source_allocate().
[[nodiscard]] bool keeps_released_memory() noexcept;

// A base of classes that hold objects of the user: their objects are allocated from the source.
struct from_memory_source {
  static void* operator new(std::size_t bytes) {
    return source_allocate_or_throw(bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }
  static void* operator new(std::size_t bytes, std::align_val_t alignment) {
    return source_allocate_or_throw(bytes, static_cast<std::size_t>(alignment));
  }
  static void operator delete(void* memory, std::size_t bytes) noexcept {
    source_release(memory, bytes, __STDCPP_DEFAULT_NEW_ALIGNMENT__);
  }
  static void operator delete(void* memory, std::size_t bytes, std::align_val_t alignment) noexcept {
    source_release(memory, bytes, static_cast<std::size_t>(alignment));
  }
};

}  // namespace detail

}}  // namespace hocket
