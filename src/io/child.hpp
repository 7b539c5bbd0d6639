// Children of this process, as descriptors: pidfds with their ends.
//
// A child is reaped once, by the first party that finds it ended: a wait, reap_detached() or reap_orphans(). The status
// stays in its record for all waits. If the descriptor is closed before, the record is detached, and reap_detached()
// looks for its end.
//
// The record is in a list from before the child exists until it is reaped and closed. So reap_orphans() knows whether
// an ended child is a child of start(), whatever thread is in start().
//
// The id of a process, and that of its group, may become another's after the child is reaped. So a signal by id is sent
// under the mutex of the record, as long as the child is not reaped.
#pragma once
#include <hocket/io/descriptor.hpp>

#include "io/platform/start_child.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Whether the system has pidfds, and what they need.
bool has_pidfds() noexcept;

struct started_child {
  descriptor owner;
  int id;
};
// On failure there is no child, or it is killed and reaped. The calling thread is suspended until the program begins.
result<started_child> start_child_process(const child_plan& plan, bool kill_at_close) noexcept;

// Error numbers, or 0.
int signal_child(const descriptor& owner, int signal) noexcept;
int signal_group_of_child(const descriptor& owner, int signal) noexcept;
// To its group, if it has one of its own.
int signal_child_and_group(const descriptor& owner, int signal) noexcept;

// Any thread.
void reap_detached() noexcept;
// Returns how many.
std::size_t reap_orphans() noexcept;

}}}  // namespace hocket::detail
