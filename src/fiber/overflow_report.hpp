// The fiber layer's part of the overflow report: what to install, and the message.
#pragma once
#include <hocket/stack/seam/fault.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// For a thread that is about to make its first fiber.
void prepare_overflow_report(signal_stack& own) noexcept;

}}}  // namespace hocket::detail
