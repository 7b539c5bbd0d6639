// Valgrind is told which memory is a stack: otherwise each switch looks to it like a very large change of one.
#pragma once
#include <hocket/base/platform/config.hpp>

namespace hocket::inline HOCKET_ABI {

// Registers [low, high) and returns an id for forget_stack(). Costs a few instructions when not under Valgrind.
unsigned announce_stack(void* low, void* high) noexcept;
void forget_stack(unsigned id) noexcept;

}  // namespace hocket::inline HOCKET_ABI
