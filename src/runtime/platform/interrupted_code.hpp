// What a signal handler reads of the code that it interrupted: its registers, and its callers by the unwind tables.
//
// Callers are found by unwind tables alone. Frame pointers are no help: code without them is usual (the C library), and
// a register that is no frame pointer may point into the stack, so a chain of them can be wrong. The tables are read by
// _Unwind_Backtrace. It takes no lock where libgcc (12 and later) finds tables by _dl_find_object (glibc 2.35). Where
// it would take the lock of the loader, which the interrupted code may hold, no callers are known.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <array>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// `context`: the ucontext_t of the handler.
struct interrupted_code {
  explicit interrupted_code(const void* context) noexcept;

  std::uintptr_t instruction = 0;  // 0: how this machine keeps it is not known
  std::uintptr_t stack_pointer = 0;
  std::array<std::uintptr_t, 32> registers{};
};

struct native_frame {
  std::uintptr_t address;   // of the interrupted instruction; in callers, the return address
  std::uintptr_t function;  // the beginning of the function; 0: unknown
  std::uintptr_t stack_pointer;
};

// Calls visit(with, frame) for the interrupted code and its callers, innermost first, until it returns false, or until
// the next caller is unknown. In the handler that interrupted the code.
void visit_native_frames(const interrupted_code& code, bool (*visit)(void* with, const native_frame& frame) noexcept,
                         void* with) noexcept;

// Once, before the first signal: what the first use of the tables would load or resolve.
void prepare_native_frames() noexcept;

// Whether the interrupted thread is the one whose coroutine runs: not where fibers are threads.
extern const bool can_interrupt_coroutines;

// The bounds of the calling thread's stack; 0 and 0: the system does not say.
struct native_stack {
  std::uintptr_t low = 0, high = 0;
};
native_stack stack_of_this_thread() noexcept;

}}}  // namespace hocket::detail
