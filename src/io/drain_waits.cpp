#include <hocket/base/seam/forks.hpp>
#include <hocket/io/detail/drain_waits.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;
using primitive::waiter;

static drain_wait& drain_wait_of(waiter& entry) noexcept { return *static_cast<drain_wait*>(entry.resource); }

void drain_wait::end(waiter& entry, int error) noexcept {
  drain_wait_of(entry).error = error;
  entry.claim_popped().post();
}

void drain_waits::end_all(primitive::thread_mutex& list_mutex, int error) noexcept {
  while (waiter* const entry = pop(list_mutex)) drain_wait::end(*entry, error);
}

waiter* drain_waits::pop(primitive::thread_mutex& list_mutex) noexcept {
  locked guard(list_mutex);
  waiter* const popped = first();
  if (popped) waiters_.erase(*popped);
  return popped;
}

// The waits of a parent process precede the waits of this one.
waiter* drain_waits::first() noexcept {
  while (!waiters_.empty()) {
    waiter& found = waiters_.front();
    if (drain_wait_of(found).forks == forks_so_far()) return &found;
    waiters_.erase(found);
    primitive::wait_queue::link_alone(found);
  }
  return nullptr;
}

bool drain_waits::take_out(waiter& entry) noexcept {
  if (!entry.linked()) return false;
  waiters_.erase(entry);
  return true;
}

}}}  // namespace hocket::detail
