// The common wait of poll(), ppoll(), select() and pselect().
#pragma once
#include <hocket/base/clock.hpp>

#include <poll.h>

namespace hocket { inline namespace HOCKET_ABI { namespace hook {

// Returns how many are ready; 0 at the limit.
int poll_until(pollfd* all, nfds_t count, time_point limit) noexcept;

}}}  // namespace hocket::hook
