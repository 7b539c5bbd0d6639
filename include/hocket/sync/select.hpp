// select: waits for the first of several operations.
//
//   auto got = co_await select(rx.receive(), stop.wait());   // result<choice<T, void>>
//   if (!got) return got.error();                            // the select was cancelled or timed out
//   if (got->index() == 0) use(*got->get<0>());              // what the first operation gave; in a fiber: await(...)
//
//   co_await within(50ms, select(a.lock(), b.lock()))          // a select is an operation like any other
//   auto now = try_select(rx.receive(), tx.send(1));           // never waits: false if none of them is possible
//
// Any operation may be one of them: locks and permits, both ends of a channel, events, a join, a sleep (sleep_for: what
// happens if nothing else does), a stop (stopped(), sync/stopped.hpp). Not those that cannot be given up for another
// wait: the join of a scope, the arrival at a barrier.
//
// Guarantees. Exactly one operation is carried out, or none if the select itself is cancelled, times out or is killed.
// The others leave nothing behind: no permit, item or place in a line is lost or taken. What was granted to a coroutine
// that is killed before it runs is still given to it: the kill unwinds it at its next wait.
//
// Fairness. If several are possible at once, chance says at which of them the search begins, which then goes through
// them in the order given, and round: of n operations each that is possible is chosen in one of n cases at least, so
// none is starved by the others, however often they are possible. (Not all with the same probability: of four whose
// first two are possible the second one is chosen in one of four cases.) A select that waits is granted by what comes
// first. select_in_order() begins with the first one, always: for a stop, or news that come before work. Where chance
// comes from, and how it is replayed: core/detail/chance.hpp.
//
// Two operations that send the same object are fatal if one of them moves it away when it begins to wait, as the send
// of a channel does with an rvalue, unless that is small and trivially copyable.
//
// Options of the operations hold for the select as a whole: the earliest deadline, the strongest shield.
//
// How. All operations share one suspension; each has a waiter of its own in its own primitive. First each is tried,
// then each gets in line, in the order given; one that has become possible meanwhile takes it, if the suspension says
// that no other was granted (take_now). Once the wait is decided, no more get in line. Whoever ends the wait takes the
// other waiters back: suspension.hpp and claim.hpp tell how that can race with grants.
#pragma once
#include <hocket/core/choice.hpp>
#include <hocket/core/detail/chance.hpp>
#include <hocket/core/detail/operation.hpp>
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

// Wrong arguments of a select. A program's own function of the same name is left alone.
template <class T>
inline constexpr bool is_like_operation = std::is_base_of_v<wait_source, std::remove_cvref_t<T>> || is_operation<T> ||
                                          is_task<std::remove_cvref_t<T>> || requires(T& handle) { handle.join(); };
template <class... Given>
concept meant_for_select = (std::is_class_v<std::remove_cvref_t<Given>> && ...) && (is_like_operation<Given> && ...) &&
                           !(is_operation<Given> && ...);

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
  static constexpr std::uint8_t price = (has_lock_again<Ops> || ...) ? 0 : 1;  // no pause that would hold the lock
  static_assert((is_interruptible<Ops> && ...), "hocket: a scope's join cannot be given up for another wait");
  static_assert(
      (!keeps_late_grants<Ops> && ...),
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
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (((I > 0 && wait.decided()) ? void() : void(arm<I>(arms_).begin(wait, entries_[I]))), ...);
    }(indices);
  }
  result<value_type> take() {
    if (entries_) chosen_ = waiter::granted_of(entries_);
    return take_from<0>();
  }
  void resumed() noexcept
    requires(wants_resumption<Ops> || ...)
  {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (tell(arm<I>(arms_)), ...); }(indices);
  }

 private:
  struct use {
    const void* of;
    bool moves;
  };
  template <class Op>
  static use used_by(const Op& op) noexcept {
    if constexpr (moves_an_object<Op>) return {op.moves_from(), true};
    else if constexpr (refers_to_an_object<Op>) return {op.refers_to(), false};
    else return {nullptr, false};
  }
  static void expect_apart(std::initializer_list<use> uses) noexcept {
    for (const use* one = uses.begin(); one != uses.end(); ++one)
      for (const use* other = uses.begin(); other != one; ++other)
        expects(!one->of || one->of != other->of || !(one->moves || other->moves),
                "a select was to send the same object by two of its operations",
                "the first of them would move it away, and the second send what is left: send copies, or two objects");
  }
  template <class Op>
  static void tell(Op& op) noexcept {
    if constexpr (wants_resumption<Op>) op.resumed();
  }

  // The arms are told apart by their index: by deduction, since the same type may occur twice.
  template <std::size_t I, class Op>
  static Op& arm(select_arm<I, Op>& of) noexcept {
    return of.op;
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

// The options of operations together.
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
  using select_operation = selecting<Search, First, Rest...>;
  return operation<select_operation, select_options>(std::in_place, options, std::move(first).unwrap(),
                                                     std::move(rest).unwrap()...);
}

}  // namespace detail

// Waits for the first of the operations: result<choice<T...>>, where T is what each gives. If several are possible at
// once, each of them has its chance.
template <primitive::wait_operation First, class FirstOptions, primitive::wait_operation... Rest, class... RestOptions>
[[nodiscard]] auto select(primitive::operation<First, FirstOptions> first,
                          primitive::operation<Rest, RestOptions>... rest) noexcept {
  return detail::select_by<detail::search::fair>(std::move(first), std::move(rest)...);
}

// Refuses handles, tasks and events among the operations, with a message.
template <class... Given>
  requires detail::meant_for_select<Given...>
auto select(Given&&...) noexcept {
  static_assert(
      sizeof...(Given) == 0,
      "hocket: select takes operations: h.join() for a join_handle, e.wait() for an event; spawn a task first");
  return detail::misused();
}

// The same; if several are possible at once, the one that was given first is chosen, always.
template <primitive::wait_operation First, class FirstOptions, primitive::wait_operation... Rest, class... RestOptions>
[[nodiscard]] auto select_in_order(primitive::operation<First, FirstOptions> first,
                                   primitive::operation<Rest, RestOptions>... rest) noexcept {
  return detail::select_by<detail::search::in_order>(std::move(first), std::move(rest)...);
}

template <class... Given>
  requires detail::meant_for_select<Given...>
auto select_in_order(Given&&...) noexcept {
  static_assert(sizeof...(Given) == 0,
                "hocket: select_in_order takes operations: h.join() for a join_handle, e.wait() for an event; spawn a "
                "task first");
  return detail::misused();
}

// Never suspends: carries one of the operations out that is possible at once, each of those with its chance. If none
// is, std::errc::resource_unavailable_try_again, and nothing has happened. (A channel that is closed is possible at
// once: the operation has failed.) From any code, in no coroutine, too. No clock and no stop of the context is looked
// at: options of the operations say nothing here, and a sleep is possible only if it is for no time.
template <primitive::wait_operation First, class FirstOptions, primitive::wait_operation... Rest, class... RestOptions>
[[nodiscard]] result<choice<typename First::value_type, typename Rest::value_type...>> try_select(
    primitive::operation<First, FirstOptions> first, primitive::operation<Rest, RestOptions>... rest) {
  detail::selecting<detail::search::fair, First, Rest...> all(std::move(first).unwrap(), std::move(rest).unwrap()...);
  if (!all.try_now()) return failure(std::errc::resource_unavailable_try_again);
  return all.take();
}

template <class... Given>
  requires detail::meant_for_select<Given...>
auto try_select(Given&&...) {
  static_assert(
      sizeof...(Given) == 0,
      "hocket: try_select takes operations: h.join() for a join_handle, e.wait() for an event; spawn a task first");
  return detail::misused();
}

}}  // namespace hocket
