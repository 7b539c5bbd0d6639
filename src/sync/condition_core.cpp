#include <hocket/sync/detail/condition_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
void condition_core<Strength>::get_in_line(suspension& wait, waiter& entry, request& what) noexcept {
  entry.resource = &what;
  what.listed = true;
  locked guard(mutex_);
  debug_expects(line_.empty() || request_of(line_.front()).lock == what.lock,
                "a condition is waited for with two mutexes at a time", "wait with the mutex that guards what changes");
  line_.enlist(wait, *this, entry);
}

template <class Strength>
bool condition_core<Strength>::notify_one() noexcept {
  grant first;
  {
    locked guard(mutex_);
    first = line_.claim_first();
    if (!first) return false;
    request_of(first.entry()).listed = false;
  }
  hand_on(std::move(first));
  return true;
}

template <class Strength>
std::size_t condition_core<Strength>::notify_all() noexcept {
  grants all;
  std::size_t notified = 0;
  {
    locked guard(mutex_);
    line_.claim_all(all, [&notified](waiter& entry) {
      request_of(entry).listed = false;
      ++notified;
    });
  }
  while (!all.empty()) hand_on(all.take_first());
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
  what.lock->adopt(entry.deferred());
  return false;
}

template class condition_core<strength::shared>;
template class condition_core<strength::unsync>;

}}}  // namespace hocket::detail
