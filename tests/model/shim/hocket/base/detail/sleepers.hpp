// <hocket/base/detail/sleepers.hpp> under the model checker: one count, which the test makes for each execution.
#pragma once
#include <hocket/base/seam/atomic.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

inline atomic<std::uint32_t>* counted_sleepers = nullptr;
inline atomic<std::uint32_t>& sleepers_near(const void*) noexcept { return *counted_sleepers; }

}}}  // namespace hocket::detail
