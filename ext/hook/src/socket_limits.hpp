// SO_RCVTIMEO and SO_SNDTIMEO: the system keeps them for each socket. A program that never sets one does not pay the
// system call that asks.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket::inline HOCKET_ABI::hook {

bool sockets_have_limits() noexcept;

}  // namespace hocket::inline HOCKET_ABI::hook
