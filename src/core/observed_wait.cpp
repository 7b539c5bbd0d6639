// A wait as others see it: a dump, while the threads stand still, and an observer.
#include <hocket/core/context.hpp>
#include <hocket/core/detail/suspension.hpp>
#include <hocket/core/observer.hpp>

namespace hocket::inline HOCKET_ABI::primitive {

// Out of line: nothing of them is to be in the way of a wait that nobody observes (tests/counts).
void suspension::tell_suspended(observer& watcher) const noexcept { watcher.suspended(observed_as(), first_source()); }
void suspension::tell_woken(observer& watcher) const noexcept { watcher.woken(observed_as()); }
bool suspension::tell_committed(observer& watcher) const noexcept {
  tell_suspended(watcher);
  return true;
}

// Which coroutine an observer is told of: the scheduled one as a whole, whichever frame of it waits.
const void* suspension::observed_as() const noexcept {
  const void* whole = ctx_->coroutine();
  return whole ? whole : handle.address();
}

const wait_source* suspension::first_source() const noexcept { return first_ ? first_->source_ : nullptr; }

const wait_source* suspension::awaited() const noexcept {
  // ORDER: relaxed, pairs with the stores in keep() and post_kept(): a mark.
  return decided() ? keeper_.load(std::memory_order_relaxed) : first_source();
}

}  // namespace hocket::inline HOCKET_ABI::primitive
