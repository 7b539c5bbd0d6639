#include <hocket/core/stop_link.hpp>

namespace hocket::inline HOCKET_ABI {

stop_link::stop_link(stop_source& parent, stop_source& child, verdict above) noexcept : parent_(parent), child_(child) {
  verdict told;
  {
    locked guard(parent.mutex_);
    told = parent.requested();
    const bool open = told == verdict::idle && above == verdict::idle;
    if (told != verdict::killed) (open ? parent.open_ : parent.shielded_).push_back(*this);
    // ORDER: relaxed, pairs with nothing: read by the owner's destructor only.
    else busy_.store(gone, std::memory_order_relaxed);
  }
  if (told > above) child.request(told);
}

stop_link::~stop_link() {
  // ORDER: relaxed, pairs with nothing: it says only whether the parent is still to be asked.
  if (!(busy_.load(std::memory_order_relaxed) & gone)) {
    locked guard(parent_.mutex_);
    if (linked()) list<stop_node>::erase(*this);
  }
  // ORDER: acquire, pairs with the fetch_add in give_back(): what the last borrower did to the child came before.
  std::uint32_t seen = busy_.fetch_or(leaving, std::memory_order_acquire) | leaving;
  while ((seen & ~gone) != leaving) {
    futex_wait(busy_, seen);
    // ORDER: acquire, pairs with the fetch_add in give_back(), as above.
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
  if (!child_.raise(strength)) return give_back(strength);
  before(strength) = at.way;
  at = {&child_, this};
}

// By its borrower, when everything below is told.
void stop_link::ascend(place& at, verdict strength) noexcept {
  at = {&parent_, before(strength)};
  give_back(strength);
}

// From then on the link may be destroyed. Who brought a kill takes it out for good.
void stop_link::give_back(verdict strength) noexcept {
  const std::uint32_t change = (strength == verdict::killed ? gone : 0) - 1;
  // ORDER: release, pairs with the fetch_or and the load in the destructor.
  std::uint32_t before = busy_.fetch_add(change, std::memory_order_release);
  if ((before & ~gone) == (leaving | 1)) futex_wake_one(busy_);
}

}  // namespace hocket::inline HOCKET_ABI
