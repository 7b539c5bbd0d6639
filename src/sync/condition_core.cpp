#include <hocket/sync/detail/condition_core.hpp>

namespace hocket::inline HOCKET_ABI::detail {

template <class Strength>
void condition_core<Strength>::get_in_line(suspension& wait, waiter& entry, request& what) noexcept {
  entry.enlist(wait, *this);
  entry.resource = &what;
  what.entry = &entry;
  what.listed = true;
  locked guard(mutex_);
  debug_expects(line_.empty() || request_of(line_.front()).lock == what.lock,
                "a condition is waited for with two mutexes at a time", "wait with the mutex that guards what changes");
  line_.push_back(entry);
}

template <class Strength>
relock_request<Strength>* condition_core<Strength>::pop() noexcept {
  locked guard(mutex_);
  if (line_.empty()) return nullptr;
  request& first = request_of(line_.pop_front());
  first.listed = false;
  return &first;
}

template <class Strength>
relock_request<Strength>* condition_core<Strength>::pop_all() noexcept {
  locked guard(mutex_);
  request* first = nullptr;
  for (request** end = &first; !line_.empty(); end = &(*end)->next) {
    *end = &request_of(line_.pop_front());
    (*end)->listed = false;
    (*end)->next = nullptr;
  }
  return first;
}

// False: the wait was ended by others. The waiter may be gone afterwards.
template <class Strength>
bool condition_core<Strength>::notify(request& first) noexcept {
  const bool won = first.entry->claim_grant();
  first.lock->adopt(*first.entry);
  return won;
}

template <class Strength>
bool condition_core<Strength>::notify_one() noexcept {
  while (request* first = pop())
    if (notify(*first)) return true;
  return false;
}

template <class Strength>
std::size_t condition_core<Strength>::notify_all() noexcept {
  std::size_t notified = 0;
  for (request* first = pop_all(); first;) {
    request* const next = first->next;
    notified += notify(*first) ? 1 : 0;
    first = next;
  }
  return notified;
}

template <class Strength>
bool condition_core<Strength>::detach(waiter& entry) noexcept {
  request& what = request_of(entry);
  {
    locked guard(mutex_);
    if (!what.listed) return false;
    what.listed = false;
    line_.erase(entry);
  }
  what.lock->adopt(entry);
  return false;
}

template class condition_core<strength::shared>;
template class condition_core<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI::detail
