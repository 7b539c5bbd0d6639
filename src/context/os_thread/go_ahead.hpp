// The permission for one thread to continue, given once: take() returns after give() was called, and the giver's writes
// are visible then. The taker may destroy the object at once: after its store the giver uses only the address.
#pragma once
#include <hocket/base/seam/atomic.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail { namespace machine {

class go_ahead {
 public:
  void give() noexcept {
    // ORDER: release, pairs with the load in take()
    is_given_.store(1, std::memory_order_release);
    futex_wake_one(is_given_);
  }
  void take() noexcept {
    // ORDER: acquire, pairs with the store in give()
    while (is_given_.load(std::memory_order_acquire) == 0) futex_wait(is_given_, 0);
  }

 private:
  atomic<std::uint32_t> is_given_{0};
};

}  // namespace machine

}}}  // namespace hocket::detail
