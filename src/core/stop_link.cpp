#include <hocket/core/stop_link.hpp>

namespace hocket::inline HOCKET_ABI {

stop_link::stop_link(stop_source& parent, stop_source& child) noexcept : parent_(parent), child_(child) {
  verdict told;
  {
    locked guard(parent.mutex_);
    told = parent.requested();
    if (told != verdict::killed) (told == verdict::idle ? parent.open_ : parent.shielded_).push_back(*this);
  }
  if (told != verdict::idle) child.request(told);
}

stop_link::~stop_link() {
  {
    locked guard(parent_.mutex_);
    if (linked()) list<stop_node>::erase(*this);
  }
  // ORDER: acquire, pairs with the fetch_sub in give_back(): what the last borrower did to the child came before.
  std::uint32_t seen = busy_.fetch_or(leaving, std::memory_order_acquire) | leaving;
  while (seen != leaving) {
    futex_wait(busy_, seen);
    // ORDER: acquire, pairs with the fetch_sub in give_back(), as above.
    seen = busy_.load(std::memory_order_acquire);
  }
}

// By a request that has popped the link, under the parent's mutex.
void stop_link::borrow() noexcept {
  // ORDER: relaxed, pairs with nothing: the mutex keeps it before the fetch_or in the destructor.
  busy_.fetch_add(1, std::memory_order_relaxed);
}

// By its borrower: on to the child, unless that has been told by somebody else.
void stop_link::descend(place& at, verdict strength) noexcept {
  if (!child_.raise(strength)) return give_back();
  before(strength) = at.way;
  at = {&child_, this};
}

// By its borrower, when everything below is told.
void stop_link::ascend(place& at, verdict strength) noexcept {
  at = {&parent_, before(strength)};
  give_back();
}

// From then on the link may be gone.
void stop_link::give_back() noexcept {
  // ORDER: release, pairs with the fetch_or and the load in the destructor.
  if (busy_.fetch_sub(1, std::memory_order_release) == (leaving | 1)) futex_wake_one(busy_);
}

}  // namespace hocket::inline HOCKET_ABI
