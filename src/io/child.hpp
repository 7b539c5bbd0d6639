// Children of this process, as descriptors: pidfds with their ends.
//
// A child is reaped once, by the first of a wait, reap_detached() and reap_orphans() that finds it ended. Its record
// keeps the status for all waits. If the descriptor is closed while the child runs, the record is detached, and
// reap_detached() reaps the child later.
//
// Hazards
//   - *reap_orphans() takes the status of a child of start(), perhaps while another thread is in start().* Prevented:
//     the record is in a list from before the child exists until the child is reaped and its descriptor closed.
//   - *A signal reaches another process, because the system has reused the id of a reaped child or of its group.*
//     Prevented: a signal by id is sent under the mutex of the record, and only while the child is not reaped.
#pragma once
#include <hocket/io/descriptor.hpp>

#include "io/platform/start_child.hpp"

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// Whether the system has pidfds, and waits for them.
bool has_pidfds() noexcept;

struct started_child {
  descriptor owner;
  int id;
};
// After an error no child is left: a child that was started is killed and reaped. The calling thread is suspended until
// the program begins.
result<started_child> start_child_process(const child_plan& plan, bool kill_at_close) noexcept;

// Return an error number, or 0.
int signal_child(const descriptor& owner, int signal) noexcept;
int signal_group_of_child(const descriptor& owner, int signal) noexcept;
// Sends the signal to the child's own group, or if it has none to the child.
int signal_child_and_group(const descriptor& owner, int signal) noexcept;

// Reaps the detached children that have ended. Any thread.
void reap_detached() noexcept;
// Reaps the ended children that start() has not started. Returns their count.
std::size_t reap_orphans() noexcept;

}}}  // namespace hocket::detail
