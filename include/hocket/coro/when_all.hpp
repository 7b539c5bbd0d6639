// when_all: awaits several things at once, and gives what all of them gave.
//
//   auto [user, quota] = co_await when_all(load_user(id), load_quota(id));       // tasks: a tuple
//   auto both = co_await within(200ms, when_all(rx.receive(), load_quota(id)));  // result<std::tuple<...>>
//   std::vector<page> pages = co_await when_all(std::move(downloads));           // a range of tasks
//   for (auto& o : co_await when_all_settled(std::move(downloads))) ...          // how each of them ended
//
// A fiber and a thread say await(when_all(...)). What may be given: tasks (moved in), operations, join_handles, foreign
// awaitables, other groups; or one range with size(), moved in, or referred to when it is an lvalue.
//
// The result. A tuple (a vector, for a range) in the order given. What gives nothing stands there as no_value; a range
// of such gives void, and one of references a vector of pointers. If any of them gives a result<T>, or the whole has a
// deadline, the whole is a result, of the tuple of the T: nothing nests.
//
// The first that fails, by an error or an exception, is the failure of the whole: the others are cancelled, and when
// all have ended it is returned or rethrown. A cancellation is an error where the whole is a result, else the exception
// `cancelled`. when_all_settled cancels nobody, and gives an outcome<T> for each.
//
// Beginning. An operation, a join, another group begins when the group is awaited. A task, and whatever else runs code
// of its own when it is awaited, begins when the executor comes to it, in the order given. A child that has not begun
// when the group is decided never does; it counts as cancelled. A group is decided when a child has failed, and when
// the parent is stopped (that of when_all_settled, too). So in when_all(fails(), a(), b()) neither a nor b runs, if
// fails() fails before it waits. On a loop, a thread and a runtime that is exact: all children of a group run on one
// thread. If several threads serve one executor of your own, a child may begin on one of them at the moment in which
// another one decides the group.
//
// Children. Tasks and what they await run on the parent's executor, beside each other, under the parent's context: what
// stops or kills the parent stops or unwinds them. within() gives them a deadline, which ends their waits. Nothing
// outlives the group: the parent goes on when all have ended, so it waits for a cancelled child that takes its time. A
// join_handle is only waited for: the coroutine behind it goes on when the wait is given up.
//
// A decided group takes nothing more that can stay where it is. The result of a join_handle, a shared_task or an
// eager_task that was given as an lvalue, the value of a oneshot, the item of a watch, a broadcast or a spsc_channel:
// if it comes when the group is decided, also in the same turn, it stays there for whoever awaits it next, and the
// child counts as cancelled. What came before that is lost with the group that fails: a handle whose result was taken
// so may not be awaited again. when_all_settled takes all.
//
// An eager_task has begun before: it is waited for, and not cancelled.
//
// For requests: children that wait, fail and are cancelled together. For computations use fork_join(): a child costs
// less than half as much there, and other workers take some of them. A when_all of thousands of plain computations uses
// one worker.
//
// Cost. Nothing is allocated per child: one context for the group, and one array for a range. A child takes what its
// awaiter takes and some 150 bytes. A task is posted once.
// Threads: the group belongs to the coroutine that awaits it; its children may run on any thread of the executor.
#pragma once
#include <hocket/coro/detail/when_children.hpp>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

// What stands in a tuple for something that gives nothing.
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

// What children of a group give all together: a pack a tuple, an array a vector.
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
      values taken;
      taken.reserve(children.size());
      children.each([&](auto& child) {
        if constexpr (refers) taken.push_back(std::addressof(*child.result()));
        else taken.push_back(*std::move(child.result()));
      });
      return taken;
    }
  }
  static outcomes take_outcomes(when_array<Range>& children) {
    outcomes taken;
    taken.reserve(children.size());
    children.each([&](auto& child) { taken.push_back(std::move(child.result())); });
    return taken;
  }
};

template <bool Timed>
struct all_values {
  using timed = all_values<true>;

  template <class Children>
  static auto take(Children& children, const when_frame* failed, std::size_t) {
    using values = typename gathered<Children>::values;
    using given = std::conditional_t<Timed || Children::gives_result, result<values>, values>;
    if (failed) {
      std::error_code error;
      children.each([&](auto& child) {
        if (child.is(failed)) error = why(child.result());
      });
      if constexpr (std::is_same_v<given, values>) throw_error(error);
      else return given(failure(error));
    }
    if constexpr (std::is_void_v<values>) return given();
    else return given(gathered<Children>::take_values(children));
  }

 private:
  // Throws what the child threw.
  template <class T>
  static std::error_code why(const outcome<T>& failed) {
    std::exception_ptr thrown = failed.exception();
    if (!thrown) return failed.error();
    if (Timed && is_time_out(thrown)) return std::make_error_code(std::errc::timed_out);
    std::rethrow_exception(std::move(thrown));
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

template <class... A>
  requires detail::pack_of_awaitables<A...>
[[nodiscard]] auto when_all(A&&... given) {
  return detail::when_awaitable<detail::all_values<false>, std::tuple<A...>>(
      detail::when_group::at_failure, detail::wait_options(), std::forward<A>(given)...);
}
template <detail::range_of_awaitables R>
[[nodiscard]] auto when_all(R&& range, call_site at = this_call_site()) {
  return detail::when_awaitable<detail::all_values<false>, R>(detail::when_group::at_failure, detail::wait_options(at),
                                                              std::forward<R>(range));
}

// How each ended; never throws what they threw, and never cancels them. Under within() the deadline is theirs.
template <class... A>
  requires detail::pack_of_awaitables<A...>
[[nodiscard]] auto when_all_settled(A&&... given) {
  return detail::when_awaitable<detail::all_outcomes, std::tuple<A...>>(
      detail::when_group::never, detail::wait_options(), std::forward<A>(given)...);
}
template <detail::range_of_awaitables R>
[[nodiscard]] auto when_all_settled(R&& range, call_site at = this_call_site()) {
  return detail::when_awaitable<detail::all_outcomes, R>(detail::when_group::never, detail::wait_options(at),
                                                         std::forward<R>(range));
}

// Refuses everything else, with a message.
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
