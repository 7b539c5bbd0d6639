#include "io_memory/memory_door.hpp"

#include "io_memory/memory_core.hpp"
#include "io_memory/memory_end.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

time_point memory_door::admit(memory_end& from) {
  auto made = std::make_unique<memory_end>(*core);
  memory_end& end = *made;
  end.local = from.peer;
  end.peer = from.local;
  const time_point at = std::max(core->now() + core->latency(), queue_.empty() ? time_point() : queue_.back().at);
  queue_.push_back({at, memory_core::own(std::move(made)), &end});
  memory_end::join(from, end);
  core->arrives(at, *this, memory_side::in);
  return at;
}

bool memory_door::has_caller() const noexcept { return !queue_.empty() && queue_.front().at <= core->now(); }

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
  core->streams.unbind(*this);
  for (const caller& one : queue_) one.object->break_up();
}

}}}  // namespace hocket::detail
