// Something that is published again and again, to any number of receivers, each of which knows how much of it it has
// seen: what a watch and a broadcast are made of.
//
// `published_` says how often; it is closed after that. A receiver waits as long as it has seen that much. Publishing
// never waits. Under the mutex it changes what is published, counts, and claims and unlinks all waiters. The grants are
// posted after the mutex.
//
// Being granted means to look again: nothing goes through the memory of a wait, and what a receiver has seen moves when
// it takes something. So a wait that is ended by others, or a coroutine that is destroyed after its grant, has lost
// nothing and holds nothing.
//
// No publication is missed. A receiver gets in line under the mutex, and looks at the count under the same; whoever
// publishes comes before that, and is seen, or after it, and finds the receiver in line.
//
// The end of its life. Who publishes touches nothing of it after the mutex, but the waits that it took out, each of
// which stays until it is granted. So who was woken may destroy it, if nobody else uses it.
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

  // Any thread. False: it was closed before.
  bool close(std::error_code error) noexcept;
  bool is_closed() const noexcept {
    // ORDER: relaxed, pairs with nothing: no more than a hint.
    return published_.load(std::memory_order_relaxed) & closed;
  }

 protected:
  explicit publication(std::uint64_t published) noexcept : published_(published) {}
  ~publication();

  // Any thread: calls `change`, which is noexcept, under the mutex, with how often was published before, and counts; by
  // more than one, if it publishes that many. False: it is closed, and nothing was called.
  template <class Change>
  bool publish(Change change, std::uint64_t count = 1) noexcept {
    grants woken;
    {
      locked guard(mutex_);
      // ORDER: relaxed, pairs with nothing: it changes under the mutex.
      const std::uint64_t before = published_.load(std::memory_order_relaxed);
      if (before & closed) return false;
      change(before);
      // ORDER: relaxed, pairs with the load in has_news(): the mutex orders what is published.
      published_.store(before + count, std::memory_order_relaxed);
      line_.claim_all(woken);
    }
    woken.post();
    return true;
  }

  // Whether there is more than the receiver has seen, or the end.
  bool has_news(std::uint64_t seen) const noexcept {
    // ORDER: relaxed, pairs with the stores in publish() and close(): a look, that begin() repeats under the mutex.
    return published_.load(std::memory_order_relaxed) != seen;
  }
  // True: it waits.
  bool begin(suspension& wait, waiter& entry, std::uint64_t seen) noexcept;

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

  // Guarded by mutex_, the count for writing:
  typename Strength::template word<std::uint64_t> published_;
  std::error_code close_error_;
  wait_queue line_;
};

extern template class publication<strength::shared>;
extern template class publication<strength::unsync>;

}}}  // namespace hocket::detail
