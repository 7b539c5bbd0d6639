// Memory for coroutine frames and for waits of fibers: each thread caches the frames that it frees, by size.
//
// A coroutine that is created, awaited and destroyed allocates and frees a frame of one size. The general allocator
// costs more than all the rest of that. g++ never elides the allocation, and clang rarely does. So:
//
//   size classes   multiples of 64 bytes up to 2 KiB; larger frames use the heap
//   order          last in, first out: the frame that was freed last is still in the cache
//   threads        for each class a thread keeps two *magazines*: the loaded one, used without a lock, and at most one
//                  full one. Further full ones go to a depot for all threads (frame_depot.hpp). Threads take full
//                  ones from there, so frames that one thread makes and another frees return
//   bound          a magazine holds 16 KiB, so a thread keeps at most 1 MiB. The depot keeps at most the largest use of
//                  the last period of decay or, without housekeeping, the largest use ever. frame_memory_limit() sets a
//                  smaller maximum
//   decay          memory that was not needed for a period returns to the heap (frame_memory_decay()): magazines in the
//                  depot that were not taken in the period; in a thread, all frames of a size from which it took none,
//                  the full magazine by way of the depot. Loops and workers check before they sleep, if something is
//                  due (housekeeping.hpp). Idle ones wake up for it. Other threads check, for the depot, while they
//                  free many frames
//   end            a thread that ends gives its full magazines to the depot, and the rest back to the heap
//
// Cost. The fast path is this_thread(), one pop or push, and two counts. The design of magazines and depot is by
// Bonwick and Adams, "Magazines and Vmem", 2001. A magazine here is a list in the frames themselves.
//
// Limits. A frame has the alignment of the global operator new, frame_alignment, and no stricter one. Objects in a
// frame must fit it (docs/traps/over-aligned-locals.md).
//
// Errors. A failing allocation throws std::bad_alloc out of the coroutine function, before its body begins.
//
// Under ASan and TSan every frame uses the heap, so that a use of a destroyed frame is found. While a memory_source is
// set (base/memory_source.hpp), it replaces the heap, and nothing is cached: each frame is allocated from the source
// and released to it.
//
// Debugging. At check level `debug` a debugger finds all frames: memory from the heap is listed until it is freed
// (src/core/thread/frame_list.hpp), at 16 bytes each. The list excludes ASan and TSan builds and frames from a user's
// allocator.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <cstddef>
#include <cstdint>
#include <new>

namespace hocket { inline namespace HOCKET_ABI {

// Statistics of the calling thread's frame memory. Counts start when the thread first uses it and never decrease. While
// a memory_source is set, all of them are zero.
struct frame_memory_statistics {
  std::uint64_t hits = 0;    // allocations served from cached frames
  std::uint64_t misses = 0;  // allocations of a size class that used the heap
  std::size_t held = 0;      // bytes that the calling thread caches now
  std::size_t shared = 0;    // bytes that the depot holds now, for all threads
};
// Returns the statistics of the calling thread. Any thread.
frame_memory_statistics frame_memory_usage() noexcept;

// Frees all frames that the calling thread and the depot cache. Returns their size in bytes.
std::size_t trim_frame_memory() noexcept;

// The maximum number of bytes that the depot holds at any moment. By default there is none: decay alone bounds the
// depot. Setting a limit below the current size empties the depot. Any thread. The setter returns the previous limit.
inline constexpr std::size_t default_frame_memory_limit = static_cast<std::size_t>(-1);
std::size_t frame_memory_limit() noexcept;
std::size_t frame_memory_limit(std::size_t bytes) noexcept;

// Sets the decay: memory that was not needed for `period`, by `clock`, returns to the heap. It applies to the depot and
// to threads whose loop or runtime has the same clock. duration::max(): no decay. Any thread. `clock` must live until
// another clock is set, because any thread that frees frames may read it.
inline constexpr duration default_frame_memory_decay = std::chrono::seconds(10);
void frame_memory_decay(duration period, const clock_source& clock = steady_clock()) noexcept;

namespace detail {

// For operator new and operator delete of promise types. `bytes` must be the same in both.
void* allocate_frame(std::size_t bytes);
void release_frame(void* frame, std::size_t bytes) noexcept;

// The alignment of every frame.
inline constexpr std::size_t frame_alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

// Whether a frame is aligned for a T. A reference fits, whatever it refers to.
template <class T>
inline constexpr bool fits_frame = alignof(T) <= frame_alignment;
template <class T>
inline constexpr bool fits_frame<T&> = true;
template <class T>
inline constexpr bool fits_frame<T&&> = true;

inline constexpr std::size_t frame_step = 64;
inline constexpr std::size_t frame_classes = 32;
inline constexpr bool recycles_frames = sanitizer == sanitizer_kind::plain;

// Allocates from the heap or the memory_source, and frees. The memory is listed at check level `debug`.
void* new_frame(std::size_t bytes);
void delete_frame(void* frame, std::size_t bytes) noexcept;

struct cached_frame {
  cached_frame* next;
};

// `first` lies between the two counts. Side by side, g++ increments both with a 16-byte load, which waits for the
// 8-byte store of the preceding release (the store buffer does not forward this mixture).
struct frame_bin {
  std::size_t free_places = 0;    // frames that the loaded magazine may still take
  cached_frame* first = nullptr;  // the loaded magazine
  std::uint64_t hits = 0;
  cached_frame* full = nullptr;  // a full magazine, or none
};

// The bins of one thread, reached through its slot. Bin 0 is not used.
struct frame_bins {
  frame_bin bins[frame_classes + 1];
};

// The class of a size, rounded up, in units of frame_step. Values above frame_classes are no class.
constexpr std::size_t frame_class(std::size_t bytes) noexcept { return (bytes + frame_step - 1) / frame_step; }

inline frame_bins* frames_of(thread_state& thread) noexcept {
  return static_cast<frame_bins*>(slot_of(thread, thread_slot::frame_memory));
}
inline frame_bins* own_frames() noexcept {
  return static_cast<frame_bins*>(in_current_slot<thread_slot::frame_memory>());
}

// The slow paths, for an empty or a full loaded magazine. `own` may be null.
[[HOCKET_NOINLINE, HOCKET_COLD]] void* allocate_frame_slowly(frame_bins* own, std::size_t bytes);
[[HOCKET_NOINLINE, HOCKET_COLD]] void release_frame_slowly(frame_bins* own, void* frame, std::size_t bytes) noexcept;

// release_frame() as a call that is not inlined.
[[HOCKET_NOINLINE]] void release_frame_by_call(void* frame, std::size_t bytes) noexcept;

// `thread` is the calling thread.
inline void* allocate_frame(std::size_t bytes, thread_state& thread) {
  using namespace detail;
  if constexpr (!recycles_frames) return new_frame(bytes);
  if (frame_class(bytes) > frame_classes) return new_frame(bytes);
  frame_bins* own = frames_of(thread);
  if (!own) [[unlikely]]
    return allocate_frame_slowly(own, bytes);
  frame_bin& bin = own->bins[frame_class(bytes)];
  cached_frame* frame = bin.first;
  if (!frame) [[unlikely]]
    return allocate_frame_slowly(own, bytes);
  bin.first = frame->next;
  ++bin.free_places;
  ++bin.hits;
  return frame;
}

inline void* allocate_frame(std::size_t bytes) {
  using namespace detail;
  if constexpr (!recycles_frames) return new_frame(bytes);
  if (frame_class(bytes) > frame_classes) return new_frame(bytes);
  return allocate_frame(bytes, this_thread());
}

inline void release_frame(void* memory, std::size_t bytes) noexcept {
  using namespace detail;
  if constexpr (!recycles_frames) return delete_frame(memory, bytes);
  if (frame_class(bytes) > frame_classes) return delete_frame(memory, bytes);
  frame_bins* own = own_frames();
  if (!own) [[unlikely]]
    return release_frame_slowly(own, memory, bytes);
  frame_bin& bin = own->bins[frame_class(bytes)];
  if (bin.free_places == 0) [[unlikely]]
    return release_frame_slowly(own, memory, bytes);
  --bin.free_places;
  bin.first = ::new (memory) cached_frame{bin.first};
}

// An allocator of the standard on this memory, for arrays that live as long as a wait.
template <class T>
struct frame_allocator {
  using value_type = T;
  static_assert(alignof(T) <= __STDCPP_DEFAULT_NEW_ALIGNMENT__, "frame memory has the alignment of operator new");

  frame_allocator() noexcept = default;
  template <class U>
  frame_allocator(const frame_allocator<U>&) noexcept {}

  T* allocate(std::size_t count) { return static_cast<T*>(allocate_frame(count * sizeof(T))); }
  void deallocate(T* memory, std::size_t count) noexcept { release_frame(memory, count * sizeof(T)); }
  friend bool operator==(const frame_allocator&, const frame_allocator&) noexcept { return true; }
};

}  // namespace detail

}}  // namespace hocket
