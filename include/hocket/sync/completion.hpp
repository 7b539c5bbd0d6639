// completion<T>: a value from outside for all of its waiters, once per round.
//
//   completion<reply> answer;
//   server.on_reply([&](reply r) { answer.complete(std::move(r)); });   // any thread, a callback; never waits
//   auto r = co_await answer.wait();           // result<const reply&>; a fiber and a thread say await(answer.wait())
//   answer.reset();                            // for the next reply
//
// A completion is like a oneshot, with three differences: it has many waiters, it can be used again, and it lives in
// place without an allocation. complete() and fail() wake all waiters, and let later waits through until reset(). All
// waiters get the same const T&. It refers into the completion and is valid until reset(). T is an object type
// (move-only included) or void.
//
// Guarantees.
//   - The first complete() or fail() of a round counts. Later ones return false and change nothing.
//   - Everything before complete() or fail() is visible to the waiters that it lets through.
//   - Neither suspends, or runs code of the waiters.
//   - A waiter that was let through may destroy the completion, if no other code waits for it or will complete it.
//
// Rounds. reset() begins a new round. The completers of the old round then have no effect. Suspended waiters stay
// suspended. reset() is fatal while a woken waiter has not read the value. A single waiter resets after its own wait.
// With several waiters, ask is_drained() first.
//
// Do not.
//   - Reset while another thread may complete the round, unless the round is over already.
//   - Reset while a wait may begin, or while code still uses the value. A waiter that needs the value beyond its next
//     wait copies it.
//   - Destroy a completion that has a waiter: fatal.
//
// Completers. A completer is the right and the duty to complete one round. It can be moved into a callback. If it is
// destroyed unused, the round fails with std::errc::broken_pipe. If it is used in a later round, it does nothing and
// returns false. It must not outlive the completion; if that cannot be promised, use a oneshot.
//
//   server.ask([done = answer.make_completer()](reply r) mutable { done.complete(std::move(r)); });
//
// Hooks. A completion may call a hook when a waiter suspends, and when the waiter resumes, whatever has ended its wait:
// to request the value on demand, to count, to trace. One of the two suffices:
//
//   struct ask_when_wanted {
//     server& peer;
//     void on_suspend(completion<reply, ask_when_wanted>& c) { peer.ask([&c](reply r) { c.complete(std::move(r)); }); }
//   };
//   completion<reply, ask_when_wanted> answer{ask_when_wanted{server}};
//
// on_suspend runs after the waiter is linked, outside of all locks. It may complete the completion; then the waiter
// does not suspend. on_resume runs where the waiter resumes. Neither may wait or throw. A completion without hooks does
// not pay for them.
//
// Implementation. The word is twice the number of the round, plus one if a caller has claimed the round. The caller
// that makes the word odd constructs the outcome, and then sets the event of the waiters (sync/detail/event_core.hpp).
// reset() destroys the outcome, clears the event, and then advances the word to the next round. If the round is
// unclaimed, reset() advances the word at once.
#pragma once
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/event_core.hpp>
#include <optional>

namespace hocket { inline namespace HOCKET_ABI {

// The hooks of a completion without hooks.
struct no_hooks {};

namespace detail {
template <class H, class C>
concept hooks_suspend = requires(H& hooks, C& completion) { hooks.on_suspend(completion); };
template <class H, class C>
concept hooks_resume = requires(H& hooks, C& completion) { hooks.on_resume(completion); };
}  // namespace detail

template <class Strength, class T, class Hooks>
class basic_completion final : private detail::event_core<Strength> {
  static_assert(std::is_void_v<T> || (std::is_object_v<T> && !std::is_array_v<T>),
                "completion<T>: T is an object type or void: complete a reference as a pointer");
  static_assert(!detail::is_result<T>, "completion<result<T>>: say completion<T>; fail(error) gives the error");

  using base = detail::event_core<Strength>;
  struct nothing;
  using argument = std::conditional_t<std::is_void_v<T>, nothing, T>;
  class waiting;

 public:
  using value_type = T;
  class completer;

  basic_completion() = default;
  explicit basic_completion(Hooks hooks) : hooks_(std::move(hooks)) {}
  ~basic_completion() {
    detail::expects(Strength::last(waits_) == 0, "a completion was destroyed while it has a waiter",
                    "let it outlive the waits: complete it, and let the waiters resume first");
  }

  // Any thread. Gives the value to all waiters. False: the round was complete already, and the value is destroyed. If
  // the move of the value throws, nothing has happened.
  bool complete(argument value)
    requires(!std::is_void_v<T>)
  {
    return settle(this_round(), std::move(value));
  }
  bool complete() noexcept
    requires(std::is_void_v<T>)
  {
    return settle(this_round());
  }
  // Completes the round with an error, which all waiters get.
  bool fail(std::error_code error) noexcept { return settle(this_round(), failure(error)); }

  // A completer of this round; see above.
  [[nodiscard]] completer make_completer() noexcept { return completer(*this, this_round()); }

  // Any thread. Whether a wait would not suspend. False may be outdated at once.
  bool is_ready() const noexcept { return this->is_set(); }

  // Any thread. Whether no waiter is suspended, and all woken waiters have resumed with the value.
  bool is_drained() const noexcept {
    // ORDER: acquire, pairs with the fetch_sub in end_wait(): the waiters have read the outcome before it.
    return waits_.load(std::memory_order_acquire) == 0;
  }

  // Begins the next round. Spins while another thread completes this round, for the time of a move of a T.
  void reset() noexcept {
    while (!is_ready()) {
      std::uint32_t round = this_round();
      // ORDER: relaxed, pairs with nothing: no caller has written an outcome in this round.
      if (round_.compare_exchange_strong(round, round + 2, std::memory_order_relaxed, std::memory_order_relaxed))
        return;
      detail::cpu_relax();
    }
    detail::expects(is_drained(), "a completion was reset while a woken waiter has not taken the value",
                    "a single waiter resets it after its wait; with several waiters, ask is_drained() first");
    outcome_.reset();
    base::reset();
    // ORDER: release, pairs with the compare-exchange in claim(): the outcome is gone, and the event cleared.
    round_.fetch_add(1, std::memory_order_release);
  }

  // Waits until the round is complete: result<const T&>, or result<void>.
  [[nodiscard]] primitive::operation<waiting> wait(call_site site = this_call_site()) noexcept {
    static_assert(std::is_same_v<Hooks, no_hooks> || has_suspend_hook || has_resume_hook,
                  "hocket: the hooks of a completion have on_suspend(completion&), on_resume(completion&), or both");
    return primitive::operation<waiting>(std::in_place, site, *this);
  }

  Hooks& hooks() noexcept { return hooks_; }

 private:
  static constexpr bool has_suspend_hook = detail::hooks_suspend<Hooks, basic_completion>;
  static constexpr bool has_resume_hook = detail::hooks_resume<Hooks, basic_completion>;

  std::uint32_t this_round() const noexcept {
    // ORDER: relaxed, pairs with nothing: claim() verifies it.
    return round_.load(std::memory_order_relaxed) & ~1u;
  }
  bool claim(std::uint32_t round) noexcept {
    // ORDER: acquire, pairs with the fetch_add in reset(): the last outcome is gone.
    return round_.compare_exchange_strong(round, round + 1, std::memory_order_acquire, std::memory_order_relaxed);
  }
  void unclaim() noexcept {
    // ORDER: release, pairs with the compare-exchange in claim(): the failed construction is over.
    round_.fetch_sub(1, std::memory_order_release);
  }
  // A waiter that was let through may destroy the completion: nothing is touched after set().
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
    // ORDER: relaxed, pairs with nothing: the queue's mutex and the event order it before a reset of this round.
    waits_.fetch_add(1, std::memory_order_relaxed);
    base::begin(wait, entry);
    if constexpr (has_suspend_hook) hooks_.on_suspend(*this);
  }
  void end_wait() noexcept {
    if constexpr (has_resume_hook) hooks_.on_resume(*this);
    // ORDER: release, pairs with the load in is_drained().
    waits_.fetch_sub(1, std::memory_order_release);
  }

  const char* what() const noexcept override { return "a completion"; }

  typename Strength::template word<std::uint32_t> round_{0};
  typename Strength::template word<std::uint32_t> waits_{0};  // the number of waits that have suspended and not ended
  std::optional<result<T>> outcome_;  // until the event is set, owned by the caller that has claimed the round
  [[no_unique_address]] Hooks hooks_;
};

template <class Strength, class T, class Hooks>
class basic_completion<Strength, T, Hooks>::waiting {
 public:
  using value_type = std::conditional_t<std::is_void_v<T>, void, std::add_lvalue_reference_t<const T>>;

  explicit waiting(basic_completion& source) noexcept : completion_(&source) {}
  bool try_now() noexcept { return completion_->is_ready(); }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    has_suspended_ = true;
    completion_->begin_wait(wait, entry);
  }
  void resumed() noexcept {
    if (std::exchange(has_suspended_, false)) completion_->end_wait();
  }
  result<value_type> take() noexcept {
    result<T>& outcome = *completion_->outcome_;
    if (!outcome) return failure(outcome.error());
    if constexpr (std::is_void_v<T>) return {};
    else return result<value_type>(std::as_const(*outcome));
  }

 private:
  basic_completion* completion_;
  detail::op_flag has_suspended_;
};

// Completes one round; its destructor makes the round fail. Move-only. Empty after it has completed or was moved from.
template <class Strength, class T, class Hooks>
class [[nodiscard]] basic_completion<Strength, T, Hooks>::completer {
 public:
  completer() noexcept = default;
  completer(completer&& other) noexcept
      : completion_(std::exchange(other.completion_, nullptr)), round_(other.round_) {}
  completer& operator=(completer&& other) noexcept {
    completer old(std::move(other));
    std::swap(completion_, old.completion_);
    std::swap(round_, old.round_);
    return *this;
  }
  ~completer() {
    if (completion_) completion_->settle(round_, failure(std::errc::broken_pipe));
  }

  explicit operator bool() const noexcept { return completion_ != nullptr; }

  // Like the functions of the completion. Also false if the round is over.
  bool complete(argument value)
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
  completer(basic_completion& completion, std::uint32_t round) noexcept : completion_(&completion), round_(round) {}

  template <class... Args>
  bool finish(Args&&... args) {
    detail::expects(completion_ != nullptr, "an empty completer was used",
                    "it was moved from, or has completed already");
    const bool first = completion_->settle(round_, std::forward<Args>(args)...);
    completion_ = nullptr;
    return first;
  }

  basic_completion* completion_ = nullptr;
  std::uint32_t round_ = 0;
};

template <class T = void, class Hooks = no_hooks>
using completion = basic_completion<strength::shared, T, Hooks>;

namespace unsync {
template <class T = void, class Hooks = no_hooks>
using completion = basic_completion<strength::unsync, T, Hooks>;
}

}}  // namespace hocket
