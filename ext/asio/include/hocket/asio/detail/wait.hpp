// A wait that cannot be given up, only asked to end: until the operation that it waits for has completed, memory of the
// coroutine belongs to that (buffers, a cancellation signal).
//
// It is a suspension with one waiter (core/wait/seam/suspension.hpp). The completion handler has the hold of the
// waiter. detach() never takes the hold back: it answers like a source that is popping the waiter, and asks for that
// pop, by an emission of the cancellation signal elsewhere. So the coroutine is posted when the hold is given back,
// whichever party has won, and no second protocol is needed.
//
// What the handler and an emission touch must live until both are over: they are the two parties of the wait, and the
// last one to leave gives the hold back.
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
    explicit party(asio_wait& of) noexcept : of_(&of) {}
    party(party&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
    party& operator=(party&&) = delete;
    ~party() {
      if (of_) of_->leave();
    }

   private:
    asio_wait* of_;
  };

 protected:
  asio_wait() = default;
  ~asio_wait() = default;

  // A second party, if the answer is true. False: the handler has left, and is about to give the hold back.
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
    // ORDER: acq_rel, pairs with itself by the other party: what both did is over, and seen by the coroutine.
    if (parties_.fetch_sub(1, std::memory_order_acq_rel) == 1) entry_.claim_popped().post();
  }

  atomic<std::uint32_t> parties_{1};
};

}}}  // namespace hocket::detail
