// Valgrind is told which memory is a stack: otherwise each switch looks to it like a very large change of one.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Whether this process runs under Valgrind; found out when it starts.
extern const bool under_valgrind;
// The same of its tool Memcheck, which knows which memory may be touched. Others (Callgrind counts) are told nothing.
extern const bool under_memcheck;

// Registers [low, high) and returns an id for forget_stack().
unsigned announce_stack(const void* low, const void* high) noexcept;
void forget_stack(unsigned id) noexcept;

// Code that runs on another stack is about to write there: [low, low + size) may be touched.
void allow_stack_access(const void* low, std::size_t size) noexcept;

}}}  // namespace hocket::detail
