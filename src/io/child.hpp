// Children of this process, as descriptors: pidfds with what is known of their end.
//
// A child is reaped once, by the first wait that finds it ended, under the word of its direction (direction.hpp). The
// status stays with the descriptor. A descriptor that is closed before leaves its child to the list of orphans, which
// reap_orphans() looks through.
#pragma once
#include <hocket/io/descriptor.hpp>
#include <sys/types.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Whether the system has pidfds, and what they need.
bool has_pidfds() noexcept;

// A child that was just started. On failure it is killed and reaped.
result<descriptor> adopt_child(pid_t id, bool kill_at_close) noexcept;

// An error number, or 0.
int signal_child(const descriptor& one, int signal) noexcept;

// Any thread.
void reap_orphans() noexcept;

}}}  // namespace hocket::detail
