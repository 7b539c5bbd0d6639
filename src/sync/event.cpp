#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/event.hpp>

namespace hocket::inline HOCKET_ABI {
namespace detail {

template <class Strength>
void event_core<Strength>::begin(suspension& wait, waiter& entry) noexcept {
  locked guard(mutex_);
  for (;;) {
    // ORDER: acquire, pairs with the compare-exchange in set().
    std::uint32_t seen = word_.load(std::memory_order_acquire);
    if (seen == is_set_word) {
      [[maybe_unused]] bool taken = wait.take_now(entry, *this);
      return;
    }
    // ORDER: relaxed, pairs with nothing: the line is read under the inner mutex only; on failure it is loaded again.
    if (seen == wanted ||
        word_.compare_exchange_weak(seen, wanted, std::memory_order_relaxed, std::memory_order_relaxed))
      break;
  }
  entry.enlist(wait, *this);
  line_.push_back(entry);
}

template <class Strength>
void event_core<Strength>::wake_all() noexcept {
  waiter* first = nullptr;
  {
    locked guard(mutex_);
    // ORDER: release, pairs with the load in is_set() and the compare-exchange in reset().
    word_.exchange(is_set_word, std::memory_order_release);
    while (!line_.empty()) {
      waiter& last = line_.pop_back();
      last.resource = first;
      first = &last;
    }
  }
  while (first) {
    auto* next = static_cast<waiter*>(first->resource);
    first->grant();
    first = next;
  }
}

template <class Strength>
bool event_core<Strength>::detach(waiter& entry) noexcept {
  locked guard(mutex_);
  if (!entry.linked()) return false;
  line_.erase(entry);
  return true;
}

template class event_core<strength::shared>;
template class event_core<strength::unsync>;

}  // namespace detail

template class basic_event<strength::shared>;
template class basic_event<strength::unsync>;
template class basic_auto_reset_event<strength::shared>;
template class basic_auto_reset_event<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI
