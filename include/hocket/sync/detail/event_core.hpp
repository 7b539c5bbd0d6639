// The core of an event and a completion: set until it is reset, with a queue of waiters.
//
// States of the word
//
//   word     meaning                      changes
//   unset    no waiter                    -> set      set()      any thread
//                                         -> waiter   begin()    any thread
//   set      no waiter                    -> unset    reset()    any thread
//                                         -> set      set()      any thread: a write nevertheless, see below
//   waiter   unset, one waiter: its       -> set      wake_all() any thread
//            address                      -> unset    detach()   any thread
//                                         -> queued   begin() of the second, under the inner mutex
//   queued   unset, waiters in the queue  -> set      wake_all() under the inner mutex
//
// One waiter is linked in the word. The second moves it into the queue, as in baton.hpp. The inner mutex guards the
// queue. If the word is not `queued`, every waiter in the queue belongs to a wait that has ended.
//
// Hazards
//   - *A producer makes an item and finds the event set; the consumer resets it, and does not see the item yet. Then
//     the consumer sleeps beside an item.* Prevented by set(), which writes even if the event is set. One of the two
//     writes is first: a later reset sees the item, a later set leaves the event set.
//   - *The coroutine that was let through destroys the event while set() runs.* set() touches neither the event nor a
//     waiter after its grant. If waiters are in the queue, set() writes the word under the inner mutex, and the
//     destructor locks that mutex.
//
// wake_all() claims and unlinks all waiters under the mutex, and posts the grants after the unlock. If a stop has ended
// a wait before, its waiter stays in the queue until the stop's detach(), whatever the state of the word.
#pragma once
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
class event_core : public wait_source {
 public:
  event_core(const event_core&) = delete;
  event_core& operator=(const event_core&) = delete;

 protected:
  explicit event_core(bool from_start = false) noexcept : word_(from_start ? is_set_word : unset) {}
  ~event_core() { Strength::drain(mutex_); }

  void set() noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
    std::uintptr_t expected = word_.load(std::memory_order_relaxed);
    do {
      if (expected > is_set_word) [[unlikely]]
        return wake_all();
      // ORDER: release, pairs with the load in is_set() and the compare-exchange in reset().
    } while (!word_.compare_exchange_weak(expected, is_set_word, std::memory_order_release, std::memory_order_relaxed));
  }

  void reset() noexcept {
    std::uintptr_t expected = is_set_word;
    // ORDER: acquire, pairs with the compare-exchange in set(): all writes before a set() that this reset, or an
    // earlier one, undoes are visible.
    word_.compare_exchange_strong(expected, unset, std::memory_order_acquire, std::memory_order_acquire);
  }

  bool is_set() const noexcept {
    // ORDER: acquire, pairs with the compare-exchange in set().
    return word_.load(std::memory_order_acquire) == is_set_word;
  }

  // For a destructor: whether there is no waiter.
  bool is_deserted() noexcept {
    Strength::drain(mutex_);
    const std::uintptr_t last = Strength::last(word_);
    return last <= is_set_word || (last == queued && waiters_.empty());
  }

  void begin(suspension& wait, waiter& entry) noexcept {
    entry.enlist(wait, *this);
    std::uintptr_t expected = unset;
    // ORDER: release, pairs with the compare-exchange in wake_all() and in enqueue(): they read the waiter complete;
    // relaxed on failure.
    if (!word_.compare_exchange_strong(expected, address_of(entry), std::memory_order_release,
                                       std::memory_order_relaxed)) [[unlikely]]
      enqueue(entry);
  }

 private:
  enum state : std::uintptr_t { unset, is_set_word, queued };  // else the address of a waiter
  static_assert(alignof(waiter) > queued);
  static std::uintptr_t address_of(waiter& entry) noexcept { return reinterpret_cast<std::uintptr_t>(&entry); }

  [[HOCKET_NOINLINE]] void enqueue(waiter& entry) noexcept;
  [[HOCKET_NOINLINE]] void wake_all() noexcept;
  bool is_set_or_push(waiter& entry) noexcept;
  bool wake_queue(std::uintptr_t& expected) noexcept;

  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  typename Strength::template word<std::uintptr_t> word_;
  typename Strength::mutex mutex_;
  wait_queue waiters_;  // guarded by mutex_
};

extern template class event_core<strength::shared>;
extern template class event_core<strength::unsync>;

}}}  // namespace hocket::detail
