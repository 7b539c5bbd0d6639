// Forked children, alone on a worker without thieves: see operations.cpp. A unit is one call of a
// recursive task; half of the calls fork two children, as for a Fibonacci number. One call of 128 is counted
// for the root.
#include <hocket/core/thread/seam/fork_deque.hpp>
#include <hocket/core/thread/seam/run_queue.hpp>
#include <hocket/coro/fork_join.hpp>

#include "still_loop.hpp"

#include <array>

using hocket::fork_each, hocket::fork_join, hocket::task;
using std::size_t;

namespace counts {
namespace {

task<size_t> tree_of_calls(size_t depth) {
  if (depth == 0) co_return size_t{1};
  const size_t a = co_await tree_of_calls(depth - 1);
  const size_t b = co_await tree_of_calls(depth - 1);
  co_return a + b;
}
task<size_t> tree_of_tasks(size_t depth) {
  if (depth == 0) co_return size_t{1};
  auto [a, b] = co_await fork_join(tree_of_tasks(depth - 1), tree_of_tasks(depth - 1));
  co_return a + b;
}
task<size_t> tree_of_callables(size_t depth) {
  if (depth == 0) co_return size_t{1};
  auto child = [depth] { return tree_of_callables(depth - 1); };
  auto [a, b] = co_await fork_join(child, child);
  co_return a + b;
}
task<size_t> tree_of_each(size_t depth) {
  if (depth == 0) co_return size_t{1};
  std::array<size_t, 2> sums;
  co_await fork_each(2, [depth](size_t) { return tree_of_each(depth - 1); }, sums);
  co_return sums[0] + sums[1];
}

// A worker without thieves, timers and I/O.
class lone_worker final : hocket::executor {
 public:
  // Ready coroutines first, then forked groups.
  void run_to_end() {
    while (true) {
      while (ready_.has_next()) ready_.pop().resume();
      hocket::detail::this_thread().turn_is_over = false;
      hocket::detail::fork_entry* const rest = forks_.pop();
      if (!rest) return;
      rest->begin(*rest).resume();
    }
  }
  hocket::detail::executor_binding binding() noexcept { return {this, &ready_, nullptr, nullptr, &forks_}; }

 private:
  void post_from_outside(hocket::detail::runnable& work) noexcept override { ready_.push(work); }

  hocket::detail::run_queue ready_;
  const hocket::detail::atomic<bool> wanted_{false};
  hocket::detail::fork_deque forks_{wanted_};
};

struct root {
  struct promise_type : hocket::detail::migratable_header {
    root get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::abort(); }
  };
  std::coroutine_handle<promise_type> handle;
};
root run(task<size_t> (*tree)(size_t), size_t calls) {
  constexpr size_t depth = 6, leaves = 64;
  for (; calls >= 2 * leaves; calls -= 2 * leaves) must(co_await tree(depth) == leaves, "a leaf is missing");
}

void on_a_worker(task<size_t> (*tree)(size_t), size_t calls) {
  lone_worker alone;
  const hocket::context_ptr ctx = hocket::context::child_of_forks(hocket::context::root());
  const hocket::detail::running_scope running(alone.binding(), ctx.get());
  const root whole = run(tree, calls);
  whole.handle.promise().ctx = ctx.get();
  whole.handle.promise().budget = hocket::detail::transfer_budget;
  whole.handle.resume();
  alone.run_to_end();
  must(whole.handle.done(), "a fork has not come to its end");
  whole.handle.destroy();
}

}  // namespace

void task_tree(size_t k) { on_a_worker(&tree_of_calls, k); }
void forked_tasks(size_t k) { on_a_worker(&tree_of_tasks, k); }
void forked_callables(size_t k) { on_a_worker(&tree_of_callables, k); }
void forked_each(size_t k) { on_a_worker(&tree_of_each, k); }

}  // namespace counts
