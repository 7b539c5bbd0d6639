// Errors of driver_here(), as operations store them.
#pragma once
#include <hocket/base/error.hpp>

#include <cerrno>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// An operation stores an errno, and its result translates ECANCELED back (failure_of_transfer). The other errors of
// driver_here() are std::errc or of the system: their values are errno values.
inline int errno_of(const std::error_code& driver_error) noexcept {
  return driver_error == errc::cancelled ? ECANCELED : driver_error.value();
}

}}}  // namespace hocket::detail
