#include <hocket/core/context/seam/stop_link.hpp>

#include <algorithm>

namespace hocket { inline namespace HOCKET_ABI {

using namespace detail;

namespace detail {

stop_link::stop_link(stop_source& parent, stop_source& child, min_stop_level weakest) noexcept
    : stop_link(&parent, child, late{}) {
  const stop_level requested = enlist(weakest);
  if (requested > strongest_ignored(weakest)) child.request(requested, parent.timed_out());
}

// Attaches the link. Returns the earlier request of the parent.
stop_level stop_link::enlist(min_stop_level weakest) noexcept {
  [[maybe_unused]] stop_level linked_first = parent_->requested();  // the parent may be a late_stop_source
  locked guard(parent_->mutex_);
  const stop_level requested = parent_->requested();
  const bool open = requested == stop_level::none && weakest == min_stop_level::cancel;
  if (requested != stop_level::kill) (open ? parent_->open_ : parent_->shielded_).push_back(*this);
  // ORDER: relaxed, pairs with nothing: read by the owner's destructor only.
  else busy_.store(detached, std::memory_order_relaxed);
  return requested;
}

stop_link::~stop_link() {
  // ORDER: relaxed, pairs with nothing: it only says whether the parent may still exist.
  if (!(busy_.load(std::memory_order_relaxed) & detached)) {
    locked guard(parent_->mutex_);
    if (linked()) parent_->unlink(*this);
    // ORDER: acquire, pairs with the fetch_add in give_back(), as below. It has no borrower, and cannot be borrowed
    // now.
    if (busy_.load(std::memory_order_acquire) == 0) return;
  }
  // ORDER: acquire, pairs with the fetch_add in give_back(): what the last borrower did to the child came before.
  std::uint32_t busy = busy_.fetch_or(leaving, std::memory_order_acquire) | leaving;
  while ((busy & ~detached) != leaving) {
    futex_wait(busy_, busy);
    // ORDER: acquire, pairs with the fetch_add in give_back(), as above.
    busy = busy_.load(std::memory_order_acquire);
  }
}

// Called by a request that has popped the link, under the parent's mutex.
void stop_link::borrow() noexcept {
  // ORDER: relaxed, pairs with nothing: the mutex keeps it before the fetch_or in the destructor.
  busy_.fetch_add(1, std::memory_order_relaxed);
}

// Called by the borrower: continues with the child, unless another request has reached it.
void stop_link::descend(position& walk, stop_level level) noexcept {
  if (!child_.raise(level, parent_->timed_out())) return return_borrowed(level);
  link_above(level) = walk.borrowed;
  walk = {&child_, this};
}

// Called by the borrower, after everything below.
void stop_link::ascend(position& walk, stop_level level) noexcept {
  walk = {parent_, link_above(level)};
  return_borrowed(level);
}

// Afterwards the link may be destroyed. A kill detaches it for ever.
void stop_link::return_borrowed(stop_level level) noexcept {
  const std::uint32_t change = (level == stop_level::kill ? detached : 0) - 1;
  // ORDER: release, pairs with the fetch_or and the load in the destructor.
  std::uint32_t previous = busy_.fetch_add(change, std::memory_order_release);
  if ((previous & ~detached) == (leaving | 1)) futex_wake_one(busy_);
}

// --- late links

void late_stop_source::link_up() noexcept {
  locked guard(mutex_);
  // ORDER: relaxed, pairs with nothing: requests and links of this source are made under the mutex.
  word current = word_.load(std::memory_order_relaxed);
  if (!is_apart(current)) return;
  // ORDER: relaxed, pairs with the compare-exchange in leave(): if the end was first, the parent may be destroyed.
  if (!word_.compare_exchange_strong(current, current | linking, std::memory_order_relaxed, std::memory_order_relaxed))
    return;
  linked_ = true;
  const stop_level from_above = link_.enlist(min_stop_level::cancel);
  const stop_level level = current == apart ? from_above : std::max(from_above, stop_level::cancel);
  if (current == apart && from_above != stop_level::none) record_reason(link_.parent_->timed_out());
  // ORDER: release, pairs with the load in requested() and attach(): a reader of the request sees its cause.
  word_.store(bits_of(level), std::memory_order_release);
}

void late_stop_source::wait_for_link() noexcept { const locked until_made(mutex_); }

}  // namespace detail

stop_level stop_source::requested_above() const noexcept {
  auto& self = const_cast<stop_source&>(*this);  // the result does not change: it is only stored here from now on
  static_cast<late_stop_source&>(self).link_up();
  return requested();
}

stop_level stop_source::attach_below(stop_node& node, min_stop_level weakest) noexcept {
  static_cast<late_stop_source&>(*this).link_up();
  return attach(node, weakest);
}

// By compare-exchange, because leave() takes no lock: after the end a source must not become apart again.
bool stop_source::raise_apart(word current, stop_level level, bool by_deadline) noexcept {
  if (current == apart_cancelled && level == stop_level::cancel) return false;
  const word raised = level == stop_level::kill ? kill_bit : apart_cancelled;
  if (current == apart) record_reason(by_deadline);
  // ORDER: release, pairs with the load in requested() and attach(): a reader of the request sees its cause; relaxed
  // on failure: the coroutine has ended.
  return word_.compare_exchange_strong(current, raised, std::memory_order_release, std::memory_order_relaxed);
}

}}  // namespace hocket
