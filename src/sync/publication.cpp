#include <hocket/sync/detail/publication.hpp>

namespace hocket::inline HOCKET_ABI::detail {

template <class Strength>
publication<Strength>::~publication() {
  Strength::drain(mutex_);
  debug_expects(line_.empty(), "a watch or a broadcast was destroyed while somebody waits at it",
                "close() it, and let it outlive all who use it");
}

template <class Strength>
void publication<Strength>::begin(suspension& wait, waiter& entry, std::uint64_t seen) noexcept {
  locked guard(mutex_);
  if (has_news(seen)) {
    [[maybe_unused]] const bool granted = wait.take_now(entry, *this);  // false: a select, by another operation
  } else {
    entry.enlist(wait, *this);
    line_.push_back(entry);
  }
}

template <class Strength>
bool publication<Strength>::close(std::error_code why) noexcept {
  expects(static_cast<bool>(why), "a watch or a broadcast was closed with an error code that means success",
          "say close(), or give the error that the receivers are to get");
  woken_waits woken;
  {
    locked guard(mutex_);
    if (is_closed()) return false;
    why_ = why;
    // ORDER: relaxed, pairs with the load in has_news(): the mutex orders the error.
    published_.store(published() | closed, std::memory_order_relaxed);
    woken.take(line_);
  }
  woken.grant();
  return true;
}

template <class Strength>
bool publication<Strength>::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  if (!entry.linked()) return false;
  list<waiter>::erase(entry);
  return true;
}

template class publication<strength::shared>;
template class publication<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI::detail
