#include <hocket/sync/detail/channel_core.hpp>

namespace hocket::inline HOCKET_ABI::detail {

// Whose wait others have ended stays in line: they take it out.
template <class Strength>
waiter* channel_core<Strength>::grant_first(list<waiter>& line, granted_waits& granted) noexcept {
  for (waiter& entry : line) {
    const settlement how = entry.settle();
    if (how == settlement::lost) continue;
    list<waiter>::erase(entry);
    granted.add(entry, how);
    return &entry;
  }
  return nullptr;
}

// A select with both ends of the channel does not meet itself.
template <class Strength>
waiter* channel_core<Strength>::meet(list<waiter>& line, suspension& wait, waiter& entry,
                                     granted_waits& granted) noexcept {
  for (waiter& other : line) {
    if (other.belongs_to(wait)) continue;
    settlement how = settlement::lost;
    if (wait.take_now_with(entry, *this, other, how)) {
      list<waiter>::erase(other);
      granted.add(other, how);
      return &other;
    }
    if (wait.decided()) break;
  }
  return nullptr;
}

template <class Strength>
bool channel_core<Strength>::close(std::error_code why) noexcept {
  expects(static_cast<bool>(why), "a channel was closed with an error code that means success",
          "say close(), or give the error that those who wait are to get");
  granted_waits granted;
  {
    locked guard(mutex_);
    if (closed_) return false;
    closed_ = true;
    why_ = why;
    fail_all(senders_, granted);
    fail_all(receivers_, granted);
  }
  granted.tell();
  return true;
}

template <class Strength>
void channel_core<Strength>::fail_all(list<waiter>& line, granted_waits& granted) noexcept {
  for (auto at = line.begin(); at != line.end();) {
    waiter& entry = *at;
    ++at;
    const settlement how = entry.settle();
    if (how == settlement::lost) continue;
    list<waiter>::erase(entry);
    channel_party::of(entry).fail(why_);
    granted.add(entry, how);
  }
}

template <class Strength>
bool channel_core<Strength>::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  if (!entry.linked()) return false;
  list<waiter>::erase(entry);
  return true;
}

template class channel_core<strength::shared>;
template class channel_core<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI::detail
