// Valgrind: registers stacks, because otherwise each switch looks like a very large change of one stack.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Whether this process runs under Valgrind; constant after the start.
extern const bool under_valgrind;
// Whether it runs under the tool Memcheck, which checks accesses to memory. Other tools (Callgrind) get no
// registration.
extern const bool under_memcheck;

// Registers [low, high) and returns an id for forget_stack().
unsigned announce_stack(const void* low, const void* high) noexcept;
void forget_stack(unsigned id) noexcept;

// Allows accesses to [low, low + size), by code that runs on another stack.
void allow_stack_access(const void* low, std::size_t size) noexcept;

}}}  // namespace hocket::detail
