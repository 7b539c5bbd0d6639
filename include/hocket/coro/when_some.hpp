// when_some: awaits several awaitables at the same time, and continues with the first k that end.
//
//   for (auto& reply : co_await when_some(2, std::move(replicas)))   // at most two first_of<T>, in the order of ending
//     if (reply.value) ++acknowledged;
//
// A child counts however it ends: code that needs k successes checks the results, and awaits the others again. The
// number of results is the smaller of k and the number of children. If k is 0, no child begins. The rest is as in
// when_any: the other children are cancelled, and the group waits for them.
#pragma once
#include <hocket/coro/detail/when_children.hpp>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {

// Keeps `enough` below the special values of when_group. A larger number means all children.
constexpr std::size_t at_most_all(std::size_t enough) noexcept {
  return enough < when_group::at_failure ? enough : when_group::at_failure - 1;
}

// The first children, in the order of ending.
struct some_firsts {
  using timed = some_firsts;

  template <class Children>
  static auto take(Children& children, const when_frame*, std::size_t enough) {
    std::vector<first_of<typename Children::common>> firsts(enough < children.size() ? enough : children.size());
    std::size_t index = 0;
    children.for_each([&](auto& child) {
      if (child.place() < firsts.size()) firsts[child.place()] = {index, std::move(child.result())};
      ++index;
    });
    return firsts;
  }
};

}  // namespace detail

// Gives the first `enough` children that end, or all if there are fewer. All children of a pack give the same type.
template <class... A>
  requires detail::pack_of_awaitables<A...>
[[nodiscard]] auto when_some(std::size_t enough, A&&... awaitables) {
  return detail::when_awaitable<detail::some_firsts, std::tuple<A...>>(
      detail::at_most_all(enough), detail::wait_options(), std::forward<A>(awaitables)...);
}
template <detail::range_of_awaitables R>
[[nodiscard]] auto when_some(std::size_t enough, R&& range, call_site site = this_call_site()) {
  return detail::when_awaitable<detail::some_firsts, R>(detail::at_most_all(enough), detail::wait_options(site),
                                                        std::forward<R>(range));
}

// Rejects all other arguments, with a message.
template <class... Given>
  requires((detail::meant_for_group<Given> || ...) && !detail::pack_of_awaitables<Given...>)
auto when_some(std::size_t, Given&&...) noexcept {
  static_assert(
      sizeof...(Given) == 0,
      "hocket: a group takes awaitables: give it a task by std::move, and many in a container, not in a view");
  return detail::misused();
}

}}  // namespace hocket
