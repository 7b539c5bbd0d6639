// The core of a watch and a broadcast: values are published to any number of receivers. Each receiver knows how many
// publications it has seen.
//
// `published_` counts the publications; its top bit says closed. A receiver waits while it has seen all of them.
// publish() never waits. Under the mutex it changes the published values, counts, claims and unlinks all waiters. It
// posts the grants after the unlock.
//
// A granted receiver reads again: no value passes through the memory of a wait, and the count of a receiver changes
// when it takes a value. So a wait that a stop has ended, or a coroutine that was destroyed after its grant, has lost
// nothing and holds nothing.
//
// Hazards
//   - *A receiver misses a publication.* Prevented by the mutex, under which the receiver reads the count and is
//     linked. A publication before that is visible to the receiver; a publication after it finds the receiver in the
//     queue.
//   - *A woken receiver destroys the publication while publish() runs.* After the unlock publish() touches only the
//     claimed waits, and each of these stays until its grant. So this is allowed if there is no other user.
#pragma once
#include <hocket/base/error.hpp>
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
class publication : public wait_source {
 public:
  publication(const publication&) = delete;
  publication& operator=(const publication&) = delete;

  // Any thread. False: closed before.
  bool close(std::error_code error) noexcept;
  bool is_closed() const noexcept {
    // ORDER: relaxed, pairs with nothing: no more than a hint.
    return published_.load(std::memory_order_relaxed) & closed;
  }

 protected:
  explicit publication(std::uint64_t published) noexcept : published_(published) {}
  ~publication();

  // Any thread. Under the mutex, calls `change` (noexcept) with the number of earlier publications, and adds `count`.
  // False: closed; `change` was not called.
  template <class Change>
  bool publish(Change change, std::uint64_t count = 1) noexcept {
    grants woken;
    {
      locked guard(mutex_);
      // ORDER: relaxed, pairs with nothing: it changes under the mutex.
      const std::uint64_t before = published_.load(std::memory_order_relaxed);
      if (before & closed) return false;
      change(before);
      // ORDER: relaxed, pairs with the load in has_news(): the mutex orders the published values.
      published_.store(before + count, std::memory_order_relaxed);
      waiters_.claim_all(woken);
    }
    woken.post();
    return true;
  }

  // Whether there is a publication that the receiver has not seen, or the end.
  bool has_news(std::uint64_t position) const noexcept {
    // ORDER: relaxed, pairs with the stores in publish() and close(): a hint, which begin() verifies under the mutex.
    return published_.load(std::memory_order_relaxed) != position;
  }
  // True: the receiver waits.
  bool begin(suspension& wait, waiter& entry, std::uint64_t position) noexcept;

  // Under the mutex:
  std::uint64_t published() const noexcept {
    // ORDER: relaxed, pairs with nothing: it changes under the mutex.
    return published_.load(std::memory_order_relaxed) & ~closed;
  }
  std::error_code close_error() const noexcept { return close_error_; }

  // For a destructor.
  std::uint64_t last_published() const noexcept { return Strength::last(published_) & ~closed; }

  mutable typename Strength::mutex mutex_;

 private:
  static constexpr std::uint64_t closed = std::uint64_t{1} << 63;

  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  // Guarded by mutex_; any thread may read the count:
  typename Strength::template word<std::uint64_t> published_;
  std::error_code close_error_;
  wait_queue waiters_;
};

extern template class publication<strength::shared>;
extern template class publication<strength::unsync>;

}}}  // namespace hocket::detail
