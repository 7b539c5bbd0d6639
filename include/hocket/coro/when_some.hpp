// when_some: awaits several things at once, and goes on with the first k that end.
//
//   for (auto& one : co_await when_some(2, std::move(replicas)))   // at most two first_of<T>, in the order of ending
//     if (one.value) ++acknowledged;
//
// However they end: whoever needs k successes looks at what came, and asks the others again. Their number is the lesser
// of k and how many were given; for 0 nothing begins. All else is as in when_any: the others are cancelled and waited
// for.
#pragma once
#include <hocket/coro/detail/when_children.hpp>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// More than there can be is as many as there are.
constexpr std::size_t at_most_all(std::size_t enough) noexcept {
  return enough < when_group::at_failure ? enough : when_group::at_failure - 1;
}

// The first ones, in the order of ending.
struct some_firsts {
  using timed = some_firsts;

  template <class Children>
  static auto take(Children& children, const when_frame*, std::size_t enough) {
    std::vector<first_of<typename Children::common>> firsts(enough < children.size() ? enough : children.size());
    std::size_t index = 0;
    children.each([&](auto& child) {
      if (child.place() < firsts.size()) firsts[child.place()] = {index, std::move(child.result())};
      ++index;
    });
    return firsts;
  }
};

}  // namespace detail

// The first `enough` of them; all, if there are no more. Those of a pack give the same type.
template <class... A>
  requires detail::pack_of_awaitables<A...>
[[nodiscard]] auto when_some(std::size_t enough, A&&... given) {
  return detail::when_awaitable<detail::some_firsts, std::tuple<A...>>(
      detail::at_most_all(enough), detail::wait_options(), std::forward<A>(given)...);
}
template <detail::range_of_awaitables R>
[[nodiscard]] auto when_some(std::size_t enough, R&& range, call_site at = this_call_site()) {
  return detail::when_awaitable<detail::some_firsts, R>(detail::at_most_all(enough), detail::wait_options(at),
                                                        std::forward<R>(range));
}

// Refuses everything else, with a message.
template <class... Given>
  requires((detail::meant_for_group<Given> || ...) && !detail::pack_of_awaitables<Given...>)
auto when_some(std::size_t, Given&&...) noexcept {
  static_assert(
      sizeof...(Given) == 0,
      "hocket: a group takes awaitables: give it a task by std::move, and many in a container, not in a view");
  return detail::misused();
}

}}  // namespace hocket
