// Properties of an operation (core/wait/seam/operation.hpp has the list).
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/base/seam/waited.hpp>
#include <hocket/core/wait/seam/suspension.hpp>
#include <hocket/core/wait/seam/wait_room.hpp>
#include <concepts>
#include <type_traits>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// The number of registrations of a wait: one, or the number of operations of a select.
template <class Op>
inline constexpr std::size_t waiters_of = 1;
template <class Op>
  requires requires { Op::waiters; }
inline constexpr std::size_t waiters_of<Op> = Op::waiters;

// Whether the wait may have a deadline, and be an arm of a select.
template <class Op>
inline constexpr bool is_interruptible = true;
template <class Op>
  requires requires { Op::uninterruptible; }
inline constexpr bool is_interruptible<Op> = false;

// The result type of an await.
template <class Op>
struct wait_result {
  using type = result<typename Op::value_type>;
};
template <class Op>
  requires(Op::may_be_ignored)
struct wait_result<Op> {
  using type = waited;
};
template <class Op>
using wait_result_t = typename wait_result<Op>::type;

template <class Op>
concept wants_resumption = requires(Op& op) { op.resumed(); };

// Whether the wait returns errc::killed, instead of unwinding.
template <class Op>
inline constexpr bool reports_kill = false;
template <class Op>
  requires requires { Op::reports_kill; }
inline constexpr bool reports_kill<Op> = Op::reports_kill;

// Op, as a wait that reports a kill.
template <class Op>
struct kill_reporting : Op {
  template <class From>
    requires std::constructible_from<Op, const From&>
  explicit(!std::convertible_to<const From&, Op>) kill_reporting(const From& op) noexcept : Op(op) {}
  static constexpr bool reports_kill = true;
  static constexpr bool may_be_ignored = false;
};

template <class Op>
concept keeps_result = requires { requires Op::keeps_result; };

template <class Op>
concept has_lock_again = requires { Op::relocks; };

// The price in the budget. A wait that relocks always suspends, and must not pause before, because the lock would be
// held meanwhile.
template <class Op>
inline constexpr std::uint8_t price_of = has_lock_again<Op> ? 0 : 1;
template <class Op>
  requires requires { Op::price; }
inline constexpr std::uint8_t price_of<Op> = Op::price;

template <class Op>
concept moves_an_object = requires(const Op& op) { op.moves_from(); };
template <class Op>
concept refers_to_an_object = requires(const Op& op) { op.refers_to(); };

// The operation links its only waiter under a lock, as its last step.
template <class Op>
concept lists_last = waiters_of<Op> == 1 && requires(Op& op, suspension& wait, waiter& entry) {
  { op.begin(wait, entry) } -> std::same_as<bool>;
  { op.source() } -> std::convertible_to<wait_source&>;
};

// The place of a task's wait. A wait that must not fail has its room in its awaiter.
template <class Op>
using room_in_task = std::conditional_t<waiters_of<Op> == 1 && is_interruptible<Op> && !has_lock_again<Op>, shared_room,
                                        own_room<waiters_of<Op>>>;

template <class Op>
concept wants_failure = requires(Op& op) { op.wait_failed(); };

template <class Op>
concept lists_addresses = requires(const Op& op) { op.list_of_addresses(); };

// The operation moves bytes by several system calls, so no select takes it.
template <class Op>
concept needs_several_calls = requires { requires Op::needs_several_calls; };

// The operation as an arm of a wait for several (select, when_any): another type, if it must take nothing before the
// wait is decided.
template <class Op>
struct arm_of {
  using type = Op;
};
template <class Op>
struct arm_of<kill_reporting<Op>> {
  using type = kill_reporting<typename arm_of<Op>::type>;
};
template <class Op>
using arm_of_t = typename arm_of<Op>::type;

template <class Op>
concept keeps_late_grants = requires(Op& op) { op.has_it(); };

// Calls resumed() at the end of the scope.
template <class Op>
struct resumption {
  explicit resumption(Op&) noexcept {}
};
template <wants_resumption Op>
struct resumption<Op> {
  explicit resumption(Op& operation) noexcept : op(operation) {}
  resumption(const resumption&) = delete;
  resumption& operator=(const resumption&) = delete;
  ~resumption() { op.resumed(); }
  Op& op;
};

}}}  // namespace hocket::detail
