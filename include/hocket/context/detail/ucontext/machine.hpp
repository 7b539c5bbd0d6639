// The machine switch by swapcontext: for any architecture with a C library that has it. The contract is
// context/seam/switch.hpp.
//
//     parked stack
//     ...  frames
//          the frame of switch_to(), and in it the record: all registers, as the C library saves them, the signal mask,
//          and the words of the switch back
//     ...  the frame of swapcontext()
//
// Slow: each switch saves and sets the signal mask, by a system call. So a stack has a signal mask of its own, which is
// the thread's when it is prepared, and a rounding mode.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail { namespace machine {

struct arrival {
  void* from;
  void* transfer;
};

inline constexpr bool fibers_are_threads = false;
inline constexpr bool keeps_rounding_mode = true;
inline constexpr std::size_t kept_below_record = 2048;
inline constexpr std::size_t deepest_record = 0;
inline constexpr std::size_t room_to_unwind = 8 * 1024;

void* prepare(void* top, void (*entry)(void*, void*, void*), void* argument, std::size_t size) noexcept;
arrival switch_to(void* to, void* transfer) noexcept;
inline arrival switch_to_in_caller(void* to, void* transfer) noexcept { return switch_to(to, transfer); }
[[noreturn]] void leave(void* to, void* transfer) noexcept;
template <class T>
inline void store_stack_pointer(T*&) noexcept {}
[[gnu::noinline]] const void* thread_id() noexcept;

}  // namespace machine
}}}  // namespace hocket::detail
