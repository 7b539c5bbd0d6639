// The canary of a fiber's stack, found from the control block.
//
// A stack without a guard page has a canary at its low end (stack/stack_options.hpp), and each switch to the fiber
// compares it. The place of the canary follows from the slab, but to compute it takes a call and five words of the
// slab's head. So the control block stores the place of the canary in the high bits of header.reserved:
//
//     | distance to the canary, in units of 4 KiB : 24 | special_bit, stack_bit : 8 |
//
// The distance counts from the 4 KiB in which the control block lies. Stacks lie above the control blocks of their
// slab, which has at most 4 GiB of them, and every stack begins at a multiple of 4 KiB: so the number is exact, and it
// fits.
#pragma once
#include <hocket/base/fatal.hpp>
#include <hocket/fiber/detail/control_block.hpp>
#include <hocket/stack/stack_pool.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline constexpr std::uintptr_t canary_unit = 4096;

inline std::byte* canary_origin(control_block& block) noexcept {
  auto* const address = reinterpret_cast<std::byte*>(&block);
  return address - reinterpret_cast<std::uintptr_t>(address) % canary_unit;
}

// The canary of a stack that has one. `bits`: the block's header.reserved.
inline std::byte* canary_of(control_block& block, std::uint32_t bits) noexcept {
  const std::uintptr_t distance = bits >> special_bit::canary_shift;
  return canary_origin(block) + distance * canary_unit;
}

// Stores the canary of `stack`, which becomes the stack of the fiber.
inline void store_canary(control_block& block, const stack_ref& stack) noexcept {
  const auto distance = static_cast<std::uintptr_t>(stack.low - canary_size - canary_origin(block));
  block.header.flags |= fiber_flag::special;
  block.header.reserved |=
      special_bit::canary | static_cast<std::uint32_t>(distance / canary_unit << special_bit::canary_shift);
  debug_expects(canary_of(block, block.header.reserved) + canary_size == stack.low,
                "a stack lies where its control block cannot say",
                "a slab has at most 4 GiB of stacks, above their control blocks, from multiples of 4 KiB");
}

[[noreturn, gnu::cold]] void report_canary(control_block& block) noexcept;

// Fatal if the stack has a canary that was overwritten.
inline void check_canary(control_block& block) noexcept {
  const std::uint32_t bits = block.header.reserved;
  if (!(bits & special_bit::canary) || canary_intact(canary_of(block, bits) + canary_size)) [[likely]]
    return;
  report_canary(block);
}

}}}  // namespace hocket::detail
