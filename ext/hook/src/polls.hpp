// The wait that poll(2) and its like come down to.
#pragma once
#include <hocket/base/clock.hpp>

#include <poll.h>

namespace hocket::inline HOCKET_ABI::hook {

// How many are ready; 0 at the limit.
int poll_until(pollfd* all, nfds_t count, time_point limit) noexcept;

}  // namespace hocket::inline HOCKET_ABI::hook
