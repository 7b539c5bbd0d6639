// once: work that is done one time, by whoever comes first; the others wait until it is done.
//
//   once opened;
//   auto turn = co_await opened.enter();       // result<once::turn>; a fiber and a thread say await(opened.enter())
//   if (!turn) return turn.error();            // the wait was cancelled or timed out
//   if (*turn) {                               // mine to do: it may suspend, fail and throw
//     connection = co_await connect();
//     turn->done();
//   }
//   use(connection);                           // done, by me or by another
//
// Guarantees. One coroutine or thread at a time has the turn. One that ends without done(), by an exception, a failure
// or a kill, passes the turn to the first who waits; nobody overtakes. done() lets all who wait go on. Every turn that
// is empty (false) says: done by another, and what that one did before done() is visible. From then on enter() is one
// load. A coroutine that was granted the turn and killed before it runs has it until it unwinds, at its next wait at
// the latest. Neither enter() nor done() runs foreign code: the work is the caller's own.
//
// A wait for the turn can be cancelled and timed out. The once outlives its turns and the waits for them. At check
// level `debug` these are fatal: a once that is destroyed while somebody has the turn, a coroutine that enters what it
// has the turn of, and one that ends the turn of another (see mutex). unsync::once is for one thread; see
// core/detail/strength.hpp.
//
// How. The turn is a baton (sync/detail/baton.hpp); beside it stands a word that says whether the work is done. done()
// sets that word, and then hands the baton over until nobody waits. From then on the baton is nobody's: whoever comes
// by it looks at the word, finds the work done, and puts the baton there for the next. So who looked at the word too
// early, and got in line after done() had gone through it, finds the baton there; and everybody whom one of these hides
// is woken by that one.
#pragma once
#include <hocket/core/detail/operation.hpp>
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
    detail::debug_expects(this->was_free(), "a once was destroyed while somebody has its turn, or waits for it",
                          "let it outlive those who enter: let their turns end first");
  }

  // Any thread. Whether the work is done, and what was done is visible. False may be outdated at once.
  bool is_done() const noexcept {
    // ORDER: acquire, pairs with the exchange in finish().
    return done_.load(std::memory_order_acquire);
  }

  // Waits for the turn, or until the work is done: result<turn>.
  [[nodiscard]] primitive::operation<entering> enter(call_site at = this_call_site()) noexcept {
    return primitive::operation<entering>(std::in_place, at, *this);
  }

 private:
  // The baton was taken, or handed over.
  turn taken() noexcept {
    // ORDER: relaxed, pairs with nothing: the baton orders it after the done() of whoever had the turn before.
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

// The right and the duty to do the work. Move-only. Empty (false) if the work is done already, by another or by this
// one, or when it was moved from. One that is destroyed without done() passes the turn on.
template <class Strength>
class [[nodiscard]] basic_once<Strength>::turn {
 public:
  turn() noexcept = default;
  turn(turn&& other) noexcept : of_(std::exchange(other.of_, nullptr)) {}
  turn& operator=(turn&& other) noexcept {
    turn old(std::move(other));
    std::swap(of_, old.of_);
    return *this;
  }
  ~turn() {
    if (of_) of_->pass();
  }

  explicit operator bool() const noexcept { return of_ != nullptr; }

  // Any thread, by the coroutine whose turn it is. The work is done: all who wait go on, and all who come. The turn is
  // empty then.
  void done() noexcept {
    detail::expects(of_ != nullptr, "an empty turn was said to be done", "look at it first: another has done the work");
    std::exchange(of_, nullptr)->finish();
  }

 private:
  friend class basic_once;
  explicit turn(basic_once& of) noexcept : of_(&of) {}
  basic_once* of_ = nullptr;
};

template <class Strength>
class basic_once<Strength>::entering {
 public:
  using value_type = turn;
  explicit entering(basic_once& of) noexcept : of_(&of) {}
  bool try_now() noexcept {
    was_done_ = of_->is_done();
    return was_done_ || of_->look_and_take();
  }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept { of_->begin(wait, entry); }
  result<turn> take() noexcept { return was_done_ ? turn() : of_->taken(); }

 private:
  basic_once* of_;
  detail::op_flag was_done_;  // found before anything else
};

extern template class basic_once<strength::shared>;
extern template class basic_once<strength::unsync>;

using once = basic_once<strength::shared>;
namespace unsync {
using once = basic_once<strength::unsync>;
}

}}  // namespace hocket
