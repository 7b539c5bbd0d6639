// when_any: awaits several things at once, and goes on with the first that ends.
//
//   auto first = co_await when_any(ask(primary), ask(replica));    // choice<reply, reply>
//   if (first.index() == 0) use(*first.get<0>());                  // get<I>() is a result<T>
//
//   auto won = co_await when_any(std::move(mirrors));              // a range: first_of<T>
//   use(won.index, *won.value);                                    // .value is an outcome<T>
//
// The first that ends counts, however it ends: an exception that ends the first of a pack is rethrown, an error is in
// its result. To wait for successes see when_some.
//
// The others are cancelled, and waited for: nothing outlives the group, so that it may refer to the parent's variables.
// To have the losers go on, spawn them, and give their join_handles as lvalues: only the waits for those are given up.
// Each handle but the winner's can be awaited again: a loser that ends in the same turn as the winner keeps its result
// (when_all.hpp says what else stays where it is).
// What has not begun when the first has ended never begins (when_all.hpp tells when each begins): in when_any(wins(),
// a(), b()) neither a nor b runs, if wins() ends without waiting. Where all are possible at once, the one given first
// wins.
//
// An exception of a loser counts no more. One that is foreign is told by a notice (set_log_handler, base/fatal.hpp);
// `cancelled` is not, nor the time-out that or_throw makes of a deadline: a loser throws because it is stopped. A
// join_handle that loses keeps its result. If the group owns the handle, the handle ends with the group: then its
// exception goes to on_unhandled, as for every handle that is dropped.
//
// For primitives alone (a lock or a time-out, one of two channels) use select (sync/select.hpp): it takes exactly one
// of the resources. Here each child waits for itself: two that are granted at the same time are both taken, and what
// the loser took (a guard, a permit, an item of a channel) is destroyed with it.
//
// Executors, contexts, deadlines, cost and threads: as when_all.
#pragma once
#include <hocket/core/choice.hpp>
#include <hocket/coro/detail/when_children.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// What the winner of a pack gave, as a choice.
struct any_choice {
  using timed = any_choice;

  template <class... A>
  static auto take(when_pack<A...>& children, const when_frame*, std::size_t) {
    return winner<choice<typename when_child<A>::value...>, 0>(children);
  }

 private:
  template <class Choice, std::size_t I, class Children>
  static Choice winner(Children& children) {
    auto& child = children.template child<I>();
    if constexpr (I + 1 < Choice::size) {
      if (child.place() != 0) return winner<Choice, I + 1>(children);
    }
    using given = typename Choice::template type<I>;
    return Choice(std::in_place_index<I>, as_result<given>(child.result()));
  }
  template <class Result, class T>
  static Result as_result(outcome<T>& ended) {
    if (std::exception_ptr thrown = ended.exception()) std::rethrow_exception(std::move(thrown));
    if (!ended) return Result(failure(ended.error()));
    if constexpr (std::is_void_v<T>) return Result();
    else return Result(*std::move(ended));
  }
};

struct any_first {
  using timed = any_first;

  template <class Children>
  static auto take(Children& children, const when_frame*, std::size_t) {
    first_of<typename Children::common> first;
    std::size_t index = 0;
    children.each([&](auto& child) {
      if (child.place() == 0) first = {index, std::move(child.result())};
      ++index;
    });
    return first;
  }
};

}  // namespace detail

template <class... A>
  requires detail::pack_of_awaitables<A...>
[[nodiscard]] auto when_any(A&&... given) {
  return detail::when_awaitable<detail::any_choice, std::tuple<A...>>(1, detail::wait_options(),
                                                                      std::forward<A>(given)...);
}

// Of an empty range at once first_of<T>::none, with no value.
template <detail::range_of_awaitables R>
[[nodiscard]] auto when_any(R&& range, call_site at = this_call_site()) {
  return detail::when_awaitable<detail::any_first, R>(1, detail::wait_options(at), std::forward<R>(range));
}

// Refuses everything else, with a message.
template <class... Given>
  requires((detail::meant_for_group<Given> || ...) && !detail::pack_of_awaitables<Given...>)
auto when_any(Given&&...) noexcept {
  static_assert(
      sizeof...(Given) == 0,
      "hocket: a group takes awaitables: give it a task by std::move, and many in a container, not in a view");
  return detail::misused();
}

}}  // namespace hocket
