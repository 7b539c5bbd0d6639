// An event that is set until it is reset: all who wait for it go on when it is set.
//
//   event ready;
//   co_await ready.wait();                     // goes on at once while the event is set
//   ready.set();                               // any thread: wakes everybody who waits
//
// Guarantees. set() ends every wait that had begun before it, even if the event is reset right after. What was done
// before a set() is visible to whoever it lets through, and to whoever resets the event after it, also if the event was
// set already: so a consumer that says "reset, look, wait" and a producer that says "make, set" lose nothing. set()
// neither suspends nor runs foreign code, and is one atomic read-modify-write while nobody waits. Who was let through
// may destroy the event, if nobody else waits or will set it.
//
//   word     meaning                      changes
//   unset    nobody waits                 -> set     set()      any thread
//                                         -> wanted  begin()    under the inner mutex
//   set      nobody waits                 -> unset   reset()    any thread
//                                         -> set     set()      any thread: a write all the same, see below
//   wanted   unset, somebody may wait     -> set     wake_all() under the inner mutex
//
// The line is guarded by the inner mutex, and empty unless the word is `wanted`.
//
// Why setting a set event writes: a producer that only looked could find `set`, and a consumer reset it and look for
// what the producer has made before that is visible; both would be content, and the consumer would sleep. With a write
// on each side one of the two comes first: a reset that comes second sees what was made, a set that comes second leaves
// the event set.
//
// Who is woken is taken out of the line under the mutex, all in one go, and granted outside of it. A set() touches
// neither the event nor a waiter after the grant to it; and it does not make the event `set` before it has the mutex
// (if somebody waits), through which the destructor goes, too. So an event can be destroyed by whoever it has let
// through.
#pragma once
#include <hocket/core/operation.hpp>
#include <hocket/core/strength.hpp>

namespace hocket::inline HOCKET_ABI {

template <class Strength>
class basic_event final : private wait_source {
  class waiting;

 public:
  explicit basic_event(bool set = false) noexcept : word_(set ? is_set_word : unset) {}
  basic_event(const basic_event&) = delete;
  basic_event& operator=(const basic_event&) = delete;
  ~basic_event() { Strength::drain(mutex_); }

  void set() noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
    std::uint32_t seen = word_.load(std::memory_order_relaxed);
    do {
      if (seen == wanted) [[unlikely]]
        return wake_all();
      // ORDER: release, pairs with the load in is_set() and the compare-exchange in reset().
    } while (!word_.compare_exchange_weak(seen, is_set_word, std::memory_order_release, std::memory_order_relaxed));
  }

  void reset() noexcept {
    std::uint32_t seen = is_set_word;
    // ORDER: acquire, pairs with the compare-exchange in set(): what was done before a set() that this one undoes, or
    // that was undone before, is visible.
    word_.compare_exchange_strong(seen, unset, std::memory_order_acquire, std::memory_order_acquire);
  }

  bool is_set() const noexcept {
    // ORDER: acquire, pairs with the compare-exchange in set().
    return word_.load(std::memory_order_acquire) == is_set_word;
  }

  // Waits until it is set: result<void>.
  [[nodiscard]] operation<waiting> wait(std::source_location at = std::source_location::current()) noexcept {
    return operation<waiting>(waiting(*this), at);
  }

 private:
  enum state : std::uint32_t { unset, is_set_word, wanted };

  void begin(suspension& wait, waiter& entry) noexcept;
  [[gnu::noinline, gnu::cold]] void wake_all() noexcept;

  const char* what() const noexcept override { return "an event"; }
  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter&) noexcept override {}

  typename Strength::template word<std::uint32_t> word_;
  typename Strength::mutex mutex_;
  list<waiter> line_;  // guarded by mutex_
};

template <class Strength>
class basic_event<Strength>::waiting {
 public:
  using value_type = void;
  explicit waiting(basic_event& what) noexcept : event_(&what) {}
  bool try_now() noexcept { return event_->is_set(); }
  void begin(suspension& wait, waiter& entry) noexcept { event_->begin(wait, entry); }
  result<void> take() noexcept { return {}; }

 private:
  basic_event* event_;
};

extern template class basic_event<strength::shared>;
extern template class basic_event<strength::unsync>;

using event = basic_event<strength::shared>;
namespace unsync {
using event = basic_event<strength::unsync>;
}

}  // namespace hocket::inline HOCKET_ABI
