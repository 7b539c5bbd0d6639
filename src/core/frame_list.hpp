// Every piece of memory that the heap has given for frames, so that a debugger finds all of them. At check level
// `debug`: a link takes 16 bytes of each piece, and a lock where one comes or goes.
//
// A link lies in front of each piece, and the pieces form lists. They change where a piece comes from the heap and
// where it goes back, so a frame that is recycled costs nothing. Which pieces hold a coroutine tells their first word:
// a coroutine that has not finished begins with its resume function (core/detail/frame.hpp), a piece that a thread or
// the depot keeps begins with a link of theirs, or null. The other users of frame memory begin with other data.
//
// The links are complements of addresses: for a leak checker a list is no reference, and a frame that was lost is
// found. Several lists, by address, so that threads seldom meet at a lock.
//
// A debugger finds the lists by their name, `hocket::frame_lists`, in a live process and in a core file alike
// (tools/gdb/hocket_gdb/pieces.py). It may find one half changed.
#pragma once
#include <hocket/base/detail/mutex.hpp>
#include <cstddef>
#include <cstdint>
#include <new>

namespace hocket::inline HOCKET_ABI::detail {

// In front of a frame: the complements of the addresses of its neighbours. Of none: that of null.
struct alignas(__STDCPP_DEFAULT_NEW_ALIGNMENT__) frame_link {
  std::uintptr_t next;
  std::uintptr_t previous;
};

struct frame_list {
  std::uintptr_t first = ~std::uintptr_t{0};  // as a link
  thread_mutex lock;
};

inline constexpr std::size_t frame_list_count = under_model ? 1 : 16;
extern frame_list frame_lists[frame_list_count];

}  // namespace hocket::inline HOCKET_ABI::detail
