// when_any: awaits several awaitables at the same time, and continues with the first that ends.
//
//   auto first = co_await when_any(ask(primary), ask(replica));    // choice<reply, reply>
//   if (first.index() == 0) use(*first.get<0>());                  // get<I>() is a result<T>
//
//   auto won = co_await when_any(std::move(mirrors));              // a range: first_of<T>
//   use(won.index, *won.value);                                    // .value is an outcome<T>
//
// Winner. The first child that ends counts, however it ends: in a pack, its exception is rethrown, and its error is in
// its result. For the first success, see docs/waits.md. If all children can end at once, the first argument wins.
//
// Losers.
//   - The other children are cancelled, and the group waits for them. No child outlives the group, so the children may
//     refer to the parent's variables.
//   - To let the losers continue, spawn them, and pass their join_handles as lvalues: only the waits for the handles
//     end. Each handle except the winner's can be awaited again: a loser that ends in the same turn as the winner keeps
//     its result (when_all.hpp lists the other results that stay).
//   - A child that has not begun when the first has ended never begins (when_all.hpp: Beginning). In when_any(wins(),
//     a(), b()) neither a nor b runs, if wins() ends without waiting.
//
// Errors. The exception of a loser is ignored. A foreign exception is logged (set_log_handler, base/fatal.hpp).
// `cancelled` is not, nor the time-out that or_throw makes of a deadline, because a loser throws these when it is
// stopped. A join_handle that loses keeps its result. If the group owns the handle, the handle ends with the group:
// then its exception goes to on_unhandled, as for every dropped handle.
//
// I/O. A child that is an operation of one system call (sync/select.hpp lists them) makes its call only if it wins:
// what a loser would have got stays where it is. A loser of several calls ends as by a cancel, and its count says how
// many bytes it has moved (io/stream.hpp).
//
// Do not. If two children are granted resources of primitives at the same time, then both are taken, and the loser's
// resource (a guard, a permit, an item of a channel) is destroyed with the loser, because each child waits for itself.
// Prevented by select (sync/select.hpp), for single operations (a lock or a time-out, one of two channels): it takes
// exactly one of the resources.
//
// Executors, contexts, deadlines, cost and threads: as when_all.
#pragma once
#include <hocket/core/choice.hpp>
#include <hocket/coro/detail/when_children.hpp>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// The result of the winner of a pack, as a choice.
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
    using child_result = typename Choice::template type<I>;
    return Choice(std::in_place_index<I>, as_result<child_result>(child.result()));
  }
  template <class Result, class T>
  static Result as_result(outcome<T>& ended) {
    if (std::exception_ptr exception = ended.exception()) std::rethrow_exception(std::move(exception));
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
    children.for_each([&](auto& child) {
      if (child.place() == 0) first = {index, std::move(child.result())};
      ++index;
    });
    return first;
  }
};

}  // namespace detail

// Gives the result of the first child that ends; see above.
template <class... A>
  requires detail::pack_of_awaitables<A...>
[[nodiscard]] auto when_any(A&&... awaitables) {
  return detail::when_awaitable<detail::any_choice, std::tuple<A...>>(1, detail::wait_options(),
                                                                      std::forward<A>(awaitables)...);
}

// For an empty range, completes at once with the index first_of<T>::none and without a value.
template <detail::range_of_awaitables R>
[[nodiscard]] auto when_any(R&& range, call_site site = this_call_site()) {
  return detail::when_awaitable<detail::any_first, R>(1, detail::wait_options(site), std::forward<R>(range));
}

// Rejects all other arguments, with a message.
template <class... Given>
  requires((detail::meant_for_group<Given> || ...) && !detail::pack_of_awaitables<Given...>)
auto when_any(Given&&...) noexcept {
  static_assert(
      sizeof...(Given) == 0,
      "hocket: a group takes awaitables: give it a task by std::move, and many in a container, not in a view");
  return detail::misused();
}

}}  // namespace hocket
