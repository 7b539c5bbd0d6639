// Permits, and a queue of waiters for them: the core of a semaphore and of a shared mutex (a writer takes all permits).
// First come, first served, whatever the number of permits.
//
// The word, 64 bits
//
//   bit  0      there are waiters: set exactly while the queue is not empty; both change under the inner mutex
//   bits 1..63  free permits
//
// While bit 0 is clear, any thread changes the word by one read-modify-write. While it is set, the word changes under
// the inner mutex only. After every such change, and after every removal from the queue, serve() runs: it claims
// waiters from the front as long as the permits suffice, unlinks them and takes their permits, all under the mutex. The
// grants are posted after the unlock. serve() stops at a waiter if a stop or another source has ended its wait: the
// detach() of that party serves the queue again. (If serve() skipped such waiters, each of n removals would walk over n
// waiters when one event ends n selects.)
//
// Hazards
//   - *The stack grows without a limit.* The end of the first wait can grant the next waiters. If these are selects, a
//     grant ends their waits in other queues, which can grant waiters there, and so on. Prevented by post_in_turn(): if
//     the thread posts grants already, the new grants are queued behind them.
//   - *A coroutine that holds all permits destroys the queue while give() runs.* After give() writes the word it
//     touches only the inner mutex, which the destructor locks, and the grants. So this is allowed if there is no
//     waiter.
#pragma once
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/primitive.hpp>
#include <cstddef>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
class permit_queue : public wait_source {
 public:
  permit_queue(const permit_queue&) = delete;
  permit_queue& operator=(const permit_queue&) = delete;

 protected:
  static constexpr std::size_t max_permits = static_cast<std::size_t>(-1) >> 2;

  // The number of permits that a waiter asks for. A part of the operation.
  struct request {
    std::size_t permits;
  };

  explicit permit_queue(std::size_t free) noexcept : word_(count(free)) {}
  ~permit_queue() { Strength::drain(mutex_); }

  bool try_take(std::size_t n) noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
    word expected = word_.load(std::memory_order_relaxed);
    do {
      if ((expected & has_waiters) || expected < count(n)) return false;
      // ORDER: acquire, pairs with the operations on the word in give() and give_to_waiters().
    } while (!word_.compare_exchange_weak(expected, expected - count(n), std::memory_order_acquire,
                                          std::memory_order_relaxed));
    return true;
  }

  // Takes the permits if they are free and the wait is undecided. True: has linked the waiter instead.
  bool begin(suspension& wait, waiter& entry, request& demand) noexcept;

  void give(std::size_t n) noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
    word expected = word_.load(std::memory_order_relaxed);
    do {
      if (expected & has_waiters) [[unlikely]]
        return give_to_waiters(n);
      // ORDER: release, pairs with the compare-exchange in try_take().
    } while (
        !word_.compare_exchange_weak(expected, sum(expected, n), std::memory_order_release, std::memory_order_relaxed));
  }

  // The number of free permits.
  std::size_t free() const noexcept {
    // ORDER: relaxed, pairs with nothing: no more than a hint.
    return static_cast<std::size_t>(word_.load(std::memory_order_relaxed) >> 1);
  }
  // The same for a dump, which may run on another thread than the users of an unsync queue.
  std::size_t last_free() const noexcept { return static_cast<std::size_t>(Strength::last(word_) >> 1); }
  // For a destructor: whether there is no waiter; whether all `n` permits are free, and there is no waiter.
  bool is_deserted() noexcept {
    Strength::drain(mutex_);
    return waiters_.empty();
  }
  bool has_all(std::size_t n) noexcept {
    Strength::drain(mutex_);
    return Strength::last(word_) == count(n);
  }

 private:
  using word = std::uint64_t;
  static constexpr word has_waiters = 1;

  static word count(std::size_t n) noexcept {
    expects(n <= max_permits, "more permits than a semaphore can count",
            "a negative number, perhaps? The limit is semaphore::max");
    return static_cast<word>(n) << 1;
  }
  static word sum(word current, std::size_t n) noexcept {
    const word total = current + count(n);  // cannot overflow: both are below half of what the word can hold
    expects((total >> 1) <= max_permits, "a semaphore was given more permits than it can count",
            "release what was acquired, once; the limit is semaphore::max");
    return total;
  }

  static request& request_of(waiter& entry) noexcept { return *static_cast<request*>(entry.resource); }

  [[HOCKET_NOINLINE, HOCKET_COLD]] void give_to_waiters(std::size_t n) noexcept;
  void serve(grants& served) noexcept;

  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter& entry) noexcept override;

  typename Strength::template word<word> word_;
  typename Strength::mutex mutex_;
  wait_queue waiters_;  // guarded by mutex_
};

extern template class permit_queue<strength::shared>;
extern template class permit_queue<strength::unsync>;

}}}  // namespace hocket::detail
