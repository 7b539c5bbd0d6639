// All slabs of the process, for a signal handler that has an address and looks for its owner.
//
// A fixed table that is searched from end to end: entering and leaving are rare, and a search is the last thing that a
// process does. What does not fit is not found.
#pragma once
#include <hocket/base/detail/platform/config.hpp>
#include <cstdint>

namespace hocket::inline HOCKET_ABI::detail {

class stack_slab;

// Any thread.
void enter_slab(stack_slab& slab) noexcept;
void leave_slab(stack_slab& slab) noexcept;

// The slab whose stacks hold `address`; null if there is none. Async-signal-safe. It may be unmapped by another thread
// at any time: for those who report a fault and then end.
stack_slab* slab_at(std::uintptr_t address) noexcept;

}  // namespace hocket::inline HOCKET_ABI::detail
