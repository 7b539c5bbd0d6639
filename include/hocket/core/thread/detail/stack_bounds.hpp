// Where the stack ends that an address is on, for a signal handler that reads the stack of the code that it
// interrupted.
//
// The layer core is blind to stacks. The layer fiber installs the function that knows the stacks of fibers and those of
// call_on_stack. The thread's own stack is known by the thread.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

struct stack_bounds {
  std::uintptr_t low = 0;
  std::uintptr_t high = 0;  // one past the highest byte
  constexpr bool contains(std::uintptr_t address) const noexcept { return address >= low && address < high; }
};

// Async-signal-safe.
using stack_locator = stack_bounds (*)(std::uintptr_t address) noexcept;

// Before the first fiber. Any thread.
void set_stack_locator(stack_locator locator) noexcept;

// The bounds of the stack of a fiber, or of a called stack, that the address is on; empty for any other address.
// Async-signal-safe.
stack_bounds stack_bounds_at(std::uintptr_t address) noexcept;

}}}  // namespace hocket::detail
