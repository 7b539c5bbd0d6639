// select: waits for the first of several operations.
//
//   auto first = co_await select(rx.receive(), stop.wait());   // result<choice<T, void>>
//   if (!first) return first.error();                          // the select was cancelled or timed out
//   if (first->index() == 0) use(*first->get<0>());            // the result of operation 0; in a fiber: await(...)
//
//   co_await within(50ms, select(a.lock(), b.lock()))          // a select is an operation like any other
//   auto now = try_select(rx.receive(), tx.send(1));           // never waits: false if no operation is possible
//
// Operations. A select takes any operation: locks and permits, both ends of a channel, events, joins, sleeps
// (sleep_for: the branch that is taken if no other is), stops (stopped(), sync/stopped.hpp), and I/O of one system
// call: accept, read_some, read_borrowed, read_idle, write_some, peek, receive, send, their batches,
// event_counter::take(), signal_set::next(), process::wait(), readable, writable, closed, drain_requested, poll_fd; and
// the messages of a buffered_reader. It refuses what cannot be abandoned for another wait: the join of a scope, the
// arrival at a barrier, and I/O of several calls or on a thread (write_all, read_exactly of a stream, read_all,
// send_file, connect, files): spawn that, and select its join().
//
// Guarantees.
//   - Exactly one operation completes, or none if the select itself is cancelled, times out or is killed.
//   - The other operations leave no trace: no permit, item or place in a queue is lost or taken. I/O that loses makes
//     no call: connections, bytes, signals and exit codes stay for the next wait.
//   - If a coroutine is granted an operation and is killed before it runs, it still gets the result. The kill unwinds
//     it at its next wait.
//
// Fairness. If several operations are possible at once, select() begins at a random operation and searches in the order
// given, cyclically. So each possible operation of n is chosen in at least one of n cases, and none starves, however
// often the others are possible. The probabilities may differ: if the first two of four are possible, the second is
// chosen in one of four cases. A select that waits is granted by the first event. select_in_order() always begins at
// the first operation: for a stop, or for news that take priority over work. sync/detail/chance.hpp describes
// the source of chance, and its replay.
//
// Do not. Send one object by two operations of a select, if one of them moves the object when its wait begins: fatal.
// A channel's send of an rvalue moves it then, unless the object is small and trivially copyable.
//
// Options of the operations apply to the whole select: the earliest deadline, the strongest shield.
//
// Implementation. All operations share one suspension. Each has its own waiter in its own primitive. The select tries
// all operations, and then links their waiters in the order given. If an operation has become possible meanwhile, it
// takes its resource instead, provided that the suspension has not granted another operation (take_now). After the wait
// is decided, no more waiters are linked. The party that ends the wait unlinks the other waiters: suspension.hpp and
// claim.hpp describe the races of this with grants. An arm of I/O is granted before its call, and makes it before the
// coroutine is resumed; if there was nothing, the select waits on (core/wait/detail/attempt.hpp): then all its
// operations begin again, each at the end of its queue.
#pragma once
#include <hocket/core/choice.hpp>
#include <hocket/primitive.hpp>
#include <hocket/sync/detail/chance.hpp>
#include <initializer_list>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

template <class T>
inline constexpr bool is_operation = false;
template <class T>
  requires std::is_reference_v<T>
inline constexpr bool is_operation<T> = is_operation<std::remove_cvref_t<T>>;
template <class Op, class Options>
inline constexpr bool is_operation<operation<Op, Options>> = true;

// Matches wrong arguments of a select, but not the arguments of a program's own function of the same name.
template <class T>
inline constexpr bool is_like_operation = std::is_base_of_v<wait_source, std::remove_cvref_t<T>> || is_operation<T> ||
                                          is_task<std::remove_cvref_t<T>> || requires(T& handle) { handle.join(); };
template <class... Args>
concept meant_for_select = (std::is_class_v<std::remove_cvref_t<Args>> && ...) && (is_like_operation<Args> && ...) &&
                           !(is_operation<Args> && ...);

template <std::size_t I, class Op>
struct select_arm {
  Op op;
};
template <class Indices, class... Ops>
struct select_arms;
template <std::size_t... I, class... Ops>
struct select_arms<std::index_sequence<I...>, Ops...> : select_arm<I, Ops>... {};

enum class search { fair, in_order };

template <search Search, wait_operation... Ops>
class selecting {
  static constexpr auto indices = std::index_sequence_for<Ops...>{};

 public:
  using value_type = choice<typename Ops::value_type...>;
  static constexpr std::size_t waiters = sizeof...(Ops);
  static constexpr bool keeps_result = (detail::keeps_result<Ops> && ...);
  static constexpr bool reports_kill = (detail::reports_kill<Ops> || ...);
  static constexpr std::uint8_t price = [] {
    if ((has_lock_again<Ops> || ...)) return std::uint8_t{0};  // no pause that would hold the lock
    std::uint8_t highest = 1;
    ((highest = price_of<Ops> > highest ? price_of<Ops> : highest), ...);
    return highest;
  }();
  static_assert((is_interruptible<Ops> && ...), "hocket: a scope's join cannot be given up for another wait");
  static_assert((!needs_several_calls<Ops> && ...),
                "hocket: an operation of several system calls (write_all, read_exactly, read_all, send_file, connect) "
                "cannot be given up for another wait in its middle: spawn it and select its join(), or await it alone "
                "with a deadline");
  static_assert(
      ((!keeps_late_grants<Ops> || needs_several_calls<Ops>) && ...),
      "hocket: an arrival at a barrier cannot be given up for another wait: give it a deadline, or cancel it");
  static_assert((0 + ... + (has_lock_again<Ops> ? 1 : 0)) <= 1,
                "hocket: a select of two conditions: each would unlock the mutex, and wait for it again: use one");
  static_assert(((waiters_of<Ops> == 1) && ...), "hocket: a select in a select: name all operations in one");

  explicit selecting(const Ops&... ops) noexcept : arms_{{ops}...} {
    if constexpr ((moves_an_object<Ops> || ...) && sizeof...(Ops) > 1) expect_apart({used_by(ops)...});
  }

  bool try_now() noexcept {
    if constexpr (Search == search::in_order || waiters == 1) return try_from(0);
    const std::size_t first = chance_below(waiters);
    return try_from(first) || try_before(first);
  }
  void begin(suspension& wait, waiter& entry) noexcept {
    entries_ = &entry;
    if constexpr ((tries_when_granted<Ops> || ...)) fix_ends(wait);
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (((I > 0 && wait.decided()) ? void() : void(arm<I>(arms_).begin(wait, entries_[I]))), ...);
    }(indices);
  }
  // If an arm only tries when it is granted.
  bool try_granted() noexcept
    requires(tries_when_granted<Ops> || ...)
  {
    chosen_ = waiter::granted_of(std::exchange(entries_, nullptr));
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return ((I == chosen_ && try_granted_arm(arm<I>(arms_))) || ...);
    }(indices);
  }
  void wait_failed() noexcept
    requires(wants_failure<Ops> || ...)
  {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (fail_arm(arm<I>(arms_)), ...); }(indices);
  }
  // Of all arms: core/wait/seam/operation.hpp.
  static constexpr std::size_t address_lists = (0 + ... + (lists_addresses<Ops> ? 1 : 0));
  template <class Visit>
  void visit_address_lists(Visit&& visit) const noexcept {
    const auto visit_one = [&]<class Op>(const Op& op) {
      if constexpr (lists_addresses<Op>) visit(op.list_of_addresses());
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) { (visit_one(arm<I>(arms_)), ...); }(indices);
  }
  result<value_type> take() {
    if (entries_) chosen_ = waiter::granted_of(entries_);
    return take_from<0>();
  }
  void resumed() noexcept
    requires(wants_resumption<Ops> || ...)
  {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (end_wait(arm<I>(arms_)), ...); }(indices);
  }

 private:
  struct use {
    const void* object;
    bool moves;
  };
  template <class Op>
  static use used_by(const Op& op) noexcept {
    if constexpr (moves_an_object<Op>) return {op.moves_from(), true};
    else if constexpr (refers_to_an_object<Op>) return {op.refers_to(), false};
    else return {nullptr, false};
  }
  static void expect_apart(std::initializer_list<use> uses) noexcept {
    for (const use* current = uses.begin(); current != uses.end(); ++current)
      for (const use* previous = uses.begin(); previous != current; ++previous)
        expects(!current->object || current->object != previous->object || !(current->moves || previous->moves),
                "a select was to send the same object by two of its operations",
                "the first of them would move it away, and the second send what is left: send copies, or two objects");
  }
  template <class Op>
  static void end_wait(Op& op) noexcept {
    if constexpr (wants_resumption<Op>) op.resumed();
  }

  // The wait may begin again, and a sleep ends when it would have ended at first.
  void fix_ends(suspension& wait) noexcept {
    const auto fix_end = [&]<class Op>(Op& op) {
      if constexpr (requires { op.fix_end(wait); }) op.fix_end(wait);
    };
    [&]<std::size_t... I>(std::index_sequence<I...>) { (fix_end(arm<I>(arms_)), ...); }(indices);
  }
  template <class Op>
  static bool try_granted_arm(Op& op) noexcept {
    if constexpr (tries_when_granted<Op>) return op.try_granted();
    else return true;
  }
  template <class Op>
  static void fail_arm(Op& op) noexcept {
    if constexpr (wants_failure<Op>) op.wait_failed();
  }

  // The arm with index I. Deduction finds its type, because a type may occur twice.
  template <std::size_t I, class Op>
  static Op& arm(select_arm<I, Op>& base) noexcept {
    return base.op;
  }
  template <std::size_t I, class Op>
  static const Op& arm(const select_arm<I, Op>& base) noexcept {
    return base.op;
  }
  bool try_from(std::size_t first) noexcept {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return ((I >= first && try_arm<I>()) || ...); }(indices);
  }
  bool try_before(std::size_t end) noexcept {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return ((I < end && try_arm<I>()) || ...); }(indices);
  }
  template <std::size_t I>
  bool try_arm() noexcept {
    if (!arm<I>(arms_).try_now()) return false;
    chosen_ = I;
    return true;
  }
  template <std::size_t I>
  result<value_type> take_from() {
    if constexpr (I + 1 < sizeof...(Ops)) {
      if (chosen_ != I) return take_from<I + 1>();
    }
    return result<value_type>(std::in_place, std::in_place_index<I>, arm<I>(arms_).take());
  }

  select_arms<std::index_sequence_for<Ops...>, Ops...> arms_;
  waiter* entries_ = nullptr;  // null: no suspension was needed
  std::size_t chosen_ = 0;
};

// The options of two operations, combined.
inline no_options strictest(const no_options& first, const no_options&) noexcept { return first; }
inline wait_options strictest(wait_options options, const wait_options& other) noexcept {
  return options.limit(other.until).limit(other.within).shield(other.ignore);
}

template <class... Options>
using options_together =
    std::conditional_t<std::conjunction_v<std::is_same<Options, no_options>...>, no_options, wait_options>;

template <search Search, class First, class... Rest, class FirstOptions, class... RestOptions>
auto select_by(operation<First, FirstOptions>&& first, operation<Rest, RestOptions>&&... rest) noexcept {
  using select_options = options_together<FirstOptions, RestOptions...>;
  select_options options = first.options();
  ((options = strictest(options, rest.options())), ...);
  using select_operation = selecting<Search, arm_of_t<First>, arm_of_t<Rest>...>;
  return operation<select_operation, select_options>(std::in_place, options, std::move(first).unwrap(),
                                                     std::move(rest).unwrap()...);
}

}  // namespace detail

// Waits for the first of the operations: result<choice<T...>>, where T is the value type of each. If several are
// possible at once, one is chosen at random.
template <primitive::wait_operation First, class FirstOptions, primitive::wait_operation... Rest, class... RestOptions>
[[nodiscard]] auto select(primitive::operation<First, FirstOptions> first,
                          primitive::operation<Rest, RestOptions>... rest) noexcept {
  return detail::select_by<detail::search::fair>(std::move(first), std::move(rest)...);
}

// Refuses handles, tasks and events among the operations, with a message.
template <class... Args>
  requires detail::meant_for_select<Args...>
auto select(Args&&...) noexcept {
  static_assert(
      sizeof...(Args) == 0,
      "hocket: select takes operations: h.join() for a join_handle, e.wait() for an event; spawn a task first");
  return detail::misused();
}

// Waits like select(). If several operations are possible at once, the first in the order given is chosen, always.
template <primitive::wait_operation First, class FirstOptions, primitive::wait_operation... Rest, class... RestOptions>
[[nodiscard]] auto select_in_order(primitive::operation<First, FirstOptions> first,
                                   primitive::operation<Rest, RestOptions>... rest) noexcept {
  return detail::select_by<detail::search::in_order>(std::move(first), std::move(rest)...);
}

template <class... Args>
  requires detail::meant_for_select<Args...>
auto select_in_order(Args&&...) noexcept {
  static_assert(sizeof...(Args) == 0,
                "hocket: select_in_order takes operations: h.join() for a join_handle, e.wait() for an event; spawn a "
                "task first");
  return detail::misused();
}

// Never suspends. Completes one operation that is possible at once, chosen at random. If none is possible, nothing
// happens: std::errc::resource_unavailable_try_again. An operation of a closed channel is possible: it fails. Any code
// may call try_select(), also outside of coroutines. try_select() reads no clock and no stop of the context, and
// ignores the options of the operations. A sleep is possible only if it is for no time.
template <primitive::wait_operation First, class FirstOptions, primitive::wait_operation... Rest, class... RestOptions>
[[nodiscard]] result<choice<typename First::value_type, typename Rest::value_type...>> try_select(
    primitive::operation<First, FirstOptions> first, primitive::operation<Rest, RestOptions>... rest) {
  detail::selecting<detail::search::fair, detail::arm_of_t<First>, detail::arm_of_t<Rest>...> all(
      std::move(first).unwrap(), std::move(rest).unwrap()...);
  if (!all.try_now()) return failure(std::errc::resource_unavailable_try_again);
  return all.take();
}

template <class... Args>
  requires detail::meant_for_select<Args...>
auto try_select(Args&&...) {
  static_assert(
      sizeof...(Args) == 0,
      "hocket: try_select takes operations: h.join() for a join_handle, e.wait() for an event; spawn a task first");
  return detail::misused();
}

}}  // namespace hocket
