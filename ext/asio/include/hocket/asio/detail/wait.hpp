// A wait that a stop cannot abandon, only request to end: until the operation has completed, it uses memory of the
// coroutine (buffers, a cancellation signal).
//
// The wait is a suspension with one waiter (core/wait/seam/suspension.hpp). The completion handler has the hold of the
// waiter. detach() never drops the hold: it answers like a source that is popping the waiter, and requests that pop by
// an emission of the cancellation signal on the operation's executor. So the coroutine is posted when the hold is
// dropped, after any outcome of the claim, and no second protocol is needed.
//
// The handler and an emission touch the wait, so it must live until both have ended. They are its two parties, and the
// last party drops the hold.
//
//   parties   1  the handler            detach(): 0 stays 0, else one more, and an emission is posted
//             2  and an emission        each, when it ran or was destroyed: one less; to 0: claim and post
#pragma once
#include <hocket/core/awaitable.hpp>
#include <hocket/primitive.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

class asio_wait : public own_awaiter, public wait_source {
 public:
  asio_wait(const asio_wait&) = delete;
  asio_wait& operator=(const asio_wait&) = delete;

  const char* what() const noexcept override { return "an Asio operation"; }
  void pass_on(waiter&) noexcept override {}

  // The right and the duty to leave.
  class party {
   public:
    explicit party(asio_wait& owner) noexcept : owner_(&owner) {}
    party(party&& other) noexcept : owner_(std::exchange(other.owner_, nullptr)) {}
    party& operator=(party&&) = delete;
    ~party() {
      if (owner_) owner_->leave();
    }

   private:
    asio_wait* owner_;
  };

 protected:
  asio_wait() = default;
  ~asio_wait() = default;

  // Adds a second party. False: the handler has left, and is about to drop the hold.
  bool join() noexcept {
    // ORDER: relaxed, pairs with nothing: the exchange below verifies it.
    std::uint32_t parties = parties_.load(std::memory_order_relaxed);
    do {
      if (parties == 0) return false;
      // ORDER: relaxed, pairs with nothing: the emission is ordered by its post.
    } while (
        !parties_.compare_exchange_weak(parties, parties + 1, std::memory_order_relaxed, std::memory_order_relaxed));
    return true;
  }

  suspension wait_;
  waiter entry_;

 private:
  void leave() noexcept {
    // ORDER: acq_rel, pairs with itself in the other party: the coroutine sees the writes of both.
    if (parties_.fetch_sub(1, std::memory_order_acq_rel) == 1) entry_.claim_popped().post();
  }

  atomic<std::uint32_t> parties_{1};
};

}}}  // namespace hocket::detail
