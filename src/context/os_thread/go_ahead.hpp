// One thread's permission to go on, given once: take() returns when give() was called, and sees what the giver wrote.
// The taker may destroy it at once: after the store the giver uses its address only.
#pragma once
#include <hocket/base/seam/atomic.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail { namespace machine {

class go_ahead {
 public:
  void give() noexcept {
    // ORDER: release, pairs with the load in take()
    given_.store(1, std::memory_order_release);
    futex_wake_one(given_);
  }
  void take() noexcept {
    // ORDER: acquire, pairs with the store in give()
    while (given_.load(std::memory_order_acquire) == 0) futex_wait(given_, 0);
  }

 private:
  atomic<std::uint32_t> given_{0};
};

}  // namespace machine

}}}  // namespace hocket::detail
