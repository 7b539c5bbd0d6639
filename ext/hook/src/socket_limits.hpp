// SO_RCVTIMEO and SO_SNDTIMEO: the system keeps them per socket. A program that never sets one never pays the system
// call that reads them.
#pragma once
#include <hocket/base/detail/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

bool sockets_have_limits() noexcept;

}}}  // namespace hocket::hook
