// fork_join, fork_each, parallel_for: run tasks on several workers at once. For computations.
//
//   task<long> fib(int n) {
//     if (n < 2) co_return n;
//     auto [a, b] = co_await fork_join(fib(n - 1), fib(n - 2));
//     co_return a + b;
//   }
//   auto [a, b] = co_await fork_join([&] { return left(n); }, [&] { return right(n); });  // each made in its turn
//   std::vector<int> all = co_await fork_join(std::move(tasks));                          // a vector of tasks
//   std::vector<int> sums = co_await fork_each(count, [&](std::size_t i) { return sum_of(parts[i]); });
//   co_await fork_each(10, child, sums);                                                  // into an array of ten
//   co_await parallel_for(std::size_t{0}, pixels.size(), [&](std::size_t i) { shade(pixels[i]); });
//
// The first child runs at once. An idle worker takes the others. If no worker took them when the first has ended, then
// the same worker runs them, at hardly more than the cost of plain calls. So children must protect what they share (the
// children of a when_all run on one worker at a time, children of a fork_join do not). On a loop and on a plain thread
// they run one after the other.
//
// The result: a tuple in the order given, no_value for void; a vector, for a vector of tasks and for fork_each; void,
// for one of task<void>. An exception ends what has not begun yet. It is rethrown when the other children have ended
// (of several the first in the order given). Other children are not cancelled: a computation that shall stop asks. A
// cancellation or a kill of the parent reaches the waits of the children.
//
// The tasks may wait, too: then their worker goes on with the rest. In a task of a runtime the code behind the co_await
// runs on the worker on which the last child ended. A fiber goes on where it was, and so does a child of a when_all.
//
// A child of fork_each, or of a callable, is made by the worker that runs it, just before. If children do not wait,
// then at most one frame of a group lives for each worker. Prefer them: the frame's memory is still in the cache, and
// no vector is needed. The callables are kept in the coroutine. After a failure the elements of a span are left as they
// are, but for trivially copyable ones, of which some may have been written.
//
// Cost. Per child a push and a pop of a deque without an atomic read-modify-write, and no allocation but the child's
// own frame. The outermost fork_join of a coroutine allocates a context. A vector of tasks, and fork_each without a
// span, allocate the vector of results; fork_each into a span does so where the elements are not trivially copyable.
// Threads: may be awaited anywhere. Complexity: with W the work of all, and D the longest chain of it, about W / P + D
// on P workers (Blumofe and Leiserson, "Scheduling multithreaded computations by work stealing", 1999).
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/coro/detail/fork_pack.hpp>
#include <hocket/coro/detail/fork_row.hpp>
#include <hocket/coro/detail/range_walk.hpp>
#include <concepts>
#include <span>
#include <utility>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI {

// What stands in a tuple for a task that gives nothing.
using no_value = detail::no_value;

namespace detail {

// Walks a part of a range, and forks its upper half when an idle worker looks for work.
template <class Index, class F>
task<> walk_range(range_walk<Index, F>& all, Index first, Index last) {
  using pause = typename range_walk<Index, F>::pause;
  for (;;) {
    const auto [at, why] = all.go_on(first, last);
    if (why == pause::over) co_return;
    first = at;
    if (why == pause::wanted) break;
    co_await let_others_run();
  }
  const Index middle = range_middle(first, last);
  co_await fork_pack(walk_range(all, first, middle), walk_range(all, middle, last));
}

// For a body that returns a task: halves the range down to parts of at most `grain` indices.
template <class Index, class F>
task<> fork_range(Index first, Index last, Index grain, F& body) {
  if (range_size(first, last) > range_size(Index{0}, grain)) {
    const Index middle = range_middle(first, last);
    co_await fork_pack(fork_range(first, middle, grain, body), fork_range(middle, last, grain, body));
    co_return;
  }
  for (Index i = first; i != last; ++i) co_await body(i);
}

}  // namespace detail

// Tasks, or callables that return one, at least one; each is moved in. A callable is called when its turn has come, by
// the worker that begins its child. If the callable throws, then its child has failed.
template <class... Sources>
  requires(sizeof...(Sources) > 0 && (detail::forkable<Sources> && ...))
[[nodiscard]] detail::fork_pack<Sources...> fork_join(Sources... children) {
  return detail::fork_pack<Sources...>(std::move(children)...);
}
// Gives a vector of the results (of pointers, for references); nothing for task<void>. Of none: at once.
template <class T>
[[nodiscard]] detail::fork_vector<T> fork_join(std::vector<task<T>> children) {
  return detail::fork_vector<T>(std::move(children));
}

// The tasks f(0) ... f(count - 1), each made when its turn has come: f is called in this order, by one worker at a
// time, while earlier children may still run on others. Gives a vector of the results, as fork_join() does; with `to`,
// which has `count` elements or more, nothing: result number i is to[i]. If f throws, then a child has failed, and the
// children that have not begun are dropped. f is kept in the coroutine.
template <class F>
  requires detail::is_task<std::invoke_result_t<F&, std::size_t>>
[[nodiscard]] auto fork_each(std::size_t count, F f) {
  using results = detail::fork_results<typename std::invoke_result_t<F&, std::size_t>::value_type>;
  return detail::fork_calls<F, results>(std::move(f), count);
}
template <class F, class T = typename std::invoke_result_t<F&, std::size_t>::value_type>
  requires std::is_object_v<T>
[[nodiscard]] auto fork_each(std::size_t count, F f, std::span<std::type_identity_t<T>> to) {
  detail::expects(count <= to.size(), "fork_each() has more children than its span has elements",
                  "give it a span of `count` elements");
  return detail::fork_calls<F, detail::fork_results_to<T>>(std::move(f), count, to);
}

// body(i) for each index from `first` up to but not `last`, in any order, on several workers. It may return a
// task<void>, which is awaited. `grain`: so many indices in a row run on one worker without a look around; choose a
// number that takes some microseconds. The body is kept in the coroutine; what it refers to must outlive the
// await.
//
// A worker walks its part of the range, and gives half of the rest to an idle worker. Without idle workers the loop
// costs as much as a plain loop, and one look around for each `grain`. After 256 pieces of `grain` the worker's other
// coroutines run. An exception stops the other workers before their next piece.
//
// A body that returns a task is always forked in parts of `grain`.
template <std::integral Index, class F>
  requires std::invocable<F&, Index>
task<> parallel_for(Index first, Index last, F body, Index grain = 64) {
  if (first >= last) co_return;
  if (grain < 1) grain = 1;
  if constexpr (detail::is_task<std::invoke_result_t<F&, Index>>) {
    auto whole = detail::fork_range(first, last, grain, body);
    co_await std::move(whole);
  } else {
    detail::range_walk<Index, F> all(body, grain);
    auto whole = detail::walk_range(all, first, last);
    co_await std::move(whole);
  }
}

}}  // namespace hocket
