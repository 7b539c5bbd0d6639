// Where seeds come from on this system.
#pragma once
#include <hocket/base/seam/platform/config.hpp>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// 64 bits that differ between calls and between processes; perhaps in a few bits alone. Never blocks for long, never
// fails.
std::uint64_t kernel_entropy() noexcept;

}}}  // namespace hocket::detail
