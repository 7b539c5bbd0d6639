// completion<T>: a value that comes from outside, for everybody who waits for it, again and again.
//
//   completion<reply> answer;
//   server.on_reply([&](reply r) { answer.complete(std::move(r)); });   // any thread, a callback; never waits
//   auto r = co_await answer.wait();           // result<const reply&>; a fiber and a thread say await(answer.wait())
//   answer.reset();                            // for the next one
//
// It is a oneshot that stands in place, for many waiters, and can be used again; it allocates nothing. complete() and
// fail() wake all who wait, and let through all who come later, until it is reset. Everybody gets the same const T&,
// which lies in the completion: it is valid until the reset. T is an object type (move-only included) or void.
//
// Guarantees. The first complete() or fail() of a round counts; later ones give false, and change nothing. What was
// done before it is visible to whoever it lets through. It neither suspends nor runs code of who waits. Who was let
// through may destroy the completion, if nobody else waits for it or will complete it. A completion that is destroyed
// while somebody waits is fatal.
//
// Rounds. reset() begins a new one, in which the completers of the old one count for nothing; who waits goes on
// waiting. It is fatal while somebody who was woken has not taken the value: whoever waits alone resets after its wait,
// others ask is_drained() first. So it is for a round that is over, or that nobody completes meanwhile; and for whoever may
// say that no wait begins meanwhile, and nobody looks at the value any more: who keeps it for longer than to his next
// wait copies it.
//
// Abandoned. A completer is the right and the duty to complete one round: it can be moved into a callback, and one that
// is destroyed unused makes the round fail with std::errc::broken_pipe. One that comes late, in a later round, does
// nothing and says so. It must not outlive the completion; where that cannot be promised use a oneshot.
//
//   server.ask([done = answer.make_completer()](reply r) mutable { done.complete(std::move(r)); });
//
// Hooks. A completion may call something whenever somebody suspends on it, and when that one goes on, however its wait
// has ended: to ask for the value only when it is wanted, to count, to trace. One of the two will do:
//
//   struct ask_when_wanted {
//     server& from;
//     void on_suspend(completion<reply, ask_when_wanted>& c) { from.ask([&c](reply r) { c.complete(std::move(r)); }); }
//   };
//   completion<reply, ask_when_wanted> answer{ask_when_wanted{server}};
//
// on_suspend runs when the waiter stands in line, outside of all locks: it may complete the completion, and then nobody
// suspends. on_resume runs where the waiter goes on. Neither may wait or throw. Without hooks nothing is paid for them.
//
// The word: twice the number of the round, and one more once somebody has it to complete. Whoever brings it to odd
// makes the outcome, and then sets the event that everybody waits for (sync/detail/event_core.hpp); reset() takes the
// outcome away, clears the event, and then goes to the next round; from a round that nobody has it goes there at once.
#pragma once
#include <hocket/core/detail/operation.hpp>
#include <hocket/sync/detail/event_core.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI {

// The hooks of a completion that has none.
struct no_hooks {};

namespace detail {
template <class H, class C>
concept hooks_suspend = requires(H& hooks, C& of) { hooks.on_suspend(of); };
template <class H, class C>
concept hooks_resume = requires(H& hooks, C& of) { hooks.on_resume(of); };
}  // namespace detail

template <class Strength, class T, class Hooks>
class basic_completion final : private detail::event_core<Strength> {
  static_assert(std::is_void_v<T> || (std::is_object_v<T> && !std::is_array_v<T>),
                "completion<T>: T is an object type or void: complete a reference as a pointer");
  static_assert(!detail::is_result<T>, "completion<result<T>>: say completion<T>; fail(error) gives the error");

  using base = detail::event_core<Strength>;
  struct nothing;
  using given = std::conditional_t<std::is_void_v<T>, nothing, T>;
  class waiting;

 public:
  using value_type = T;
  class completer;

  basic_completion() = default;
  explicit basic_completion(Hooks hooks) : hooks_(std::move(hooks)) {}
  ~basic_completion() {
    detail::expects(Strength::last(waits_) == 0, "a completion was destroyed while somebody waits for it",
                    "let it outlive the waits: complete it, and let those who wait go on first");
  }

  // Any thread. Gives the value to all who wait. False: it was complete already, and the value is destroyed. If moving
  // the value throws, nothing has happened.
  bool complete(given value)
    requires(!std::is_void_v<T>)
  {
    return settle(this_round(), std::move(value));
  }
  bool complete() noexcept
    requires(std::is_void_v<T>)
  {
    return settle(this_round());
  }
  // The same with an error, which all who wait get instead.
  bool fail(std::error_code error) noexcept { return settle(this_round(), failure(error)); }

  // The right to complete this round; see above.
  [[nodiscard]] completer make_completer() noexcept { return completer(*this, this_round()); }

  // Any thread. Whether a wait would not suspend. False may be outdated at once.
  bool is_ready() const noexcept { return this->is_set(); }

  // Any thread. Whether nobody is waiting, and all who were woken go on, with the value before them.
  bool is_drained() const noexcept {
    // ORDER: acquire, pairs with the fetch_sub in end_wait(): who has looked at the outcome has done so before.
    return waits_.load(std::memory_order_acquire) == 0;
  }

  // Begins the next round. One who completes this one at the same moment is waited for: he is but a move of a T away.
  void reset() noexcept {
    while (!is_ready()) {
      std::uint32_t round = this_round();
      // ORDER: relaxed, pairs with nothing: nobody has left anything in this round.
      if (round_.compare_exchange_strong(round, round + 2, std::memory_order_relaxed, std::memory_order_relaxed))
        return;
      detail::cpu_relax();
    }
    detail::expects(is_drained(), "a completion was reset while somebody who was woken has not taken the value",
                    "who waits alone resets it after its wait; where several wait, ask is_drained() first");
    outcome_.reset();
    base::reset();
    // ORDER: release, pairs with the compare-exchange in claim(): the outcome is gone, and the event cleared.
    round_.fetch_add(1, std::memory_order_release);
  }

  // Waits until it is complete: result<const T&>, or result<void>.
  [[nodiscard]] primitive::operation<waiting> wait(call_site at = this_call_site()) noexcept {
    static_assert(std::is_same_v<Hooks, no_hooks> || tells_suspend || tells_resume,
                  "hocket: the hooks of a completion have on_suspend(completion&), on_resume(completion&), or both");
    return primitive::operation<waiting>(std::in_place, at, *this);
  }

  Hooks& hooks() noexcept { return hooks_; }

 private:
  static constexpr bool tells_suspend = detail::hooks_suspend<Hooks, basic_completion>;
  static constexpr bool tells_resume = detail::hooks_resume<Hooks, basic_completion>;

  std::uint32_t this_round() const noexcept {
    // ORDER: relaxed, pairs with nothing: claim() verifies it.
    return round_.load(std::memory_order_relaxed) & ~1u;
  }
  bool claim(std::uint32_t round) noexcept {
    // ORDER: acquire, pairs with the fetch_add in reset(): the last outcome is gone.
    return round_.compare_exchange_strong(round, round + 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unclaim() noexcept {
    // ORDER: release, pairs with the compare-exchange in claim(): nothing is under construction any more.
    round_.fetch_sub(1, std::memory_order_release);
  }
  // Who is let through may destroy the completion: nothing is touched after the event.
  template <class... Args>
  bool settle(std::uint32_t round, Args&&... args) {
    if (!claim(round)) return false;
    try {
      outcome_.emplace(std::forward<Args>(args)...);
    } catch (...) {
      unclaim();
      throw;
    }
    this->set();
    return true;
  }

  void begin_wait(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    // ORDER: relaxed, pairs with nothing: the line's mutex and the event order it before a reset of this round.
    waits_.fetch_add(1, std::memory_order_relaxed);
    base::begin(wait, entry);
    if constexpr (tells_suspend) hooks_.on_suspend(*this);
  }
  void end_wait() noexcept {
    if constexpr (tells_resume) hooks_.on_resume(*this);
    // ORDER: release, pairs with the load in is_drained().
    waits_.fetch_sub(1, std::memory_order_release);
  }

  const char* what() const noexcept override { return "a completion"; }

  typename Strength::template word<std::uint32_t> round_{0};
  typename Strength::template word<std::uint32_t> waits_{0};  // waits that have suspended and are not over
  std::optional<result<T>> outcome_;  // of whoever has claimed the round, until the event is set
  [[no_unique_address]] Hooks hooks_;
};

template <class Strength, class T, class Hooks>
class basic_completion<Strength, T, Hooks>::waiting {
 public:
  using value_type = std::conditional_t<std::is_void_v<T>, void, std::add_lvalue_reference_t<const T>>;

  explicit waiting(basic_completion& of) noexcept : of_(&of) {}
  bool try_now() noexcept { return of_->is_ready(); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    stands_ = true;
    of_->begin_wait(wait, entry);
  }
  void resumed() noexcept {
    if (std::exchange(stands_, false)) of_->end_wait();
  }
  result<value_type> take() noexcept {
    result<T>& outcome = *of_->outcome_;
    if (!outcome) return failure(outcome.error());
    if constexpr (std::is_void_v<T>) return {};
    else return result<value_type>(std::as_const(*outcome));
  }

 private:
  basic_completion* of_;
  detail::op_flag stands_;  // it has suspended
};

// Completes one round, or makes it fail by its end. Move-only; empty when it has completed, or was moved from.
template <class Strength, class T, class Hooks>
class [[nodiscard]] basic_completion<Strength, T, Hooks>::completer {
 public:
  completer() noexcept = default;
  completer(completer&& other) noexcept : of_(std::exchange(other.of_, nullptr)), round_(other.round_) {}
  completer& operator=(completer&& other) noexcept {
    completer old(std::move(other));
    std::swap(of_, old.of_);
    std::swap(round_, old.round_);
    return *this;
  }
  ~completer() {
    if (of_) of_->settle(round_, failure(std::errc::broken_pipe));
  }

  explicit operator bool() const noexcept { return of_ != nullptr; }

  // As those of the completion; false also for a round that is over.
  bool complete(given value)
    requires(!std::is_void_v<T>)
  {
    return finish(std::move(value));
  }
  bool complete() noexcept
    requires(std::is_void_v<T>)
  {
    return finish();
  }
  bool fail(std::error_code error) noexcept { return finish(failure(error)); }

 private:
  friend class basic_completion;
  completer(basic_completion& of, std::uint32_t round) noexcept : of_(&of), round_(round) {}

  template <class... Args>
  bool finish(Args&&... args) {
    detail::expects(of_ != nullptr, "an empty completer was used", "it was moved from, or has completed already");
    const bool first = of_->settle(round_, std::forward<Args>(args)...);
    of_ = nullptr;
    return first;
  }

  basic_completion* of_ = nullptr;
  std::uint32_t round_ = 0;
};

template <class T = void, class Hooks = no_hooks>
using completion = basic_completion<strength::shared, T, Hooks>;

namespace unsync {
template <class T = void, class Hooks = no_hooks>
using completion = basic_completion<strength::unsync, T, Hooks>;
}

}}  // namespace hocket
