// fork_join, fork_each, parallel_for: run the tasks of a computation on several workers at the same time.
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
// Execution.
//   - The first child runs at once. An idle worker takes the others. If no worker has taken them when the first child
//     ends, the same worker runs them, at hardly more than the cost of plain calls.
//   - On a loop and on a plain thread, the children run one after the other.
//   - A child may wait. Then its worker continues with the rest.
//   - In a task of a runtime, the code after the co_await runs on the worker on which the last child ended. A fiber
//     continues where it was, and so does a child of a when_all.
//
// Do not. If children share unprotected data, then they race, because they run in parallel (the children of a when_all
// run on one worker at a time). Prevented by a lock or an atomic.
//
// Result. A tuple in the order of the arguments, with no_value for void; for a vector of tasks and for fork_each, a
// vector, or void if they are task<void>.
//
// Errors. After an exception, children that have not begun never begin. The exception (of several, the first in the
// order of the arguments) is rethrown when the other children have ended. They are not cancelled: a computation that
// must stop checks for that itself. After a failure, the elements of a span are unchanged, except that some trivially
// copyable elements may have been written.
//
// Cancellation. A cancellation or a kill of the parent reaches the waits of the children.
//
// Callables. The worker that runs a child of fork_each, or of a callable, makes the child just before. If children do
// not wait, at most one frame of a group exists for each worker. Prefer callables: the memory of the frame is still in
// the cache, and no vector is needed. The callables are stored in the coroutine.
//
// Cost. For each child, one push and one pop of a deque without an atomic read-modify-write, and no allocation except
// the child's own frame. The outermost fork_join of a coroutine allocates a context. A vector of tasks, and fork_each
// without a span, allocate the vector of results. fork_each into a span does so if its elements are not trivially
// copyable.
//
// Thread safety. Any code may await them, on any thread.
//
// Complexity. With the work W of all children, and its longest chain D, about W / P + D on P workers (Blumofe and
// Leiserson, "Scheduling multithreaded computations by work stealing", 1999).
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

// The element of a result tuple for a task without a value.
using no_value = detail::no_value;

namespace detail {

// Walks a part of a range, and forks its upper half when an idle worker looks for work.
template <class Index, class F>
task<> walk_range(range_walk<Index, F>& walk, Index first, Index last) {
  using pause = typename range_walk<Index, F>::pause;
  for (;;) {
    const auto [next, reason] = walk.walk(first, last);
    if (reason == pause::finished) co_return;
    first = next;
    if (reason == pause::split) break;
    co_await yield_once();
  }
  const Index middle = range_middle(first, last);
  co_await fork_pack(walk_range(walk, first, middle), walk_range(walk, middle, last));
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

// Runs one or more tasks, or callables that return a task. Each is moved in. The worker that begins a child calls its
// callable, in the child's turn. If the callable throws, its child has failed.
template <class... Sources>
  requires(sizeof...(Sources) > 0 && (detail::forkable<Sources> && ...))
[[nodiscard]] detail::fork_pack<Sources...> fork_join(Sources... children) {
  return detail::fork_pack<Sources...>(std::move(children)...);
}
// Gives a vector of the results (of pointers, for references); void for task<void>. An empty vector completes at once.
template <class T>
[[nodiscard]] detail::fork_vector<T> fork_join(std::vector<task<T>> children) {
  return detail::fork_vector<T>(std::move(children));
}

// Runs the tasks f(0) ... f(count - 1), each made in its turn: one worker at a time calls f, in this order, while
// earlier children may still run on other workers. Gives a vector of the results, as fork_join() does. With `results`,
// which has at least `count` elements, it gives void: result number i is results[i]. If f throws, a child has failed,
// and the children that have not begun are dropped. f is stored in the coroutine.
template <class F>
  requires detail::is_task<std::invoke_result_t<F&, std::size_t>>
[[nodiscard]] auto fork_each(std::size_t count, F f) {
  using results = detail::fork_results<typename std::invoke_result_t<F&, std::size_t>::value_type>;
  return detail::fork_calls<F, results>(std::move(f), count);
}
template <class F, class T = typename std::invoke_result_t<F&, std::size_t>::value_type>
  requires std::is_object_v<T>
[[nodiscard]] auto fork_each(std::size_t count, F f, std::span<std::type_identity_t<T>> results) {
  detail::expects(count <= results.size(), "fork_each() has more children than its span has elements",
                  "give it a span of `count` elements");
  return detail::fork_calls<F, detail::fork_results_to<T>>(std::move(f), count, results);
}

// Calls body(i) for each index in [first, last), in any order, on several workers. If the body returns a task<void>,
// the task is awaited. One worker runs `grain` consecutive indices between two checks for idle workers: choose a number
// that takes some microseconds. The body is stored in the coroutine; the objects that it refers to must outlive the
// await.
//
// A worker walks its part of the range, and gives half of the rest to an idle worker. Without idle workers, the loop
// costs as much as a plain loop, and one check for each `grain`. After 256 pieces of `grain` the worker's other
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
    detail::range_walk<Index, F> walk(body, grain);
    auto whole = detail::walk_range(walk, first, last);
    co_await std::move(whole);
  }
}

}}  // namespace hocket
