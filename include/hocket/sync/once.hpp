// once: work that is done one time. The first caller does it, and the others wait until it is done.
//
//   once opened;
//   auto turn = co_await opened.enter();       // result<once::turn>; a fiber and a thread say await(opened.enter())
//   if (!turn) return turn.error();            // the wait was cancelled or timed out
//   if (*turn) {                               // this caller does the work: it may suspend, fail and throw
//     connection = co_await connect();
//     turn->done();
//   }
//   use(connection);                           // done, by this caller or another
//
// Guarantees.
//   - One coroutine or thread at a time has the turn.
//   - If a turn ends without done(), by an exception, a failure or a kill, it passes to the first waiter. No coroutine
//     overtakes.
//   - done() lets all waiters through. Every empty turn (false) means that another caller has done the work. Everything
//     before its done() is visible.
//   - After done(), enter() is one load.
//   - If a coroutine is granted the turn and then killed before it runs, it has the turn until it unwinds, at its next
//     wait at the latest.
//   - Neither enter() nor done() runs foreign code: the caller does the work.
//
// Cancellation. A wait for the turn can be cancelled and timed out.
//
// Errors. These are fatal at check level `debug`:
//   - A once is destroyed while a coroutine has its turn, or waits for it.
//   - A coroutine enters a once and has its turn already.
//   - A coroutine ends the turn of another coroutine (see mutex).
//
// Lifetime. The once must outlive its turns and the waits for them.
//
// Thread safety. Any thread. unsync::once is for one thread; see core/wait/seam/strength.hpp.
//
// Implementation. The turn is a baton (sync/detail/baton.hpp). A word beside it says whether the work is done. done()
// sets the word, and then hands the baton over until there is no waiter. After that no coroutine owns the baton. A
// caller that takes the baton reads the word, finds the work done, and puts the baton back. Hazard: if a caller read
// the word too early and is linked after done() has served the queue, then no done() wakes it. Prevented by the baton,
// which is free or becomes free: the caller takes it, or the caller in front of it hands it over.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/baton.hpp>
#include <hocket/sync/detail/holder.hpp>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

template <class Strength>
class basic_once final : private detail::baton<Strength> {
  using base = detail::baton<Strength>;
  class entering;

 public:
  class turn;

  basic_once() noexcept : base(base::free) {}
  ~basic_once() {
    detail::debug_expects(this->was_free(), "a once was destroyed while a coroutine has its turn, or waits for it",
                          "let it outlive its turns and waits");
  }

  // Any thread. Whether the work is done. True: everything before done() is visible. False may be outdated at once.
  bool is_done() const noexcept {
    // ORDER: acquire, pairs with the exchange in finish().
    return done_.load(std::memory_order_acquire);
  }

  // Waits for the turn, or until the work is done: result<turn>.
  [[nodiscard]] primitive::operation<entering> enter(call_site site = this_call_site()) noexcept {
    return primitive::operation<entering>(std::in_place, site, *this);
  }

 private:
  // The result of a wait, after the baton was taken or handed over.
  turn taken() noexcept {
    // ORDER: relaxed, pairs with nothing: the baton orders it after the done() of an earlier turn.
    if (done_.load(std::memory_order_relaxed)) {
      this->put();
      return turn();
    }
    holder_.take();
    return turn(*this);
  }
  void finish() noexcept {
    holder_.give_back(not_mine);
    // ORDER: release, pairs with the load in is_done().
    done_.exchange(true, std::memory_order_release);
    while (this->hand_over()) {
    }
  }
  void pass() noexcept {
    holder_.give_back(not_mine);
    this->put_back();
  }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    holder_.expect_not_mine("a coroutine entered a once whose turn it has",
                            "what is done once must not need itself: finish the turn first, or pass it down");
    base::begin(wait, entry);
  }

  static constexpr const char* not_mine = "a coroutine ended a turn of a once that another one has";
  const char* what() const noexcept override { return "a once"; }
  const void* holder() const noexcept override { return holder_.coroutine(); }

  typename Strength::template word<bool> done_{false};
  [[no_unique_address]] detail::holder<Strength> holder_;
};

// The right and the duty to do the work. Move-only. Empty (false) if the work is done, by this turn or another, and
// after a move from it. If a turn is destroyed without done(), it passes to the next waiter.
template <class Strength>
class [[nodiscard]] basic_once<Strength>::turn {
 public:
  turn() noexcept = default;
  turn(turn&& other) noexcept : once_(std::exchange(other.once_, nullptr)) {}
  turn& operator=(turn&& other) noexcept {
    turn old(std::move(other));
    std::swap(once_, old.once_);
    return *this;
  }
  ~turn() {
    if (once_) once_->pass();
  }

  explicit operator bool() const noexcept { return once_ != nullptr; }

  // Any thread, by the coroutine that has the turn. Declares the work done, and lets all present and later callers
  // through. The turn is then empty.
  void done() noexcept {
    detail::expects(once_ != nullptr, "an empty turn was said to be done",
                    "look at it first: another has done the work");
    std::exchange(once_, nullptr)->finish();
  }

 private:
  friend class basic_once;
  explicit turn(basic_once& once) noexcept : once_(&once) {}
  basic_once* once_ = nullptr;
};

template <class Strength>
class basic_once<Strength>::entering {
 public:
  using value_type = turn;
  explicit entering(basic_once& source) noexcept : once_(&source) {}
  bool try_now() noexcept {
    was_done_ = once_->is_done();
    return was_done_ || once_->test_and_take();
  }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { once_->begin(wait, entry); }
  result<turn> take() noexcept { return was_done_ ? turn() : once_->taken(); }

 private:
  basic_once* once_;
  detail::op_flag was_done_;  // is_done() before the baton was tried
};

extern template class basic_once<strength::shared>;
extern template class basic_once<strength::unsync>;

using once = basic_once<strength::shared>;
namespace unsync {
using once = basic_once<strength::unsync>;
}

}}  // namespace hocket
