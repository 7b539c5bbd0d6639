// A baton: one thing that at most one coroutine has at a time, and a line of those who wait for it.
//
// It is what a mutex (the holder puts the baton back) and an auto-reset event (anybody puts it there) are made of.
//
//   word     meaning                                  changes
//   here     to be had, nobody waits                  -> away    try_take(), begin()          any thread
//   away     gone, nobody waits                       -> here    put()                        any thread
//                                                     -> wanted  begin()                      under the inner mutex
//   wanted   gone, somebody may wait                  -> away, here   hand_over()             under the inner mutex
//
// The line is guarded by the inner mutex. It is empty unless the word is `wanted`; it may be empty then, too, because
// a wait that is ended by others leaves the line and not the word.
//
// Put and begin race for the word: if begin() comes first, put() finds `wanted` and goes through the inner mutex, which
// begin() holds until its waiter is in the line. If put() comes first, begin() finds the baton `here`, under the same
// mutex, and takes it. So no waiter is left behind.
//
// Handing over is first in, first out, to the first whose wait can still be granted. Meanwhile the baton is never
// `here`: nobody overtakes the line. The next holder is posted, not run.
//
// The end of its life. Who has been granted the baton, or has found it `here`, may destroy it at once. A put() does not
// touch it after a grant that was accepted. One that found nobody makes the baton `here` under the inner mutex; the
// destructor goes through that mutex, so it waits until the put() has left it.
//
// Two may put at a time (an event). Both are then read-modify-writes of the word, so whoever takes the baton is ordered
// after both: what either did before it put is visible, though there is but one baton to take.
#pragma once
#include <hocket/core/strength.hpp>
#include <hocket/core/suspension.hpp>

namespace hocket::inline HOCKET_ABI::detail {

template <class Strength>
class baton : public wait_source {
 public:
  baton(const baton&) = delete;
  baton& operator=(const baton&) = delete;

 protected:
  enum state : std::uint32_t { here, away, wanted };

  explicit baton(state first) noexcept : word_(first) {}
  ~baton() { Strength::drain(mutex_); }

  bool try_take() noexcept {
    std::uint32_t seen = here;
    // ORDER: acquire, pairs with the compare-exchange in put() and the exchange in hand_over(); relaxed on failure.
    return word_.compare_exchange_strong(seen, away, std::memory_order_acquire, std::memory_order_relaxed);
  }

  // Takes it if it is here and the wait can still be granted, else gets in line.
  void begin(suspension& wait, waiter& entry) noexcept;

  // Nobody but the caller can put now: the usual case is one compare-exchange.
  void put_back() noexcept {
    std::uint32_t seen = away;
    // ORDER: release, pairs with the compare-exchange in try_take(); relaxed on failure.
    if (!word_.compare_exchange_strong(seen, here, std::memory_order_release, std::memory_order_relaxed)) [[unlikely]]
      hand_over();
  }
  // Anybody, at any time; without effect if it is here.
  void put() noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    do {
      if (seen == wanted) [[unlikely]]
        return hand_over();
      // ORDER: release, pairs with the compare-exchange in try_take(). Also if it is here already: who then takes it
      // sees what was done before this call.
    } while (!word_.compare_exchange_weak(seen, here, std::memory_order_release, std::memory_order_relaxed));
  }

  bool is_here() const noexcept {
    // ORDER: acquire, pairs with the compare-exchange in put().
    return word_.load(std::memory_order_acquire) == here;
  }
  bool was_here() const noexcept { return Strength::last(word_) == here; }

  [[gnu::noinline, gnu::cold]] void hand_over() noexcept;

  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter& entry) noexcept override;

  typename Strength::mutex& inner() noexcept { return mutex_; }

 private:
  typename Strength::template word<std::uint32_t> word_;
  typename Strength::mutex mutex_;
  list<waiter> line_;  // guarded by mutex_
};

extern template class baton<strength::shared>;
extern template class baton<strength::unsync>;

}  // namespace hocket::inline HOCKET_ABI::detail
