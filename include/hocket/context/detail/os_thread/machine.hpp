// The machine switch by threads of the operating system: each fiber is a thread. The contract is
// context/seam/switch.hpp; src/context/os_thread/machine.cpp explains it.
//
// It needs only threads, so it runs anywhere. Debuggers, sanitizers and profilers see plain threads. But a switch takes
// microseconds, and the system limits the number of threads. The language's state of a thread belongs to the fiber
// here: thread_local variables, the exceptions that are being handled, the rounding mode. hocket's state of a thread
// belongs to the resumer, as in every back end.
//
// The stack given to prepare() contains only the record, and the data of the caller.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail { namespace machine {

struct arrival {
  void* from;
  void* transfer;
};

inline constexpr bool fibers_are_threads = true;
inline constexpr bool keeps_rounding_mode = true;
inline constexpr std::size_t kept_below_record = 0;
inline constexpr std::size_t deepest_record = 0;
inline constexpr std::size_t room_to_unwind = 4 * 1024;

void* prepare(void* top, void (*entry)(void*, void*, void*), void* argument, std::size_t size) noexcept;
arrival switch_to(void* to, void* transfer) noexcept;
inline arrival switch_to_in_caller(void* to, void* transfer) noexcept { return switch_to(to, transfer); }
[[noreturn]] void leave(void* to, void* transfer) noexcept;
template <class T>
inline void store_stack_pointer(T*&) noexcept {}
[[gnu::noinline]] const void* thread_id() noexcept;

}  // namespace machine
}}}  // namespace hocket::detail
