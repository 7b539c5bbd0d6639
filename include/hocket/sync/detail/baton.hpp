// A baton: one thing that at most one coroutine has at a time, and a line of those who wait for it.
//
// It is what a mutex (the holder puts the baton back), an auto-reset event (anybody puts it there) and a once are made
// of.
//
//   word     meaning                                  changes
//   free     to be had, nobody waits                  -> held     try_take(), begin()        any thread
//   held     gone, nobody waits                       -> free     put()                      any thread
//                                                     -> waiter   begin()                    any thread
//   waiter   gone, one waits: the address of that     -> held     hand_over(), detach()      any thread
//                                                     -> wanted   begin() of the second      under the inner mutex
//   wanted   gone, some may wait in the line          -> held, free   hand_over()            under the inner mutex
//   one less than `waiter` or `wanted`: the same, and the holder has put the baton back, has found that somebody waits,
//            and is about to hand it over. Nobody else does; those who come and go change the rest of it as above.
//
// The usual line is one waiter, who stands in the word: it comes and goes by one compare-exchange, and whoever takes it
// out of the word is the one who has popped it. The second who comes takes the first along into the line. The line is
// guarded by the inner mutex. It is empty unless the word is `wanted`; it may be empty then, too, because a wait that
// is ended by others leaves the line and not the word.
//
// Put and begin race for the word. If begin() comes first, put() finds the waiter, or it finds `wanted` and goes
// through the inner mutex, which begin() holds until all are in the line. If put() comes first, begin() finds the baton
// `free`, and takes it. So no waiter is left behind.
//
// A waiter on its way from the word into the line is found by its detach(), too: that goes through the inner mutex.
//
// Handing over is first in, first out, to the first whose wait can still be granted. Meanwhile the baton is never
// `free`: nobody overtakes the line. The next holder is posted, not run.
//
// The end of its life. Who has been granted the baton, or has found it `free`, may destroy it at once. A put() does not
// touch it after a grant that was accepted. One that found nobody in the line makes the baton `free` under the inner
// mutex; the destructor goes through that mutex, so it waits until the put() has left it.
//
// A waiter whose wait is decided already, and goes on as soon as it has the baton, is adopted: that of a condition,
// whose mutex must be had again. Its `resource` is not null, that of all others is. Nobody takes it out of the line but
// who hands it the baton.
//
// Two may put at a time (an event). Both are then read-modify-writes of the word, so whoever takes the baton is ordered
// after both: what either did before it put is visible, though there is but one baton to take.
#pragma once
#include <hocket/core/wait/seam/strength.hpp>
#include <hocket/primitive.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

template <class Strength>
class baton : public wait_source {
 public:
  baton(const baton&) = delete;
  baton& operator=(const baton&) = delete;

  // Called without locks. Takes over a grant of another source: the grant is posted when the baton is handed to its
  // wait.
  void adopt(grant won) noexcept {
    waiter& entry = won.defer(*this);
    std::uintptr_t seen = held;
    // ORDER: release, pairs with the compare-exchange in hand_over() and in get_in_line(); relaxed on failure.
    if (!word_.compare_exchange_strong(seen, address_of(entry), std::memory_order_release, std::memory_order_relaxed))
      get_in_line(entry);
  }

 protected:
  enum state : std::uintptr_t { free, held, put_back_wanted, wanted };  // else the address of a waiter, or one less
  static_assert(alignof(waiter) > wanted);

  explicit baton(state first) noexcept : word_(first) {}
  ~baton() { Strength::drain(mutex_); }

  bool try_take() noexcept {
    std::uintptr_t seen = free;
    // ORDER: acquire, pairs with the compare-exchange in put() and the exchange in hand_over(); relaxed on failure.
    return word_.compare_exchange_strong(seen, held, std::memory_order_acquire, std::memory_order_relaxed);
  }

  // The same where it is seldom free: an exchange that fails costs as much as one that does not.
  bool look_and_take() noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange verifies.
    return word_.load(std::memory_order_relaxed) == free && try_take();
  }

  // Takes it if it is free and the wait can still be granted, else gets in line.
  void begin(suspension& wait, waiter& entry) noexcept {
    entry.enlist(wait, *this);
    std::uintptr_t seen = held;
    // ORDER: release, pairs with the compare-exchange in hand_over() and in get_in_line(): they find the waiter whole;
    // relaxed on failure.
    if (!word_.compare_exchange_strong(seen, address_of(entry), std::memory_order_release, std::memory_order_relaxed))
        [[unlikely]]
      get_in_line(entry);
  }

  // Nobody but the caller can put now: the usual case is one subtraction, which is cheaper than a compare-exchange.
  void put_back() noexcept {
    // ORDER: release, pairs with the compare-exchange in try_take().
    if (word_.fetch_sub(held - free, std::memory_order_release) != held) [[unlikely]]
      hand_back();
  }
  // Anybody, at any time; without effect if it is free.
  void put() noexcept {
    // ORDER: relaxed, pairs with nothing: a hint that the exchange below verifies.
    std::uintptr_t seen = word_.load(std::memory_order_relaxed);
    do {
      if (seen > held) [[unlikely]]
        return static_cast<void>(hand_over());
      // ORDER: release, pairs with the compare-exchange in try_take(). Also if it is free already: who then takes it
      // sees what was done before this call.
    } while (!word_.compare_exchange_weak(seen, free, std::memory_order_release, std::memory_order_relaxed));
  }

  bool is_free() const noexcept {
    // ORDER: acquire, pairs with the compare-exchange in put().
    return word_.load(std::memory_order_acquire) == free;
  }
  // For a destructor: whether it is free, or whether nobody waits for it.
  bool was_free() const noexcept { return Strength::last(word_) == free; }
  bool is_deserted() noexcept {
    Strength::drain(mutex_);
    const std::uintptr_t last = Strength::last(word_);
    return last <= held || (last == wanted && line_.empty());
  }

  // True: the first in line has it. False: nobody waits, and it is free.
  [[HOCKET_NOINLINE]] bool hand_over() noexcept;

  bool detach(waiter& entry) noexcept override;
  void pass_on(waiter& entry) noexcept override;

 private:
  static std::uintptr_t address_of(waiter& entry) noexcept { return reinterpret_cast<std::uintptr_t>(&entry); }

  // False: its wait was ended by others.
  static bool give_to(waiter& next) noexcept {
    if (next.resource) [[unlikely]]
      return next.deferred().post(), true;
    grant given = next.claim_popped();
    if (!given) return false;
    given.post();
    return true;
  }

  [[HOCKET_NOINLINE]] void get_in_line(waiter& entry) noexcept;
  [[HOCKET_NOINLINE]] void hand_back() noexcept;
  bool take_or_push(waiter& entry) noexcept;
  bool put_or_pop(waiter*& next) noexcept;

  typename Strength::template word<std::uintptr_t> word_;
  typename Strength::mutex mutex_;
  wait_queue line_;  // guarded by mutex_
};

extern template class baton<strength::shared>;
extern template class baton<strength::unsync>;

}}}  // namespace hocket::detail
