// hocket's task. Two programs are made from this file: frames recycled per thread, which is what every task has, and
// frames from global operator new (LAB_GLOBAL_NEW), through the allocator parameter that every task function may have.
//
// In the workload `switch` a task is started and resumed by its bare handle, as cpp20-handle is. That handle comes from
// the await, which belongs to the creation here and runs nothing; taking the result destroys the frame. In `task` one
// task awaits many others, each of which ends at once. The page `tasks` has more of the kind (tasks/awaits.hpp).
// hocket-task-clang is this file, compiled by clang++.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/task.hpp>

#include "tasks/awaits.hpp"

namespace {

using hocket::task;

struct kind {
  template <class T>
  using task = hocket::task<T>;
  using root = hocket::task<std::uint64_t>;

  static std::uint64_t run(root body) { return hocket::sync_wait(std::move(body)); }
  template <class T>
  static task<T>&& awaited(task<T>& t) {
    return std::move(t);
  }
  template <class T>
  static task<T>&& passing(task<T>& t) {
    return std::move(t);
  }
};

#ifdef LAB_GLOBAL_NEW
[[gnu::noinline]] task<std::uint64_t> leaf(std::allocator_arg_t, std::allocator<std::byte>, std::uint64_t i) {
  co_return i;
}
task<std::uint64_t> call_leaf(std::uint64_t i) { return leaf(std::allocator_arg, {}, i); }
#else
[[gnu::noinline]] task<std::uint64_t> leaf(std::uint64_t i) { co_return i; }
task<std::uint64_t> call_leaf(std::uint64_t i) { return leaf(i); }
#endif

task<std::uint64_t> sum(std::uint64_t k) {
  std::uint64_t total = 0;
  for (std::uint64_t i = 0; i < k; ++i) total += co_await call_leaf(i);
  co_return total;
}

[[gnu::noinline]] task<void> body(lab::line& mine) {
  while (!mine.stop) {
    ++mine.count;
    co_await std::suspend_always{};
  }
}

class tasks {
 public:
  tasks(std::size_t n, std::size_t) : tasks_{n} {}

  void create(std::size_t i, lab::line& mine) {
    auto* t = ::new (static_cast<void*>(&tasks_[i])) started{hocket::detail::get_awaiter(body(mine)), {}};
    t->handle = t->result.await_suspend(std::noop_coroutine());
  }
  void resume(std::size_t i) { tasks_[i].handle.resume(); }
  void finish(std::size_t i) {
    resume(i);  // ends, and transfers to the one that awaits it: the coroutine that does nothing
    if (!tasks_[i].handle.done()) lab::fail("a task went on after its end");
  }
  void drop(std::size_t i) {
    tasks_[i].result.await_resume();
    tasks_.drop(i);
  }

 private:
  struct started {
    std::remove_reference_t<hocket::detail::awaiter_of<task<void>>> result;
    std::coroutine_handle<> handle;
  };
  lab::slots<started> tasks_;
};

}  // namespace

int main(int argc, char** argv) {
  lab::request r = lab::parse(argc, argv);
#ifndef LAB_GLOBAL_NEW
  if (r.workload == "switch") return lab::run_switch<tasks>(LAB_SYSTEM, r);
  if (auto status = lab::awaits_page<kind>{LAB_SYSTEM, r}.run()) return *status;
#endif
  if (r.workload != "task") lab::fail("this subject does not know that workload");
  return lab::run_batches(LAB_SYSTEM, r, [](std::uint64_t k) { return hocket::sync_wait(sum(k)) == k * (k - 1) / 2; });
}
