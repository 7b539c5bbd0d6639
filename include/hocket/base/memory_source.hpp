// memory_source: the allocator of memory that holds the user's objects, for programs with a garbage collector.
//
//   // Before any other call of hocket. The collector scans the memory of the source and never frees it.
//   hocket::set_memory_source({
//       .allocate = [](std::size_t bytes, std::size_t alignment) noexcept {
//         return alignment <= 16 ? GC_malloc_uncollectable(bytes) : nullptr;   // over-aligned objects: bad_alloc
//       },
//       .release = [](void* memory, std::size_t, std::size_t) noexcept { GC_free(memory); },
//   });
//
// A collector finds references on stacks (fiber/enumeration.hpp) and in memory that it knows. Some objects are in
// memory of hocket and on no stack: the arguments of a coroutine that has not begun, the locals of a task, an unjoined
// result, the items of a channel. With a source, all of these are in blocks of the source. The collector scans the
// blocks that are allocated and not released.
//
// Covered: each piece of heap memory in which hocket stores objects of its user.
//   - Frames of tasks and generators, small and large, except if the function takes an allocator.
//   - The callable, arguments and result of spawn() and post().
//   - Shared states: oneshot, expectation, context_local, fiber_local.
//   - The items of channels, spsc_channels and broadcasts.
//   - The children of when_all, when_any and when_some; the handles of fork_join.
//   - The waits of fibers, and the images of hibernated and copied stacks.
//   - The handler of a server and its arguments; the data of a managed task.
//   - The buffers of buffered_reader and buffered_writer.
// Not covered:
//   - Stacks: for_each_stack() enumerates their contents. A stack_source allocates them.
//   - Objects that the user allocates: a channel or a mutex itself, and the vectors that when_all and fork_join take
//     and return.
//   - Exceptions: the C++ runtime allocates them.
//   - Objects that the user keeps alive for hocket: observers, executors, clocks, stop sources.
//   - Memory without objects of the user: queues, contexts, timers, drivers, the bytes of a file.
//
// Dead objects. While a source is set, no thread and no pool keeps released memory for reuse: each release calls the
// source at once. So the collector takes no dead object for a live one. Memory in use may hold dead words: a channel's
// slot holds the bytes of its last item until the next item is stored, and a frame holds the bytes of locals out of
// scope.
//
// Cost. Without a source: none on the hot paths. With a source: each frame is an allocation of the source, instead of
// a few instructions.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <cstddef>
#include <new>

namespace hocket { inline namespace HOCKET_ABI {

// The two functions of a source.
//
// Thread safety. Any thread may call the two functions, on any stack, also a thread that is ending, and at the end of
// the process. The functions must not call hocket, because hocket may hold a lock of its own meanwhile. So a collector
// runs finalizers elsewhere.
struct memory_source {
  // Returns at least `bytes` bytes, aligned to `alignment`: a power of two, and at most operator new's alignment except
  // for over-aligned types of the user. Null: out of memory. The caller then fails as if the heap had no memory, mostly
  // by std::bad_alloc.
  void* (*allocate)(std::size_t bytes, std::size_t alignment) noexcept = nullptr;

  // Releases memory that allocate() returned for the same numbers. `memory` is never null.
  void (*release)(void* memory, std::size_t bytes, std::size_t alignment) noexcept = nullptr;
};
static_assert(detail::owns_nothing<memory_source>);

// Sets the source of the process, once and for good. A child by fork() inherits it. Any thread.
// Throws std::logic_error if a function is null, a source is set already, or hocket has allocated memory before.
void set_memory_source(const memory_source& source);

namespace detail {

// Allocates from the source or, if none is set, from the heap. The first call fixes this choice. Null: out of memory.
[[nodiscard]] void* source_allocate(std::size_t bytes, std::size_t alignment) noexcept;
// Like source_allocate(), but throws bad_alloc, or the exception of operator new.
[[nodiscard]] void* source_allocate_or_throw(std::size_t bytes, std::size_t alignment);
// Releases memory of either function. `memory` is not null.
void source_release(void* memory, std::size_t bytes, std::size_t alignment) noexcept;

// Whether released memory may be kept for reuse: only if no source is set. Fixes the choice, like source_allocate().
[[nodiscard]] bool keeps_released_memory() noexcept;

// A base of classes that hold objects of the user: their operator new allocates from the source.
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
