// An operation: a wait that has not begun. It is what `m.lock()`, `event.wait()` or `handle.join()` return.
//
//   auto held = co_await m.lock();               // in a task; a fiber and a thread say await(m.lock())
//   auto held = await(within(50ms, m.lock()));   // timed_out after 50 ms
//
// Whatever it gives, it gives as a result<T>: a wait can be cancelled (std::errc::operation_canceled) and can time out
// (std::errc::timed_out), by its own terms or by those of the coroutine's context. When the coroutine is killed, the
// wait does not return: the coroutine unwinds. An operation that is possible at once does not suspend, and does not
// look at clocks and stops; but for every 256th.
//
// The budget. A loop over a receive() that is always possible would hold its thread for ever, and with it its timers,
// its I/O and all others that are ready there; and no stop would reach it. Therefore a thread counts the operations
// that its coroutines await, of those kinds that work comes from: channels of all kinds, semaphores, events, oneshots,
// joins and selects (a select is one; so is a batch, however large, which the budget does not bound), since the last of
// them that had to wait. Not locks: who
// has one is about to give it back. At every 256th
//   - a stop of the context, if there is one, ends the operation: cancelled, it gives operation_canceled; killed, the
//     coroutine unwinds. Nothing has been taken, though it was possible. Deadlines are not looked at;
//   - else the operation is carried out, and the coroutine then goes to the end of its executor's queue, as by a yield,
//     and has what it took. A stop that comes meanwhile changes nothing about that: the next wait sees it, or the next
//     time that the budget is used up.
// A plain thread, an eager body on its caller's stack, code that is being unwound and whatever could not wait anyway
// spends the budget, but goes on. So one that was known to be possible waits nevertheless, once in a while: not to be
// awaited under a lock of the thread (core/checked_lock.hpp).
//
// An operation is a small movable value, awaited once, as an rvalue or through std::move. At check level `debug`
// dropping one that was never awaited is fatal: it is nearly always a forgotten `await`.
//
// For the author of a primitive. `Op` says how; it is small, trivially copyable, and has
//
//   using value_type = ...;                            // what a granted wait gives; may be void
//   bool try_now() noexcept;                           // takes the resource if it is free
//   void begin(suspension& wait, waiter& entry) noexcept;
//       // looks again and enters the list, as one step under the lock of the primitive: takes the resource if it is
//       // free and wait.take_now(entry, source) says yes; else entry.enlist(wait, source) and push it to the list
//   result<value_type> take();                         // after a successful try_now() or a grant: the resource
//   static constexpr std::size_t waiters = n;          // only if it needs more than one: `entry` is the first of n
//   static constexpr bool uninterruptible = true;      // only if nothing but a grant ends the wait
//   static constexpr bool spends_budget = true;        // only if a loop over it may find it possible for ever
//   bool has_it() noexcept;                            // only if the resource cannot go back once the waiter was
//                                                      // popped: whether that has happened. The wait is then granted,
//                                                      // whoever ended it, unless it was killed. No select takes such
//                                                      // a wait.
//   static constexpr bool relocks = true;              // only if it has a lock again before it ends, whatever ends it.
//                                                      // At most one of those stands in a select.
//   const void* moves_from() const noexcept;           // only if it moves an object of the caller away while it waits.
//                                                      // No other of a select may use the same one.
//   const void* refers_to() const noexcept;            // only if it uses such an object otherwise
//   void resumed() noexcept;                           // only if it wants to know: what begin() began is over, and was
//                                                      // taken if it was granted. May be called again.
//
// It has no padding (std::has_unique_object_representations): a fiber whose stack moves looks through its bytes for
// addresses of that stack, and what was there before would be taken for one. A bool is an op_flag therefore
// (core/op_flag.hpp).
// It stays where begin() found it until the wait is over, so a waiter may point to it (waiter::resource).
// A primitive that grants a resource for later collection (a permit, an item) takes it back in wait_source::pass_on().
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/core/awaitable.hpp>
#include <hocket/core/current.hpp>
#include <hocket/core/op_flag.hpp>
#include <hocket/core/suspension.hpp>
#include <hocket/core/unwind.hpp>
#include <new>
#include <type_traits>
#include <utility>

namespace hocket::inline HOCKET_ABI {

// How to wait for one thing; see above.
template <class Op>
concept wait_operation = std::is_trivially_copyable_v<Op> && requires(Op& op, suspension& wait, waiter& entry) {
  typename Op::value_type;
  { op.try_now() } -> std::same_as<bool>;
  op.begin(wait, entry);
  { op.take() } -> std::same_as<result<typename Op::value_type>>;
};

// How many registrations a wait makes: one, or as many as a select has operations.
template <class Op>
inline constexpr std::size_t waiters_of = 1;
template <class Op>
  requires requires { Op::waiters; }
inline constexpr std::size_t waiters_of<Op> = Op::waiters;

// Whether the wait may be given a deadline, and may stand in a select.
template <class Op>
inline constexpr bool is_interruptible = true;
template <class Op>
  requires requires { Op::uninterruptible; }
inline constexpr bool is_interruptible<Op> = false;

namespace detail {

template <class Op>
concept wants_resumption = requires(Op& op) { op.resumed(); };

template <class Op>
concept spends_budget = requires { Op::spends_budget; };

template <class Op>
concept has_lock_again = requires { Op::relocks; };

template <class Op>
concept moves_an_object = requires(const Op& op) { op.moves_from(); };
template <class Op>
concept refers_to_an_object = requires(const Op& op) { op.refers_to(); };

template <class Op>
concept keeps_late_grants = requires(Op& op) { op.has_it(); };

// The budget: thread_state::spent counts, and begins anew by itself. True: it is used up by this operation.
[[gnu::always_inline]] inline bool spend_budget() noexcept {
  if constexpr (under_model) return false;  // an execution is to be repeated
  else return ++this_thread().spent == 0;
}
inline void begin_budget(thread_state& here) noexcept { here.spent = 1; }
// Asked then: whether the running coroutine can go through its executor's queue. If so, the operation begins a wait, on
// this thread, before another one is counted.
[[gnu::cold, gnu::noinline]] bool can_let_others_run() noexcept;
// For code that awaits nothing for long, between two pieces of its work: spends the budget. True: it is used up, and
// the running coroutine can yield, and does so now.
[[gnu::always_inline]] inline bool budget_asks_to_yield() noexcept { return spend_budget() && can_let_others_run(); }
// In the beginning of that wait.
inline bool budget_is_used_up() noexcept { return !under_model && this_thread().spent == 0; }

// While the end of a wait is told.
template <class Op>
struct resumption {
  explicit resumption(Op&) noexcept {}
};
template <wants_resumption Op>
struct resumption<Op> {
  explicit resumption(Op& what) noexcept : op(what) {}
  resumption(const resumption&) = delete;
  resumption& operator=(const resumption&) = delete;
  ~resumption() { op.resumed(); }
  Op& op;
};

}  // namespace detail

// The error of a wait that was not granted; unwinds the coroutine if it was killed.
[[nodiscard]] failure failure_of(verdict outcome);

template <wait_operation Op>
class wait;

template <wait_operation Op>
class [[nodiscard("an operation does nothing until it is awaited")]] operation {
 public:
  using value_type = typename Op::value_type;

  explicit operation(Op op, const wait_terms& terms = {}) noexcept : op_(op), terms_(terms) {}
  // Op(of...), made in its place: as a copy, several words would go through memory twice.
  template <class... A>
  operation(std::in_place_t, const wait_terms& terms, A&&... of) noexcept
      : op_(std::forward<A>(of)...), terms_(terms) {}
  operation(operation&& other) noexcept : op_(other.op_), terms_(other.terms_) { other.mark_awaited(); }
  operation& operator=(operation&&) = delete;
  ~operation() {
    if constexpr (debug_checks)
      debug_expects(awaited_ || leaving_by_failure(), "an operation was dropped without being awaited",
                    "co_await it (await it in a fiber), or do not ask for it", nullptr, terms_.at);
  }

  // The awaiter refers to the operation.
  wait<Op> operator co_await() && noexcept {
    mark_awaited();
    return wait<Op>(*this);
  }

  // The same operation under stricter terms: `within` and its like are made of these. The author's part, too.
  operation until(time_point deadline) && noexcept {
    if (deadline < terms_.until) terms_.until = deadline;
    return std::move(*this);
  }
  operation within(duration time) && noexcept {
    if (time < terms_.within) terms_.within = time;
    return std::move(*this);
  }
  operation ignoring(verdict strength) && noexcept {
    if (strength > terms_.ignore) terms_.ignore = strength;
    return std::move(*this);
  }
  const wait_terms& terms() const noexcept { return terms_; }
  const Op& op() const noexcept { return op_; }
  Op&& unwrap() && noexcept {
    mark_awaited();
    return std::move(op_);
  }
  // It will not be awaited.
  static constexpr bool can_be_discarded = true;
  void discard() && noexcept { mark_awaited(); }

 private:
  friend class wait<Op>;
  struct nothing {
    constexpr operator bool() const noexcept { return true; }
  };
  void mark_awaited() noexcept {
    if constexpr (debug_checks) awaited_ = true;
  }

  Op op_;
  wait_terms terms_;
  [[no_unique_address]] std::conditional_t<debug_checks, bool, nothing> awaited_{};
};

// The awaiter of an operation, which it refers to: built where the coroutine waits, never moved. The suspension is
// constructed only when there is one.
template <wait_operation Op>
class [[nodiscard]] wait : public own_awaiter {
 public:
  using value_type = typename Op::value_type;

  explicit wait(operation<Op>& what) noexcept : what_(what) {}
  wait(const wait&) = delete;
  wait& operator=(const wait&) = delete;
  ~wait() {
    if (!suspended_) return;
    [[maybe_unused]] const detail::resumption<Op> over(what_.op_);
    if constexpr (detail::spends_budget<Op>) {
      if (has_it_ && !registration_.wait.finished()) [[unlikely]]
        static_cast<void>(what_.op_.take());  // the coroutine was destroyed before it ran: gives it up
    }
    // Of a wait that is over the destructors do nothing but check, for each of its waiters.
    if (debug_checks || !registration_.wait.finished()) registration_.~registration();
  }

  bool await_ready() noexcept {
    expect_no_lock_to_await(what_.terms_.at);
    if constexpr (detail::spends_budget<Op>) {
      if (detail::spend_budget() && detail::can_let_others_run()) [[unlikely]]
        return false;
    }
    return what_.op_.try_now();
  }

  bool await_suspend(std::coroutine_handle<> handle) noexcept {
    ::new (static_cast<void*>(&registration_)) registration;
    suspended_ = true;
    registration_.wait.arm(handle, what_.terms_);
    if constexpr (detail::spends_budget<Op>) {
      if (detail::budget_is_used_up() && lets_others_run()) [[unlikely]]
        return true;
      detail::begin_budget(this_thread());  // it has to wait: the others come to their turn anyway
    }
    what_.op_.begin(registration_.wait, registration_.entries[0]);
    return registration_.wait.commit();
  }

  result<value_type> await_resume() {
    if (!suspended_) [[likely]]
      return what_.op_.take();
    [[maybe_unused]] const detail::resumption<Op> over(what_.op_);
    verdict outcome = registration_.wait.finish();
    if (outcome != verdict::granted && !granted_late(outcome)) return failure_of(outcome);
    return what_.op_.take();
  }

 private:
  // False: it is not possible, and is to begin like any other. Else others may have resumed the coroutine by now.
  [[gnu::noinline]] bool lets_others_run() noexcept {
    if (!registration_.wait.stopped_before()) {
      if (!what_.op_.try_now()) return false;
      has_it_ = true;
    }
    registration_.wait.commit_through_queue(has_it_);
    return true;
  }
  bool granted_late([[maybe_unused]] verdict outcome) noexcept {
    if constexpr (detail::keeps_late_grants<Op>) return outcome != verdict::killed && what_.op_.has_it();
    else return false;
  }

  struct registration {
    suspension wait;  // first: the waiters ask it when they are destroyed
    waiter entries[waiters_of<Op>];
  };

  operation<Op>& what_;
  bool suspended_ = false;
  bool has_it_ = false;  // and suspended: the budget was used up
  union {
    registration registration_;
  };
};

}  // namespace hocket::inline HOCKET_ABI
