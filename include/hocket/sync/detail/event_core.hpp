// What is set until it is reset, and the line of those who wait for it: what an event and a completion are made of.
//
//   word     meaning                      changes
//   unset    nobody waits                 -> set      set()      any thread
//                                         -> waiter   begin()    any thread
//   set      nobody waits                 -> unset    reset()    any thread
//                                         -> set      set()      any thread: a write all the same, see below
//   waiter   unset, one waits: its address -> set     wake_all() any thread
//                                         -> unset    detach()   any thread
//                                         -> wanted   begin() of the second, under the inner mutex
//   wanted   unset, some may wait in line -> set      wake_all() under the inner mutex
//
// One waiter stands in the word; the second who comes takes it along into the line, as at a baton (baton.hpp). The line
// is guarded by the inner mutex. If the word is not `queued`, every waiter in the line belongs to a wait that has
// ended.
//
// Why setting what is set writes: a producer that only looked could find `set`, and a consumer reset it and look for
// what the producer has made before that is visible; both would be content, and the consumer would sleep. With a write
// on each side one of the two comes first: a reset that comes second sees what was made, a set that comes second leaves
// it set.
//
// wake_all() claims and unlinks all waiters under the mutex, and posts the grants after it. If a stop ended a wait
// before, the waiter stays in the line until the stop's detach(), whatever the word says then. A set() touches
// neither this object nor a waiter after the grant to it; and it does not make the word `set` before it has the mutex
// (if some wait in the line), through which the destructor goes, too. So it can be destroyed by whoever it has let
// through.
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
    std::uintptr_t seen = word_.load(std::memory_order_relaxed);
    do {
      if (seen > is_set_word) [[unlikely]]
        return wake_all();
      // ORDER: release, pairs with the load in is_set() and the compare-exchange in reset().
    } while (!word_.compare_exchange_weak(seen, is_set_word, std::memory_order_release, std::memory_order_relaxed));
  }

  void reset() noexcept {
    std::uintptr_t seen = is_set_word;
    // ORDER: acquire, pairs with the compare-exchange in set(): what was done before a set() that this one undoes, or
    // that was undone before, is visible.
    word_.compare_exchange_strong(seen, unset, std::memory_order_acquire, std::memory_order_acquire);
  }

  bool is_set() const noexcept {
    // ORDER: acquire, pairs with the compare-exchange in set().
    return word_.load(std::memory_order_acquire) == is_set_word;
  }

  // For a destructor: whether nobody waits.
  bool is_deserted() noexcept {
    Strength::drain(mutex_);
    const std::uintptr_t last = Strength::last(word_);
    return last <= is_set_word || (last == queued && line_.empty());
  }

  void begin(suspension& wait, waiter& entry) noexcept {
    entry.enlist(wait, *this);
    std::uintptr_t seen = unset;
    // ORDER: release, pairs with the compare-exchange in wake_all() and in enqueue(): they find the waiter whole;
    // relaxed on failure.
    if (!word_.compare_exchange_strong(seen, address_of(entry), std::memory_order_release, std::memory_order_relaxed))
        [[unlikely]]
      enqueue(entry);
  }

 private:
  enum state : std::uintptr_t { unset, is_set_word, queued };  // else the address of a waiter
  static_assert(alignof(waiter) > queued);
  static std::uintptr_t address_of(waiter& entry) noexcept { return reinterpret_cast<std::uintptr_t>(&entry); }

  [[HOCKET_NOINLINE]] void enqueue(waiter& entry) noexcept;
  [[HOCKET_NOINLINE]] void wake_all() noexcept;
  bool is_set_or_push(waiter& entry) noexcept;
  bool wake_line(std::uintptr_t& seen) noexcept;

  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  typename Strength::template word<std::uintptr_t> word_;
  typename Strength::mutex mutex_;
  wait_queue line_;  // guarded by mutex_
};

extern template class event_core<strength::shared>;
extern template class event_core<strength::unsync>;

}}}  // namespace hocket::detail
