// The thread that running code counts as, in builds in which a fiber is a thread of the operating system
// (HOCKET_BACKEND=thread; in others it is the thread itself, and nothing of this is defined).
//
// A fiber belongs to the thread that resumes it: whatever the library keeps per thread must be that thread's, not that
// of the fiber's own stack. So it hangs on a logical_thread, which a switch hands on like a token: the operating
// system's thread that goes on continues as the one that parked.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Each thread of the operating system has one, all zero when it begins; a fiber's never uses its own. Valid as long as
// the thread lives: also while its thread_local objects and, of the main thread, static objects are destroyed.
struct logical_thread {
  static constexpr std::size_t room = 256;
  alignas(std::max_align_t) std::byte state[room] = {};  // core/thread/seam/current.hpp keeps its state there
  void (*at_end)() noexcept = nullptr;                   // runs when the thread ends, on it
};

[[HOCKET_NOINLINE]] logical_thread& this_logical_thread() noexcept;

// The calling thread of the operating system continues as `thread`.
void continue_as(logical_thread& thread) noexcept;

}}}  // namespace hocket::detail
