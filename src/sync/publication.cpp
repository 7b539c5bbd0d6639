#include <hocket/sync/detail/publication.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
publication<Strength>::~publication() {
  Strength::drain(mutex_);
  debug_expects(waiters_.empty(), "a watch or a broadcast was destroyed while it has a waiter",
                "close() it, and let it outlive its users");
}

template <class Strength>
bool publication<Strength>::begin(suspension& wait, waiter& entry, std::uint64_t position) noexcept {
  locked guard(mutex_);
  if (wait.decided()) return false;
  if (!has_news(position)) return waiters_.enlist(wait, *this, entry);
  [[maybe_unused]] const bool granted = wait.take_now(entry, *this);  // false: the wait is decided otherwise
  return false;
}

template <class Strength>
bool publication<Strength>::close(std::error_code error) noexcept {
  expects(static_cast<bool>(error), "a watch or a broadcast was closed with an error code that means success",
          "say close(), or give the error that the receivers are to get");
  grants woken;
  {
    locked guard(mutex_);
    if (is_closed()) return false;
    close_error_ = error;
    // ORDER: relaxed, pairs with the load in has_news(): the mutex orders the error.
    published_.store(published() | closed, std::memory_order_relaxed);
    waiters_.claim_all(woken);
  }
  woken.post();
  return true;
}

template <class Strength>
bool publication<Strength>::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  return waiters_.take_out(entry);
}

template class publication<strength::shared>;
template class publication<strength::unsync>;

}}}  // namespace hocket::detail
