// The special properties of a fiber, in bits.
#pragma once
#include <hocket/core/thread/seam/frame.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Bits of coroutine_header::flags beside header_flag's. They are rare: a resume tests them together, on a cache line
// that it needs anyway, and branches if one is set.
namespace fiber_flag {
inline constexpr std::uint8_t special = 16;           // further work: see special_bit
inline constexpr std::uint8_t keeps_exceptions = 32;  // it parked inside a catch block: fiber_record::exceptions
inline constexpr std::uint8_t idle = 128;             // stack_bit::aged or packed
inline constexpr std::uint8_t at_resume = keeps_exceptions | special | idle;
inline constexpr std::uint8_t unwinding = 64;  // it is being destroyed
inline constexpr std::uint8_t scheduled = 8;   // spawned: its worker resumes it, and takes its transfer as a request
}  // namespace fiber_flag

// Bits of coroutine_header::reserved in a fiber: whether its stack stays where it is (fiber/detail/packing.hpp).
namespace stack_bit {
inline constexpr std::uint32_t moves = 1;    // scheduled, and may be packed: its awaiters do not lie on its stack
inline constexpr std::uint32_t packed = 2;   // `record` is the address of its stack_image
inline constexpr std::uint32_t guarded = 4;  // and its pages fault
inline constexpr std::uint32_t aged = 8;     // it has not run since hibernation last looked
inline constexpr std::uint32_t copied = 16;  // it shares its stack: packed while another fiber uses that
}  // namespace stack_bit

// More of them, for fiber_flag::special.
namespace special_bit {
inline constexpr std::uint32_t canary = 32;              // its stack has no guard page: compare the canary
inline constexpr std::uint32_t own_floating_point = 64;  // swap the floating-point environments
// Above these bits: where the canary lies (src/fiber/canary.hpp).
inline constexpr unsigned canary_shift = 8;
}  // namespace special_bit

}}}  // namespace hocket::detail
