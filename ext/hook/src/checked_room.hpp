// For the names that _FORTIFY_SOURCE calls: `size` bytes go into `room` bytes.
#pragma once
#include <cstddef>

#include <hocket/base/seam/platform/config.hpp>

extern "C" [[noreturn]] void __chk_fail() noexcept;

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

inline void expect_room(std::size_t size, std::size_t room) noexcept {
  if (size > room) [[unlikely]]
    __chk_fail();
}

}}}  // namespace hocket::hook
