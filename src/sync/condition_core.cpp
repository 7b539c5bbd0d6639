#include <hocket/sync/detail/condition_core.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
void condition_core<Strength>::enqueue(suspension& wait, waiter& entry, request& relock) noexcept {
  entry.resource = &relock;
  relock.listed = true;
  locked guard(mutex_);
  debug_expects(waiters_.empty() || request_of(waiters_.front()).lock == relock.lock,
                "a condition is waited for with two mutexes at a time", "wait with the mutex that guards what changes");
  waiters_.enlist(wait, *this, entry);
}

template <class Strength>
bool condition_core<Strength>::notify_one() noexcept {
  grant first;
  {
    locked guard(mutex_);
    first = waiters_.claim_first();
    if (!first) return false;
    request_of(first.entry()).listed = false;
  }
  requeue(std::move(first));
  return true;
}

template <class Strength>
std::size_t condition_core<Strength>::notify_all() noexcept {
  grants all;
  std::size_t notified = 0;
  {
    locked guard(mutex_);
    waiters_.claim_all(all, [&notified](waiter& entry) {
      request_of(entry).listed = false;
      ++notified;
    });
  }
  while (!all.empty()) requeue(all.take_first());
  return notified;
}

template <class Strength>
bool condition_core<Strength>::detach(waiter& entry) noexcept {
  request& relock = request_of(entry);
  {
    locked guard(mutex_);
    if (!relock.listed) return false;
    relock.listed = false;
    waiters_.erase(entry);
  }
  relock.lock->adopt(entry.deferred());
  return false;
}

template class condition_core<strength::shared>;
template class condition_core<strength::unsync>;

}}}  // namespace hocket::detail
