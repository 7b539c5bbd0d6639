#include "io_memory/memory_door.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

time_point memory_door::admit(std::unique_ptr<memory_object> near) {
  memory_object& object = *near;
  const time_point at = std::max(medium->now() + medium->latency(), queue_.empty() ? time_point() : queue_.back().at);
  queue_.push_back({at, own(std::move(near)), &object});
  medium->arrives(at, tag, memory_side::in);
  return at;
}

bool memory_door::has_caller() const noexcept { return !queue_.empty() && queue_.front().at <= medium->now(); }

call_end memory_door::call(transfer& what) {
  if (what.kind == call_kind::look) {
    const bool there = (what.size & POLLIN) != 0 && has_caller();
    return there ? ended(what, call_end::done) : call_end::blocks;
  }
  if (what.kind != call_kind::accept) return failed(what, ENOTCONN);
  if (!has_caller()) return call_end::blocks;
  what.data = descriptor_access::release(queue_.front().end);
  queue_.pop_front();
  return ended(what, has_caller() ? call_end::done : call_end::drained);
}

// Who was not accepted is reset.
void memory_door::close() noexcept {
  medium->streams.unbind(*this, local);
  for (const caller& refused : queue_) refused.object->break_up();
}

}}}  // namespace hocket::detail
