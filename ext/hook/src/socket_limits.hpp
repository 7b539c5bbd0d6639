// SO_RCVTIMEO and SO_SNDTIMEO: the system keeps them per socket. A program that never sets one never pays the system
// call that reads them.
//
// A socket may have a limit that this process has not set: it was inherited from another program over execve(2), or
// received over a unix socket. So the first wait asks the numbers below 1,024 once, and a message with descriptors
// makes every later wait ask.
#pragma once
#include <hocket/base/seam/platform/config.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

bool sockets_have_limits() noexcept;
// Some socket has a limit, or may have.
void expect_limits() noexcept;

}}}  // namespace hocket::hook
