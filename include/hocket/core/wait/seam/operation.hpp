// An operation: a wait that has not begun. m.lock(), event.wait() and handle.join() return one.
//
//   auto held = co_await m.lock();               // in a task; a fiber and a thread say await(m.lock())
//   auto held = await(within(50ms, m.lock()));   // timed_out after 50 ms
//
// Results. An operation returns a result<T>, because its own options or the context of the coroutine may cancel the
// wait (std::errc::operation_canceled) or time it out (std::errc::timed_out). If the coroutine is killed, the wait does
// not return: the coroutine unwinds. C frames above the wait cannot be unwound. Such code awaits
// `m.lock().reporting_kill()`, which returns errc::killed. The next wait that does not report the kill unwinds.
//
// Budget. An operation that can complete at once does not suspend, and reads neither clocks nor stops. But it spends
// the thread's budget (core/wait/seam/budget.hpp). Once in 256 operations the coroutine lets others run first, and a
// stop or a deadline that has passed ends the operation, which then has taken nothing. So a loop over operations that
// always complete does not hold its thread, and a cancel, a kill and a deadline end it. Consequences:
//   - Never await an operation under a lock of the thread, even if it is known to complete at once (checked_lock.hpp).
//   - `within(time point, x)` with a time in the past completes if x can complete at once, except once in 256 times. So
//     does a wait of a coroutine after its deadline. `within(0ms, x)` always completes if x can.
// Memory. A wait of a task that suspends takes memory, unless its coroutine has kept some from an earlier wait
// (core/wait/seam/wait_room.hpp). Without memory nothing has begun, and the await throws std::bad_alloc. All other
// state of a wait is in the operation and its awaiter.
// An operation is a small movable value. It is awaited once, as an rvalue or through std::move. At check level `debug`
// dropping an operation that was never awaited is fatal, because it nearly always is a forgotten `await`.
//
// For the author of a primitive. `Op` defines the wait. It is small, trivially copyable, and has
//
//   using value_type = ...;                            // the value of a granted wait; may be void
//   bool try_now() noexcept;                           // takes the resource if it is free
//   void begin(suspension& wait, waiter& entry) noexcept;
//       // checks again and enters the list, as one step under the lock of the primitive: takes the resource if it is
//       // free and wait.take_now(entry, source) returns true; else line.enlist(wait, source, entry)
//   bool begin(suspension& wait, waiter& entry) noexcept;
//   wait_source& source() const noexcept;
//       // instead, if linking the waiter is the last step of begin(). begin() returns whether it linked the waiter.
//       // It links nothing if wait.decided(). Then the wait is committed first (core/wait/seam/suspension.hpp).
//   result<value_type> take();                         // after a successful try_now() or a grant: the resource
//   // optional:
//   static constexpr std::size_t waiters = n;          // it needs more than one: `entry` is the first of n
//   static constexpr std::uint8_t price = n;           // it spends another part of the budget than 1
//   static constexpr bool may_be_ignored = true;       // void; only a stop or a deadline fails it: returns a `waited`
//   static constexpr bool uninterruptible = true;      // only a grant ends the wait
//   bool has_it() noexcept;                            // the resource cannot go back once the waiter was popped: is
//                                                      // that so? Then the wait is granted, unless it was killed. No
//                                                      // select takes such a wait.
//   bool try_granted() noexcept;                       // a grant is a permission to try (attempt.hpp)
//   static constexpr bool keeps_result = true;         // try_now() and a grant take nothing: the result stays until
//                                                      // take(). A group that was decided leaves it.
//   static constexpr bool relocks = true;              // reacquires a lock before any end; at most one arm of a select
//   const void* moves_from() const noexcept;           // the object that it moves while it waits; no other arm has it
//   const void* refers_to() const noexcept;            // the object that it uses otherwise
//   std::span<const std::byte> list_of_addresses() const noexcept;  // bytes with addresses that others write to
//   void wait_failed() noexcept;                       // a stop, a deadline or a kill has ended the await, perhaps
//                                                      // before begin(); no take()
//   void resumed() noexcept;                           // the work of begin() is over, and taken if it was granted.
//                                                      // May be called again.
// It has no padding (std::has_unique_object_representations). A fiber with a stack that moves searches its bytes for
// addresses of that stack, and padding may contain an old one. So a bool is an op_flag (core/wait/detail/op_flag.hpp).
// It stays at the address of begin() until the wait is over, so a waiter may point to it (waiter::resource). The
// reverse does not hold: the room of a suspension and its only waiter is released before take() and resumed(). A
// primitive that grants a resource for later collection (a permit, an item) takes it back in wait_source::pass_on().
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/core/awaitable.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/core/wait/detail/attempt.hpp>
#include <hocket/core/wait/detail/awaited_mark.hpp>
#include <hocket/core/wait/detail/op_flag.hpp>
#include <hocket/core/wait/detail/operation_traits.hpp>
#include <hocket/core/wait/seam/budget.hpp>
#include <hocket/core/wait/seam/lock_check.hpp>
#include <hocket/core/wait/seam/suspension.hpp>
#include <hocket/core/wait/seam/unwind.hpp>
#include <new>
#include <type_traits>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI {

namespace primitive {

// The definition of a wait; see above.
template <class Op>
concept wait_operation = std::is_trivially_copyable_v<Op> && requires(Op& op, suspension& wait, waiter& entry) {
  typename Op::value_type;
  { op.try_now() } -> std::same_as<bool>;
  op.begin(wait, entry);
  { op.take() } -> std::same_as<result<typename Op::value_type>>;
};

// A primitive is not awaited itself, but by one of its waits.
template <template <class...> class Primitive, class... Of>
  requires(std::is_base_of_v<wait_source, Primitive<Of...>> && !detail::awaiter<Primitive<Of...>>)
detail::misused operator co_await(Primitive<Of...>&) noexcept {
  static_assert(!std::is_base_of_v<wait_source, Primitive<Of...>>,
                "hocket: say what to wait for: co_await e.wait(), m.lock(), s.acquire(), c.receive()");
  return {};
}

}  // namespace primitive

namespace detail {

// The error of a wait that was not granted; unwinds the coroutine if it was killed.
[[nodiscard]] failure failure_of(wait_end cause);
template <class Op>
[[nodiscard]] failure failure_of_wait(wait_end cause) {
  if constexpr (reports_kill<Op>) {
    if (cause == wait_end::killed) return failure(errc::killed);
  }
  return failure_of(cause);
}
// Like failure_of_wait(). Calls wait_failed() first, if `op` has it.
template <class Op>
[[nodiscard]] failure fail_wait([[maybe_unused]] Op& op, wait_end cause) {
  if constexpr (requires { op.wait_failed(); }) op.wait_failed();
  return failure_of_wait<Op>(cause);
}

[[noreturn, HOCKET_COLD, HOCKET_NOINLINE]] void throw_roomless();

}  // namespace detail

namespace primitive {
// An operation of a primitive has only the options of its coroutine. `within` and similar functions return one with
// options of its own: four words that others do not carry.
template <wait_operation Op, class Options = detail::no_options>
class operation;
}  // namespace primitive

namespace detail {

template <wait_operation Op>
using limited_operation = operation<Op, wait_options>;

template <wait_operation Op, class Options = no_options, class Room = own_room<waiters_of<Op>>>
class wait;

}  // namespace detail

namespace primitive {

template <wait_operation Op, class Options>
class [[nodiscard("an operation does nothing until it is awaited")]] operation
    : public awaitable_base<operation<Op, Options>> {
 public:
  using value_type = typename Op::value_type;
  using own_room = detail::own_room<detail::waiters_of<Op>>;
  using room_in_task = detail::room_in_task<Op>;

  explicit operation(Op op, const Options& options = {}) noexcept : op_(op), options_(options) {}
  // Constructs Op(args...) in place: a copy of several words would go through memory twice.
  template <class... A>
  operation(std::in_place_t, const Options& options, A&&... args) noexcept
      : op_(std::forward<A>(args)...), options_(options) {}
  operation(operation&& other) noexcept : op_(other.op_), options_(other.options_) { other.mark_awaited(); }
  operation& operator=(operation&&) = delete;
  ~operation() {
    if constexpr (detail::debug_checks)
      detail::debug_expects(
          awaited_.is_set() || detail::leaving_by_failure(), "an operation was dropped without being awaited",
          "co_await it (await it in a fiber), or do not ask for it", nullptr, detail::location_of(options_.at));
  }

  // The awaiter refers to the operation.
  detail::wait<Op, Options> operator co_await() && noexcept { return std::move(*this).template wait_in<own_room>(); }
  // The awaiter of `co_await` in a task.
  detail::wait<Op, Options, room_in_task> await_in_task() && noexcept {
    return std::move(*this).template wait_in<room_in_task>();
  }
  template <class Room>
  detail::wait<Op, Options, Room> wait_in() && noexcept {
    mark_awaited();
    return detail::wait<Op, Options, Room>(*this);
  }

  // This operation under stricter options, for `within` and similar functions. Also for the author.
  detail::limited_operation<Op> until(time_point deadline) && noexcept {
    return detail::limited_operation<Op>(std::in_place, detail::wait_options(options_).limit(deadline),
                                         std::move(*this).unwrap());
  }
  detail::limited_operation<Op> within(duration time) && noexcept {
    return detail::limited_operation<Op>(std::in_place, detail::wait_options(options_).limit(time),
                                         std::move(*this).unwrap());
  }
  detail::limited_operation<Op> ignoring(stop_level level) && noexcept {
    return detail::limited_operation<Op>(std::in_place, detail::wait_options(options_).shield(level),
                                         std::move(*this).unwrap());
  }
  // This operation, which returns errc::killed instead of unwinding if the coroutine is killed.
  operation<detail::kill_reporting<Op>, Options> reporting_kill() && noexcept {
    return operation<detail::kill_reporting<Op>, Options>(detail::kill_reporting<Op>(std::move(*this).unwrap()),
                                                          options_);
  }
  const Options& options() const noexcept { return options_; }
  const Op& op() const noexcept { return op_; }
  Op&& unwrap() && noexcept {
    mark_awaited();
    return std::move(op_);
  }
  // Called for an operation that will not be awaited.
  static constexpr bool can_be_discarded = true;
  void discard() && noexcept { mark_awaited(); }

 private:
  template <wait_operation, class, class>
  friend class detail::wait;
  void mark_awaited() noexcept { awaited_.set(); }

  Op op_;
  Options options_;
  [[no_unique_address]] detail::awaited_mark<detail::debug_checks> awaited_;
};

template <class Op>
operation(Op, call_site) -> operation<Op>;

}  // namespace primitive

namespace detail {

// The awaiter of an operation: constructed where the coroutine waits, never moved. The suspension, if there is one, is
// in the room of the policy (core/wait/seam/wait_room.hpp).
template <wait_operation Op, class Options, class Room>
class [[nodiscard]] wait : public own_awaiter, private attempt<wait<Op, Options, Room>, Op> {
 public:
  using value_type = typename Op::value_type;
  static constexpr bool needs_a_coroutine = tries_when_granted<Op>;  // a thread cannot attempt

  explicit wait(operation<Op, Options>& awaited) noexcept : awaited_(awaited) {}
  wait(const wait&) = delete;
  wait& operator=(const wait&) = delete;
  ~wait() {
    if (state_ != state::suspended) {
      expect_no_pause();
      return;
    }
    [[maybe_unused]] const resumption<Op> over(awaited_.op_);
    room_.drop();
  }

  bool await_ready() noexcept {
    expect_no_lock_to_await(awaited_.options_.at);
    if (spend_budget<price_of<Op>>()) [[unlikely]] {
      if (can_pause()) {
        state_ = state::pausing;
        return false;
      }
    }
    return this->try_now(awaited_.op_);
  }

  bool await_suspend(std::coroutine_handle<> handle) noexcept {
    if (state_ == state::pausing) [[unlikely]] {
      awaiting_ = handle;
      if (pause_task(this, &wait::begin_paused)) return true;
    }
    return begin(handle);
  }

  wait_result_t<Op> await_resume() {
    if (state_ == state::possible) [[likely]]
      return awaited_.op_.take();
    if (state_ == state::pausing) return fail_wait(awaited_.op_, ended_);
    if constexpr (tries_when_granted<Op>) {
      if (state_ == state::over) return take_attempted();
    }
    [[maybe_unused]] const resumption<Op> over(awaited_.op_);
    if (state_ == state::without_room) throw_roomless();
    const wait_end cause = finish();
    if (cause != wait_end::granted && !granted_late(cause)) return fail_wait(awaited_.op_, cause);
    return awaited_.op_.take();
  }

  // For a child of a group. Called before await_ready().
  void set_gate(attempt_gate& gate) noexcept
    requires(tries_when_granted<Op>)
  {
    this->set_attempt_gate(gate);
  }

  // See leaves_result (core/awaitable.hpp).
  bool leave_result() noexcept
    requires(keeps_result<Op>)
  {
    if (state_ == state::possible) return true;
    if (state_ != state::suspended || !room_.wait().granted()) return false;
    [[maybe_unused]] const resumption<Op> over(awaited_.op_);
    static_cast<void>(finish());
    return true;
  }

 private:
  // possible: it has no room, or none any more. pausing: it lets others run first, or was ended. over: the attempt was
  // made.
  enum class state : std::uint8_t { possible, pausing, suspended, without_room, over };

  // While the coroutine is queued, its frame in the queue refers to this object.
  void expect_no_pause() const noexcept {
    debug_expects(state_ != state::pausing || ended_ != wait_end::none, "a coroutine was destroyed while it is queued",
                  "cancel or kill it and join it: only unstarted and finished coroutines may be destroyed");
  }

  // True: it waits, and another thread may have resumed the coroutine already.
  bool begin(std::coroutine_handle<> handle) noexcept {
    if constexpr (!tries_when_granted<Op>) {
      return begin_wait(handle);
    } else {
      fix_deadline();
      return this->begin_attempts(handle);
    }
  }

  bool begin_wait(std::coroutine_handle<> handle) noexcept {
    if (!room_.open(handle, awaited_.options_)) [[unlikely]]
      return lacks_room();
    state_ = state::suspended;
    if (!list_and_commit()) return false;
    refill_budget(this_thread());  // others run anyway
    return true;
  }

  bool list_and_commit() noexcept {
    suspension& suspended = room_.wait();
    waiter& entry = room_.entry();
    if constexpr (lists_last<Op>) {
      if (suspended.commit_first(entry, awaited_.op_.source())) [[likely]]
        return awaited_.op_.begin(suspended, entry) || suspended.not_listed();
    }
    awaited_.op_.begin(suspended, entry);
    return suspended.commit();
  }

  friend class attempt<wait, Op>;
  Op& op() noexcept { return awaited_.op_; }
  bool is_suspended() const noexcept { return state_ == state::suspended; }
  bool lacks_room() noexcept {
    state_ = state::without_room;
    return false;
  }
  wait_end finish_wait() noexcept { return room_.finish(); }
  void conclude(wait_end cause) noexcept {
    room_.end();
    state_ = state::over;
    ended_ = cause;
  }
  // Called before the wait begins again. Nothing was taken.
  void end_begun() noexcept { [[maybe_unused]] const resumption<Op> over(op()); }
  // A wait that begins again has the deadline of the first one.
  void fix_deadline() noexcept {
    if constexpr (!std::is_same_v<Options, no_options>) {
      wait_options& options = awaited_.options_;
      if (options.within == duration::max()) return;
      options.limit(
          deadline_on(*this_thread().binding.running_on, options.within, "an operation", location_of(options.at)));
      options.within = duration::max();
    }
  }
  wait_result_t<Op> take_attempted() {
    [[maybe_unused]] const resumption<Op> over(awaited_.op_);
    if (ended_ != wait_end::granted) return fail_wait(awaited_.op_, ended_);
    return awaited_.op_.take();
  }

  // Called after the pause, in the coroutine's context. Returns the coroutine to resume now, or null.
  static std::coroutine_handle<> begin_paused(void* paused) noexcept {
    auto& self = *static_cast<wait*>(paused);
    const std::coroutine_handle<> awaiting = self.awaiting_;
    const wait_options options(self.awaited_.options_);
    self.ended_ = ended_already(options.ignore, options.until);
    if (self.ended_ != wait_end::none) return awaiting;
    self.state_ = state::possible;
    return self.try_now(self.awaited_.op_) || !self.begin(awaiting) ? awaiting : nullptr;
  }

  bool granted_late([[maybe_unused]] wait_end cause) noexcept {
    if constexpr (keeps_late_grants<Op>)
      return (reports_kill<Op> || cause != wait_end::killed) && awaited_.op_.has_it();
    else return false;
  }

  wait_end finish() noexcept {
    const wait_end cause = room_.finish();
    room_.end();
    state_ = state::possible;
    return cause;
  }

  operation<Op, Options>& awaited_;
  state state_ = state::possible;
  wait_end ended_ = wait_end::none;  // while pausing
  union {
    Room room_;                         // suspended
    std::coroutine_handle<> awaiting_;  // pausing
  };
};

}  // namespace detail

}}  // namespace hocket
