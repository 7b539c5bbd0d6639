// Memory for coroutine frames, and for the waits of fibers: each thread keeps the frames that it frees, by size, and
// hands them out again.
//
// A coroutine that is created, awaited and destroyed allocates and frees a frame of one size; the general allocator
// costs more than all the rest of that. g++ never, and clang rarely, elides the allocation. So:
//
//   size classes   multiples of 64 bytes up to 2 KiB; what is larger comes from the heap and goes there
//   order          last in, first out: the frame that comes back is the one that is still in the cache
//   threads        of each class a thread keeps two *magazines*: the loaded one, which it takes from and gives to
//                  without a lock, and at most one that is full. Further full ones go to a depot for all threads
//                  (frame_depot.hpp), and come from there: so frames that one thread makes and another frees return
//   bound          a magazine holds 16 KiB, so a thread keeps 1 MiB at the very most. The depot keeps as
//                  much as was in use at once in the last period of decay; without housekeeping, as much as was ever
//                  in use at once. frame_memory_limit() sets a lower bound
//   decay          what was not needed for a period goes back to the heap (frame_memory_decay()): of the depot the
//                  magazines that were never taken in it; of a thread all of a size from which it took nothing, the
//                  full magazine by the depot. Loops and workers look before they sleep, if something is due
//                  (housekeeping.hpp), and those that are idle wake up for it. Other threads look, for the depot,
//                  while they free many frames
//   end            a thread that ends gives full magazines to the depot, and all else back to the heap
//
// The fast path is this_thread(), one pop or push and two counts. The magazines and the depot are those of
// Bonwick and Adams, "Magazines and Vmem", 2001; a magazine here is a list in the frames themselves.
//
// A frame has the alignment of the global operator new, frame_alignment, and no stricter one: what a frame keeps must
// fit (docs/traps/over-aligned-locals.md).
//
// A failing allocation throws std::bad_alloc out of the coroutine function, before its body begins. Under ASan and
// TSan every frame goes to the heap, so that the use of a destroyed frame is found.
//
// While a memory_source is set (base/memory_source.hpp), it takes the place of the heap, and nothing is kept: each
// frame comes from the source and goes back there.
//
// At check level `debug` a debugger finds all frames: what comes from the heap is listed until it goes back there
// (src/core/frame_list.hpp), 16 bytes each. Not under ASan and TSan, nor frames from an allocator of one's own.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/core/detail/current.hpp>
#include <cstddef>
#include <cstdint>
#include <new>

namespace hocket { inline namespace HOCKET_ABI {

// Counts are of the calling thread, never go back, and start when it first uses its frame memory. While a memory_source
// is set, all of them are zero.
struct frame_memory_statistics {
  std::uint64_t hits = 0;    // allocations served from kept frames
  std::uint64_t misses = 0;  // allocations of a size class that went to the heap
  std::size_t held = 0;      // bytes that the calling thread keeps now
  std::size_t shared = 0;    // bytes that the depot keeps now, for all threads
};
// Any thread; of the calling one.
frame_memory_statistics frame_memory_usage() noexcept;

// Gives every frame that the calling thread and the depot keep back to the heap. Returns the number of bytes.
std::size_t trim_frame_memory() noexcept;

// The most bytes that the depot keeps, at every moment. By default there is no such number: decay alone bounds the
// depot. A new limit that is exceeded empties it. Any thread; the setter returns the previous limit.
inline constexpr std::size_t default_frame_memory_limit = static_cast<std::size_t>(-1);
std::size_t frame_memory_limit() noexcept;
std::size_t frame_memory_limit(std::size_t bytes) noexcept;

// What was not needed for so long, by that clock, is given back: of the depot, and of threads whose loop or runtime has
// the same clock. duration::max(): nothing is. Any thread. The clock must live until another clock is set: any
// thread that frees frames may read it.
inline constexpr duration default_frame_memory_decay = std::chrono::seconds(10);
void frame_memory_decay(duration period, const clock_source& time = steady_clock()) noexcept;

namespace detail {

// For promise types: what their operator new and operator delete call. `bytes` must be the same in both.
void* allocate_frame(std::size_t bytes);
void release_frame(void* frame, std::size_t bytes) noexcept;

// What every frame is aligned to.
inline constexpr std::size_t frame_alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;

// Whether memory of frames is aligned for a T. A reference refers to whatever.
template <class T>
inline constexpr bool fits_frame = alignof(T) <= frame_alignment;
template <class T>
inline constexpr bool fits_frame<T&> = true;
template <class T>
inline constexpr bool fits_frame<T&&> = true;

inline constexpr std::size_t frame_step = 64;
inline constexpr std::size_t frame_classes = 32;
inline constexpr bool recycles_frames = sanitizer == sanitizer_kind::plain;

// Memory from the heap or the memory_source, listed at check level `debug`; and back.
void* new_frame(std::size_t bytes);
void delete_frame(void* frame, std::size_t bytes) noexcept;

struct kept_frame {
  kept_frame* next;
};

// `first` stands between the two counts: side by side, g++ adds one to both with a 16-byte load, which must wait for
// the 8-byte store of the release before it (the store buffer forwards no such mixture).
struct frame_bin {
  std::size_t room = 0;         // frames that the loaded magazine may still take
  kept_frame* first = nullptr;  // the loaded magazine
  std::uint64_t hits = 0;
  kept_frame* full = nullptr;  // a full magazine, or none
};

// Owned by one thread; reached through its slot. Bin 0 is not used.
struct frame_bins {
  frame_bin bins[frame_classes + 1];
};

// Rounded up to the class, in units of frame_step; beyond frame_classes there is none.
constexpr std::size_t frame_class(std::size_t bytes) noexcept { return (bytes + frame_step - 1) / frame_step; }

inline frame_bins* frames_of(thread_state& thread) noexcept {
  return static_cast<frame_bins*>(slot_of(thread, thread_slot::frame_memory));
}
inline frame_bins* own_frames() noexcept {
  return static_cast<frame_bins*>(in_current_slot<thread_slot::frame_memory>());
}

// Where the loaded magazine is empty, or full. `own` may be null.
[[HOCKET_NOINLINE, HOCKET_COLD]] void* allocate_frame_slowly(frame_bins* own, std::size_t bytes);
[[HOCKET_NOINLINE, HOCKET_COLD]] void release_frame_slowly(frame_bins* own, void* frame, std::size_t bytes) noexcept;

// release_frame(), out of line.
[[HOCKET_NOINLINE]] void release_frame_by_call(void* frame, std::size_t bytes) noexcept;

// `thread` is the caller's own.
inline void* allocate_frame(std::size_t bytes, thread_state& thread) {
  using namespace detail;
  if constexpr (!recycles_frames) return new_frame(bytes);
  if (frame_class(bytes) > frame_classes) return new_frame(bytes);
  frame_bins* own = frames_of(thread);
  if (!own) [[unlikely]]
    return allocate_frame_slowly(own, bytes);
  frame_bin& bin = own->bins[frame_class(bytes)];
  kept_frame* frame = bin.first;
  if (!frame) [[unlikely]]
    return allocate_frame_slowly(own, bytes);
  bin.first = frame->next;
  ++bin.room;
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
  if (bin.room == 0) [[unlikely]]
    return release_frame_slowly(own, memory, bytes);
  --bin.room;
  bin.first = ::new (memory) kept_frame{bin.first};
}

}  // namespace detail

}}  // namespace hocket
