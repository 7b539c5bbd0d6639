// select: waits for the first of several operations.
//
//   auto got = co_await select(rx.receive(), stop.wait());   // result<choice<T, void>>
//   if (!got) return got.error();                            // the select was cancelled or timed out
//   if (got->index() == 0) use(*got->get<0>());              // what the first operation gave; in a fiber: await(...)
//
//   co_await within(50ms, select(a.lock(), b.lock()))          // a select is an operation like any other
//
// Guarantees. Exactly one operation is carried out, or none if the select itself is cancelled, times out or is killed.
// The others leave nothing behind: no permit, item or place in a line is lost or taken. If several are possible at
// once, the one that was given first is chosen, always; whoever wants fairness varies the order. What was granted to a
// coroutine that is killed before it runs is still given to it: the kill unwinds it at its next wait.
//
// Two operations that send the same object are fatal, unless it is a small trivially copyable one: each would move it
// away when it begins to wait.
//
// Terms of the operations hold for the select as a whole: the earliest deadline, the strongest shield.
//
// How. All operations share one suspension; each has a waiter of its own in its own primitive. First each is tried,
// then each gets in line, in the order given; one that has become possible meanwhile takes it, if the suspension says
// that no other was granted (take_now). Once the wait is decided, no more get in line. Whoever ends the wait takes the
// other waiters back: suspension.hpp and claim.hpp tell how that can race with grants.
#pragma once
#include <hocket/core/choice.hpp>
#include <hocket/core/operation.hpp>
#include <initializer_list>

namespace hocket::inline HOCKET_ABI {

namespace detail {

template <std::size_t I, class Op>
struct select_arm {
  Op op;
};
template <class Indices, class... Ops>
struct select_arms;
template <std::size_t... I, class... Ops>
struct select_arms<std::index_sequence<I...>, Ops...> : select_arm<I, Ops>... {};

template <wait_operation... Ops>
class selecting {
  static constexpr auto indices = std::index_sequence_for<Ops...>{};

 public:
  using value_type = choice<typename Ops::value_type...>;
  static constexpr std::size_t waiters = sizeof...(Ops);
  static_assert((is_interruptible<Ops> && ...), "hocket: a scope's join cannot be given up for another wait");
  static_assert(
      (!keeps_late_grants<Ops> && ...),
      "hocket: an arrival at a barrier cannot be given up for another wait: give it a deadline, or cancel it");
  static_assert((0 + ... + (has_lock_again<Ops> ? 1 : 0)) <= 1,
                "hocket: a select of two conditions: each would unlock the mutex, and wait for it again: use one");
  static_assert(((waiters_of<Ops> == 1) && ...), "hocket: a select in a select: name all operations in one");

  explicit selecting(Ops... ops) noexcept : arms_{{ops}...} {
    if constexpr ((0 + ... + (moves_an_object<Ops> ? 1 : 0)) > 1) expect_apart({moved_by(ops)...});
  }

  bool try_now() noexcept {
    return [&]<std::size_t... I>(std::index_sequence<I...>) { return (try_arm<I>() || ...); }(indices);
  }
  void begin(suspension& wait, waiter& entry) noexcept {
    wait_ = &wait;
    waiter* entries = &entry;
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      ((wait.decided() ? void() : arm<I>(arms_).begin(wait, entries[I])), ...);
    }(indices);
  }
  result<value_type> take() {
    if (wait_) chosen_ = wait_->granted_index();
    return take_from<0>();
  }
  void resumed() noexcept
    requires(wants_resumption<Ops> || ...)
  {
    [&]<std::size_t... I>(std::index_sequence<I...>) { (tell(arm<I>(arms_)), ...); }(indices);
  }

 private:
  template <class Op>
  static const void* moved_by(const Op& op) noexcept {
    if constexpr (moves_an_object<Op>) return op.moves_from();
    else return nullptr;
  }
  static void expect_apart(std::initializer_list<const void*> moved) noexcept {
    for (const void* const* one = moved.begin(); one != moved.end(); ++one)
      for (const void* const* other = moved.begin(); other != one; ++other)
        expects(!*one || *one != *other, "a select was to send the same object by two of its operations",
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
  suspension* wait_ = nullptr;  // null: no suspension was needed
  std::size_t chosen_ = 0;
};

inline wait_terms strictest(wait_terms terms, const wait_terms& other) noexcept {
  if (other.until < terms.until) terms.until = other.until;
  if (other.within < terms.within) terms.within = other.within;
  if (other.ignore > terms.ignore) terms.ignore = other.ignore;
  return terms;
}

}  // namespace detail

// Waits for the first of the operations: result<choice<T...>>, where T is what each gives.
template <wait_operation First, wait_operation... Rest>
[[nodiscard]] operation<detail::selecting<First, Rest...>> select(operation<First> first,
                                                                  operation<Rest>... rest) noexcept {
  wait_terms terms = first.terms();
  ((terms = detail::strictest(terms, rest.terms())), ...);
  using select_operation = detail::selecting<First, Rest...>;
  return operation<select_operation>(select_operation(std::move(first).unwrap(), std::move(rest).unwrap()...), terms);
}

}  // namespace hocket::inline HOCKET_ABI
