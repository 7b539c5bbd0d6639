#include "io_memory/memory_listener.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

time_point memory_listener::enqueue(std::unique_ptr<memory_object> end) {
  memory_object& object = *end;
  const time_point arrival =
      std::max(medium->now() + medium->latency(), queue_.empty() ? time_point() : queue_.back().arrival);
  queue_.push_back({arrival, make_descriptor(std::move(end)), &object});
  medium->schedule_edge(arrival, tag, memory_side::in);
  return arrival;
}

bool memory_listener::has_connection() const noexcept {
  return !queue_.empty() && queue_.front().arrival <= medium->now();
}

call_end memory_listener::call(transfer& operation) {
  if (operation.kind == call_kind::look) {
    const bool is_ready = (operation.size & POLLIN) != 0 && has_connection();
    return is_ready ? complete(operation, call_end::done) : call_end::blocks;
  }
  if (operation.kind != call_kind::accept) return fail(operation, ENOTCONN);
  if (!has_connection()) return call_end::blocks;
  operation.data = descriptor_access::release(queue_.front().end);
  queue_.pop_front();
  return complete(operation, has_connection() ? call_end::done : call_end::drained);
}

// Resets the connections that were not accepted.
void memory_listener::close() noexcept {
  medium->streams.unbind(*this, local);
  for (const connection& pending : queue_) pending.object->reset_connection();
}

}}}  // namespace hocket::detail
