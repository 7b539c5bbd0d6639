// fork_join: runs tasks on several workers at once, and gives what all of them gave. For computations.
//
//   task<long> fib(int n) {
//     if (n < 2) co_return n;
//     auto [a, b] = co_await fork_join(fib(n - 1), fib(n - 2));
//     co_return a + b;
//   }
//   std::vector<int> sums = co_await fork_join(std::move(tasks));          // a vector of tasks
//   co_await parallel_for(std::size_t{0}, pixels.size(), [&](std::size_t i) { shade(pixels[i]); });
//
// The first task runs at once; a worker that has nothing to do takes the others, or, when the first has ended and
// nobody did, the same worker runs them: then they cost hardly more than plain calls. So what they share must be
// protected (the children of a when_all run on one worker at a time, those of a fork_join do not). On a loop and on a
// plain thread they run one after the other.
//
// The result: a tuple in the order given, no_value for void; a vector, for a vector of tasks; void, for one of
// task<void>. An exception ends what has not begun yet, and is rethrown when the others have ended (of several that of
// the first in the order given). Nobody is cancelled because of it: a computation that shall stop asks. A cancellation
// or a kill of the parent reaches the waits of the children.
//
// The tasks may wait, too: then their worker goes on with the rest. In a task of a runtime the code behind the co_await
// runs on whichever worker ended last; a fiber goes on where it was, and so does a task that is a child of a when_all.
//
// Cost. Per child a push and a pop of a deque without an atomic read-modify-write, and no allocation but the child's
// own frame; the outermost fork_join of a coroutine allocates a context. A vector of tasks takes one of results.
// Threads: may be awaited anywhere. Complexity: with W the work of all, and D the longest chain of it, about W / P + D
// on P workers (Blumofe and Leiserson, "Scheduling multithreaded computations by work stealing", 1999).
#pragma once
#include <hocket/base/result.hpp>
#include <hocket/coro/detail/fork_group.hpp>
#include <hocket/coro/detail/frame_allocator.hpp>
#include <hocket/coro/detail/range_walk.hpp>
#include <concepts>
#include <tuple>
#include <utility>
#include <vector>

namespace hocket::inline HOCKET_ABI {

// What stands in a tuple for a task that gives nothing.
using no_value = detail::no_value;

namespace detail {

// The awaiter's part that does not depend on the children.
class fork_awaiter : public own_awaiter, protected fork_group {
 public:
  static constexpr bool await_ready() noexcept { return false; }

 protected:
  template <class T>
  static std::coroutine_handle<> handle_of_task(task<T>& child) {
    static_cast<void>(child.await_ready());  // fatal if it is empty
    return child.body_;
  }
  // A task as its coroutine alone, and back again.
  template <class T>
  static std::coroutine_handle<> release_task(task<T>& child) {
    const auto body = handle_of_task(child);
    child.body_ = {};
    return body;
  }
  template <class T>
  static task<T> task_of(std::coroutine_handle<>& body) noexcept {
    return task<T>(with_header<task_promise<T>>(std::exchange(body, {})));
  }

  template <class Promise>
  [[HOCKET_ALWAYS_INLINE]] std::coroutine_handle<> begin(const std::coroutine_handle<>* children, std::size_t count,
                                                         std::coroutine_handle<Promise> parent) {
    if constexpr (std::is_void_v<Promise>) return begin_group(children, count, parent, nullptr, false);
    else if constexpr (std::is_base_of_v<migratable_header, Promise>)
      return begin_migratable(children, count, parent, parent.promise());
    else if constexpr (has_header<Promise>) return begin_group(children, count, parent, &parent.promise(), true);
    else return begin_group(children, count, parent, nullptr, false);
  }
};

// The tasks are kept as bare coroutines, in the array that the group begins them from. They are taken over one by one,
// each after its check: moved side by side g++ loads two of them at once, and such a load must wait until both stores
// before it, which were of one word each, are out of the store buffer.
template <class... Ts>
class [[nodiscard("what is forked does nothing until it is awaited")]] fork_pack final : public fork_awaiter {
 public:
  explicit fork_pack(task<Ts>&&... children) : bodies_{release_task(children)...} {}
  fork_pack(const fork_pack&) = delete;
  fork_pack& operator=(const fork_pack&) = delete;
  ~fork_pack() {
    auto* each = bodies_;
    ((drop<Ts>(*each++)), ...);
  }

  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) {
    return begin(bodies_, sizeof...(Ts), parent);
  }
  auto await_resume() {
    end_group();
    return take_all(std::index_sequence_for<Ts...>());
  }

 private:
  template <std::size_t... Is>
  auto take_all(std::index_sequence<Is...>) {
    return std::tuple<std::conditional_t<std::is_void_v<Ts>, no_value, Ts>...>{take<Ts>(bodies_[Is])...};
  }
  template <class T>
  static auto take(std::coroutine_handle<>& body) -> std::conditional_t<std::is_void_v<T>, no_value, T> {
    task<T> child = task_of<T>(body);
    if constexpr (std::is_void_v<T>) return child.await_resume(), no_value{};
    else return child.await_resume();
  }
  template <class T>
  static void drop(std::coroutine_handle<>& body) noexcept {
    if (body) [[unlikely]]
      static_cast<void>(task_of<T>(body));
  }

  std::coroutine_handle<> bodies_[sizeof...(Ts)];
};

template <class T>
class [[nodiscard("what is forked does nothing until it is awaited")]] fork_vector final : public fork_awaiter {
 public:
  explicit fork_vector(std::vector<task<T>>&& children) : children_(std::move(children)) {
    handles_.reserve(children_.size());
    for (auto& child : children_) handles_.push_back(handle_of_task(child));
  }

  bool await_ready() const noexcept { return children_.empty(); }
  template <class Promise>
  std::coroutine_handle<> await_suspend(std::coroutine_handle<Promise> parent) {
    return begin(handles_.data(), handles_.size(), parent);
  }
  auto await_resume() {
    if (!children_.empty()) end_group();
    if constexpr (std::is_void_v<T>) {
      for (auto& child : children_) child.await_resume();
    } else {
      std::vector<std::conditional_t<std::is_reference_v<T>, std::add_pointer_t<T>, T>> results;
      results.reserve(children_.size());
      for (auto& child : children_) {
        if constexpr (std::is_reference_v<T>) results.push_back(std::addressof(child.await_resume()));
        else results.push_back(child.await_resume());
      }
      return results;
    }
  }

 private:
  std::vector<task<T>> children_;
  std::vector<std::coroutine_handle<>, frame_allocator<std::coroutine_handle<>>> handles_;
};

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

// At least one task, each moved in.
template <class... Ts>
  requires(sizeof...(Ts) > 0)
[[nodiscard]] detail::fork_pack<Ts...> fork_join(task<Ts>... children) {
  return detail::fork_pack<Ts...>(std::move(children)...);
}
// Gives a vector of the results (of pointers, for references); nothing for task<void>. Of none: at once.
template <class T>
[[nodiscard]] detail::fork_vector<T> fork_join(std::vector<task<T>> children) {
  return detail::fork_vector<T>(std::move(children));
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

}  // namespace hocket::inline HOCKET_ABI
