// The list of all memory from the heap for frames, so that a debugger finds all frames. At check level `debug` only: a
// link takes 16 bytes of each piece, and a lock at each allocation and release.
//
// Each piece begins with a link. A piece is linked when it is allocated from the heap, and unlinked when it is freed.
// Recycling a frame changes no list. The first word of a piece shows its use:
//   - A coroutine that has not finished begins with its resume function (core/thread/seam/frame.hpp).
//   - A free frame begins with a link of its thread or the depot, or null.
//   - Other users of frame memory begin with other data.
//
// The links are complements of addresses. So a leak checker does not see them as references, and reports lost frames.
// There are several lists, chosen by address, to reduce contention.
//
// A debugger finds the lists by their name, `hocket::frame_lists`, in a live process and in a core file alike
// (tools/gdb/hocket_gdb/pieces.py). It may find a half-changed list.
#pragma once
#include <hocket/base/seam/mutex.hpp>
#include <cstddef>
#include <cstdint>
#include <new>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// In front of a frame: the complements of its neighbours' addresses, or of null.
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

}}}  // namespace hocket::detail
