// when_all: awaits several awaitables at the same time, and returns the results of all.
//
//   auto [user, quota] = co_await when_all(load_user(id), load_quota(id));       // tasks: a tuple
//   auto both = co_await within(200ms, when_all(rx.receive(), load_quota(id)));  // result<std::tuple<...>>
//   std::vector<page> pages = co_await when_all(std::move(downloads));           // a range of tasks
//   for (auto& o : co_await when_all_settled(std::move(downloads))) ...          // how each of them ended
//
// A fiber and a thread: await(when_all(...)).
//
// Arguments. Tasks (moved in), operations, join_handles, foreign awaitables and other groups; or one range with size().
// A range is moved in; a range that is an lvalue is referred to.
//
// Result. A tuple in the order of the arguments; for a range, a vector. A child without a value gives no_value; a range
// of such children gives void, and a range of references a vector of pointers. If a child gives a result<T>, or the
// group has a deadline, the group gives a result of the tuple of the T: results do not nest.
//
// Errors. The first child that fails, by an error or an exception, is the failure of the group. The other children are
// cancelled. When all have ended, the error is returned or the exception rethrown. A cancellation is an error if the
// group gives a result, otherwise the exception `cancelled`. when_all_settled cancels no child, and gives an outcome<T>
// for each.
//
// Beginning.
//   - An operation, a join or another group begins when the group is awaited.
//   - A task, and any other awaitable that runs code of its own when it is awaited, begins when the executor reaches
//     it, in the order of the arguments.
//   - A group is decided when a child has failed or the parent is stopped; a when_all_settled, when the parent is
//     stopped. A child that has not begun by then never begins, and counts as cancelled. So in when_all(fails(), a(),
//     b()) neither a nor b runs, if fails() fails before it waits.
//   - On a loop, a thread and a runtime, this is exact, because all children of a group run on one thread. If several
//     threads serve a custom executor, a child may begin on one thread while another thread decides the group.
//
// Children. Tasks, and everything that they await, run concurrently on the parent's executor, under the parent's
// context: a stop or a kill of the parent stops or unwinds them. within() sets a deadline that ends their waits. No
// child outlives the group: the parent continues when all have ended, so it also waits for a slow cancelled child. A
// join_handle is only awaited: if that wait is cancelled, the coroutine of the handle continues. An eager_task began
// before the group: the group waits for it, and does not cancel it.
//
// Late results. A decided group takes no result that can stay at its source: the result of a join_handle, a shared_task
// or an eager_task that is an lvalue, the value of a oneshot, the item of a watch, a broadcast or a spsc_channel. If
// such a result arrives when the group is decided, even in the same turn, it stays there for the next await, and the
// child counts as cancelled. Earlier results are lost if the group fails: do not await a handle again if the group has
// taken its result. when_all_settled takes all results.
//
// Use. For requests: children that wait, fail and are cancelled together. For computations use fork_join(): a child
// costs less than half as much there, and other workers take some children. A when_all of thousands of plain
// computations uses one worker.
//
// Cost. No allocation per child: one context for the group, and one array for a range. A child takes the size of its
// awaiter and some 150 bytes. A task is posted once.
//
// Thread safety. The group belongs to the coroutine that awaits it. On a custom executor with several threads
// its children may run on any of them.
#pragma once
#include <hocket/coro/detail/when_children.hpp>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

// The element of a result tuple for a child without a value.
using no_value = detail::no_value;

namespace detail {

template <class T>
struct when_element {
  using type = T;
};
template <>
struct when_element<void> {
  using type = no_value;
};
template <class Child>
using when_element_t = typename when_element<typename Child::value>::type;

// The results of all children of a group: a tuple for a pack, a vector for an array.
template <class Children>
struct gathered;

template <class... A>
struct gathered<when_pack<A...>> {
  using values = std::tuple<when_element_t<when_child<A>>...>;
  using outcomes = std::tuple<outcome<typename when_child<A>::value>...>;

  static values take_values(when_pack<A...>& children) {
    return children.template gather<values>([](auto& child) -> decltype(auto) { return value_of(child); });
  }
  static outcomes take_outcomes(when_pack<A...>& children) {
    return children.template gather<outcomes>([](auto& child) -> decltype(auto) { return std::move(child.result()); });
  }

 private:
  template <class Child>
  static when_element_t<Child> value_of(Child& child) {
    if constexpr (std::is_void_v<typename Child::value>) return {};
    else return *std::move(child.result());
  }
};

template <class Range>
struct gathered<when_array<Range>> {
  using value = typename when_array<Range>::child::value;
  static constexpr bool refers = std::is_reference_v<value>;
  using element = std::conditional_t<refers, std::remove_reference_t<value>*, value>;
  using values = std::conditional_t<std::is_void_v<value>, std::type_identity<void>,
                                    std::type_identity<std::vector<element>>>::type;
  using outcomes = std::vector<outcome<value>>;

  static values take_values(when_array<Range>& children) {
    if constexpr (!std::is_void_v<value>) {
      values results;
      results.reserve(children.size());
      children.for_each([&](auto& child) {
        if constexpr (refers) results.push_back(std::addressof(*child.result()));
        else results.push_back(*std::move(child.result()));
      });
      return results;
    }
  }
  static outcomes take_outcomes(when_array<Range>& children) {
    outcomes results;
    results.reserve(children.size());
    children.for_each([&](auto& child) { results.push_back(std::move(child.result())); });
    return results;
  }
};

template <bool Timed>
struct all_values {
  using timed = all_values<true>;

  template <class Children>
  static auto take(Children& children, const when_frame* failed, std::size_t) {
    using values = typename gathered<Children>::values;
    using group_result = std::conditional_t<Timed || Children::yields_result, result<values>, values>;
    if (failed) {
      std::error_code error;
      children.for_each([&](auto& child) {
        if (child.is_frame(failed)) error = error_of(child.result());
      });
      if constexpr (std::is_same_v<group_result, values>) throw_error(error);
      else return group_result(failure(error));
    }
    if constexpr (std::is_void_v<values>) return group_result();
    else return group_result(gathered<Children>::take_values(children));
  }

 private:
  // The error of a failed child; rethrows its exception.
  template <class T>
  static std::error_code error_of(const outcome<T>& failed) {
    std::exception_ptr exception = failed.exception();
    if (!exception) return failed.error();
    if (Timed && is_time_out(exception)) return make_error_code(errc::deadline_exceeded);
    std::rethrow_exception(std::move(exception));
  }
};

struct all_outcomes {
  using timed = all_outcomes;

  template <class Children>
  static auto take(Children& children, const when_frame*, std::size_t) {
    return gathered<Children>::take_outcomes(children);
  }
};

}  // namespace detail

// Gives the results of all children; see above.
template <class... A>
  requires detail::pack_of_awaitables<A...>
[[nodiscard]] auto when_all(A&&... awaitables) {
  return detail::when_awaitable<detail::all_values<false>, std::tuple<A...>>(
      detail::when_group::at_failure, detail::wait_options(), std::forward<A>(awaitables)...);
}
template <detail::range_of_awaitables R>
[[nodiscard]] auto when_all(R&& range, call_site site = this_call_site()) {
  return detail::when_awaitable<detail::all_values<false>, R>(detail::when_group::at_failure,
                                                              detail::wait_options(site), std::forward<R>(range));
}

// Gives an outcome for each child. Never throws the exceptions of children, and never cancels a child. Under within(),
// the deadline applies to the waits of the children.
template <class... A>
  requires detail::pack_of_awaitables<A...>
[[nodiscard]] auto when_all_settled(A&&... awaitables) {
  return detail::when_awaitable<detail::all_outcomes, std::tuple<A...>>(
      detail::when_group::never, detail::wait_options(), std::forward<A>(awaitables)...);
}
template <detail::range_of_awaitables R>
[[nodiscard]] auto when_all_settled(R&& range, call_site site = this_call_site()) {
  return detail::when_awaitable<detail::all_outcomes, R>(detail::when_group::never, detail::wait_options(site),
                                                         std::forward<R>(range));
}

// Rejects all other arguments, with a message.
template <class... Given>
  requires((detail::meant_for_group<Given> || ...) && !detail::pack_of_awaitables<Given...>)
auto when_all(Given&&...) noexcept {
  static_assert(
      sizeof...(Given) == 0,
      "hocket: a group takes awaitables: give it a task by std::move, and many in a container, not in a view");
  return detail::misused();
}
template <class... Given>
  requires((detail::meant_for_group<Given> || ...) && !detail::pack_of_awaitables<Given...>)
auto when_all_settled(Given&&...) noexcept {
  static_assert(
      sizeof...(Given) == 0,
      "hocket: a group takes awaitables: give it a task by std::move, and many in a container, not in a view");
  return detail::misused();
}

}}  // namespace hocket
