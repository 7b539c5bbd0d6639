#include <hocket/sync/detail/channel_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
waiter* channel_core<Strength>::grant_first(wait_queue& queue, grants& granted) noexcept {
  grant first = queue.claim_first();
  if (!first) return nullptr;
  waiter& entry = first.entry();
  granted.add(std::move(first));
  return &entry;
}

// A select with both ends of the channel does not meet itself.
template <class Strength>
waiter* channel_core<Strength>::meet(wait_queue& queue, suspension& wait, waiter& entry, grants& granted) noexcept {
  for (waiter& other : queue) {
    if (other.belongs_to(wait)) continue;
    if (grant matched = wait.meet(entry, *this, other)) {
      list<waiter>::erase(other);
      granted.add(std::move(matched));
      return &other;
    }
    if (wait.decided()) break;
  }
  return nullptr;
}

template <class Strength>
bool channel_core<Strength>::close(std::error_code error) noexcept {
  expects(static_cast<bool>(error), "a channel was closed with an error code that means success",
          "say close(), or give the error that the waiters get");
  grants granted;
  {
    locked guard(mutex_);
    if (closed_) return false;
    closed_ = true;
    set_outlook(outlook::unknown);
    close_error_ = error;
    fail_all(senders_, granted);
    fail_all(receivers_, granted);
  }
  granted.post();
  return true;
}

template <class Strength>
void channel_core<Strength>::fail_all(wait_queue& queue, grants& granted) noexcept {
  queue.claim_all(granted, [this](waiter& entry) { channel_core::party_of(entry).fail(close_error_); });
}

template <class Strength>
bool channel_core<Strength>::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  return wait_queue::take_out(entry);
}

template class channel_core<strength::shared>;
template class channel_core<strength::unsync>;

}}}  // namespace hocket::detail
