// A baton: held by at most one coroutine at a time, with a queue of waiters. It is the core of a mutex (the holder puts
// the baton back), of an auto-reset event (any thread puts it) and of a once.
//
// States of the word
//
//   word     meaning                                  changes
//   free     not held, no waiter                      -> held     try_take(), begin()        any thread
//   held     held, no waiter                          -> free     put()                      any thread
//                                                     -> waiter   begin()                    any thread
//   waiter   held, one waiter: its address            -> held     hand_over(), detach()      any thread
//                                                     -> queued   begin() of the second      under the inner mutex
//   queued   held, the queue may have waiters         -> held, free   hand_over()            under the inner mutex
//   `waiter` or `queued`, less one: also, the holder has put the baton back, has found a waiter, and is about to hand
//            the baton over. No other thread does so. Other waiters change the rest of the word as above.
//
// Usually there is one waiter, linked in the word: one compare-exchange links it, and the compare-exchange that removes
// it from the word has popped it. The second waiter moves the first into the queue. The inner mutex guards the queue.
// The queue is empty unless the word is `queued`. It may be empty then, too: a wait that a stop or a deadline ends
// leaves the queue, and does not change the word.
//
// Hazards
//   - *put() and begin() race, and a waiter is left behind.* Prevented by the order of the word: if begin() is first,
//     put() finds the waiter, or finds `queued` and locks the inner mutex, which begin() holds until all waiters are in
//     the queue. If put() is first, begin() finds the baton `free` and takes it.
//   - *detach() misses a waiter that moves from the word into the queue.* Prevented by the inner mutex, which detach()
//     locks if the waiter is not in the word.
//   - *The next holder, or a thread that found the baton `free`, destroys it while put() runs.* put() touches nothing
//     after an accepted grant. A put() that found the queue empty makes the baton `free` under the inner mutex, and the
//     destructor locks that mutex.
//
// Handing over is first in, first out, to the first waiter whose wait can still be granted. The baton is not `free`
// meanwhile, so no coroutine overtakes the queue. The next holder is posted, not run.
//
// Adopted waiters. The wait of a condition is decided before its waiter enters the queue of the mutex. The waiter is
// then adopted: its `resource` is not null. Every other waiter has a null `resource`. Only the handover removes an
// adopted waiter from the queue.
//
// Two threads may put at a time (an event). Both writes of the word are read-modify-writes, so the thread that takes
// the baton is ordered after both: it sees the writes before either put(), though there is one baton to take.
#pragma once
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
class baton : public wait_source {
 public:
  baton(const baton&) = delete;
  baton& operator=(const baton&) = delete;

  // Called without locks. Adopts a grant of another source: the grant is posted when its wait gets the baton.
  void adopt(grant claimed) noexcept {
    waiter& entry = claimed.defer(*this);
    std::uintptr_t expected = held;
    // ORDER: release, pairs with the compare-exchange in hand_over() and in enqueue(); relaxed on failure.
    if (!word_.compare_exchange_strong(expected, address_of(entry), std::memory_order_release,
                                       std::memory_order_relaxed))
      enqueue(entry);
  }

 protected:
  enum state : std::uintptr_t { free, held, put_back_queued, queued };  // else the address of a waiter, or less one
  static_assert(alignof(waiter) > queued);

  explicit baton(state first) noexcept : word_(first) {}
  ~baton() { Strength::drain(mutex_); }

  bool try_take() noexcept {
    std::uintptr_t expected = free;
    // ORDER: acquire, pairs with the compare-exchange in put() and the exchange in hand_over(); relaxed on failure.
    return word_.compare_exchange_strong(expected, held, std::memory_order_acquire, std::memory_order_relaxed);
  }

  // For a baton that is seldom free: a failed exchange costs as much as a successful one.
  bool test_and_take() noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
    return word_.load(std::memory_order_relaxed) == free && try_take();
  }

  // Takes the baton if it is free and the wait can still be granted, else links the waiter.
  void begin(suspension& wait, waiter& entry) noexcept {
    entry.enlist(wait, *this);
    std::uintptr_t expected = held;
    // ORDER: release, pairs with the compare-exchange in hand_over() and in enqueue(): they read the waiter complete;
    // relaxed on failure.
    if (!word_.compare_exchange_strong(expected, address_of(entry), std::memory_order_release,
                                       std::memory_order_relaxed)) [[unlikely]]
      enqueue(entry);
  }

  // For a holder without a rival: usually one subtraction, which is cheaper than a compare-exchange.
  void put_back() noexcept {
    // ORDER: release, pairs with the compare-exchange in try_take().
    if (word_.fetch_sub(held - free, std::memory_order_release) != held) [[unlikely]]
      hand_back();
  }
  // Any thread, at any time. Without effect if the baton is free.
  void put() noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
    std::uintptr_t expected = word_.load(std::memory_order_relaxed);
    do {
      if (expected > held) [[unlikely]]
        return static_cast<void>(hand_over());
      // ORDER: release, pairs with the compare-exchange in try_take(). It writes even if the baton is free: the next
      // holder sees all writes before this call.
    } while (!word_.compare_exchange_weak(expected, free, std::memory_order_release, std::memory_order_relaxed));
  }

  bool is_free() const noexcept {
    // ORDER: acquire, pairs with the compare-exchange in put().
    return word_.load(std::memory_order_acquire) == free;
  }
  // For a destructor: whether the baton is free, or whether it has no waiter.
  bool was_free() const noexcept { return Strength::last(word_) == free; }
  bool is_deserted() noexcept {
    Strength::drain(mutex_);
    const std::uintptr_t last = Strength::last(word_);
    return last <= held || (last == queued && waiters_.empty());
  }

  // True: the first waiter has the baton. False: there is no waiter, and the baton is free.
  [[HOCKET_NOINLINE]] bool hand_over() noexcept;

  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter& entry) noexcept override;

 private:
  static std::uintptr_t address_of(waiter& entry) noexcept { return reinterpret_cast<std::uintptr_t>(&entry); }

  // False: a stop, a deadline or another source has ended the wait.
  static bool give_to(waiter& next) noexcept {
    if (next.resource) [[unlikely]] {
      next.deferred().post();
      return true;
    }
    grant claimed = next.claim_popped();
    if (!claimed) return false;
    claimed.post();
    return true;
  }

  [[HOCKET_NOINLINE]] void enqueue(waiter& entry) noexcept;
  [[HOCKET_NOINLINE]] void hand_back() noexcept;
  bool take_or_push(waiter& entry) noexcept;
  bool put_or_pop(waiter*& next) noexcept;

  typename Strength::template word<std::uintptr_t> word_;
  typename Strength::mutex mutex_;
  wait_queue waiters_;  // guarded by mutex_
};

extern template class baton<strength::shared>;
extern template class baton<strength::unsync>;

}}}  // namespace hocket::detail
