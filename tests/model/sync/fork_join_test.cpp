// fork_join under every schedule: each child runs once, on its owner or on a thief, and the parent continues once,
// after all of them, and sees their writes. Children run as calls; one of them leaves, by a wait or by a failure. And
// the split join counter with a weaker order, which must fail.
#include <hocket/coro/fork_join.hpp>

#include "verdict.hpp"

#include <array>

namespace {

using namespace hocket;
using hocket::model::bug;
using hocket::model::execution;
using hocket::model::require;
using hocket::model::var;

// A parent that continues on the thread on which its children end.
struct migratable_root {
  struct promise_type : detail::migratable_header {
    migratable_root get_return_object() noexcept { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
};

// Nothing is posted: the budget is never used up.
struct idle_executor final : executor {
  void post_from_outside(detail::runnable&) noexcept override { model::fail("something was posted"); }
};

struct site {
  idle_executor on[3];
  primitive::atomic<bool> wanted{false};
  detail::fork_deque deques[3] = {detail::fork_deque(wanted, 2), detail::fork_deque(wanted, 2),
                                  detail::fork_deque(wanted, 2)};
  var<int> ran[3];
  var<int> sum{0, "sum"};
  var<int> ends{0, "ends"};
  primitive::atomic<void*> parked{nullptr, "parked"};

  ~site() {
    for (auto& one : deques) {
      while (one.pop()) {
      }
    }
  }
};

// A wait: whoever finds the coroutine resumes it.
struct park : detail::own_awaiter {
  explicit park(site& of) noexcept : at(of) {}
  site& at;
  static constexpr bool await_ready() noexcept { return false; }
  void await_suspend(std::coroutine_handle<> self) noexcept { at.parked.store(self.address()); }
  static void await_resume() noexcept {}
};
void resume_parked(site& at) {
  if (void* found = at.parked.exchange(nullptr)) std::coroutine_handle<>::from_address(found).resume();
}

task<int> child(site& at, std::size_t index) {
  at.ran[index] = at.ran[index] + 1;
  co_return static_cast<int>(index) + 1;
}

migratable_root parent_of_two(site& at) {
  auto [a, b] = co_await fork_join(child(at, 0), child(at, 1));
  at.sum = a + b;
  at.ends = at.ends + 1;
}
task<int> waiting_child(site& at, std::size_t index) {
  co_await park(at);
  at.ran[index] = at.ran[index] + 1;
  co_return static_cast<int>(index) + 1;
}
task<int> failing_child(site& at, std::size_t index) {
  at.ran[index] = at.ran[index] + 1;
  throw static_cast<int>(index) + 1;
  co_return 0;
}
migratable_root parent_of_callables(site& at) {
  auto [a, b] = co_await fork_join([&at] { return child(at, 0); }, [&at] { return child(at, 1); });
  at.sum = a + b;
  at.ends = at.ends + 1;
}
migratable_root parent_of_each(site& at) {
  std::array<int, 3> results;
  co_await fork_each(3, [&at](std::size_t i) { return child(at, i); }, results);
  at.sum = results[0] + results[1] + results[2];
  at.ends = at.ends + 1;
}
migratable_root parent_of_waiting(site& at) {
  auto inner = [](site& where) -> task<int> {
    auto [a, b] = co_await fork_join(waiting_child(where, 0), child(where, 1));
    co_return a + b;
  };
  auto [a, b] = co_await fork_join(inner(at), child(at, 2));
  at.sum = a + b;
  at.ends = at.ends + 1;
}
// What a failure leaves out counts as done.
migratable_root parent_of_failing(site& at) {
  int caught = 0;
  try {
    static_cast<void>(co_await fork_join(failing_child(at, 0), failing_child(at, 1)));
  } catch (int which) {
    caught = which;
  }
  if (at.ran[1] == 0) at.ran[1] = 1;
  at.sum = caught == 1 ? 3 : caught;
  at.ends = at.ends + 1;
}
migratable_root parent_of_three(site& at) {
  auto [a, b, c] = co_await fork_join(child(at, 0), child(at, 1), child(at, 2));
  at.sum = a + b + c;
  at.ends = at.ends + 1;
}
migratable_root parent_of_nested(site& at) {
  auto inner = [](site& where) -> task<int> {
    auto [a, b] = co_await fork_join(child(where, 0), child(where, 1));
    co_return a + b;
  };
  auto [a, b] = co_await fork_join(inner(at), child(at, 2));
  at.sum = a + b;
  at.ends = at.ends + 1;
}

// What is left in a worker's own deque it begins itself.
void drain(detail::fork_deque& own) {
  while (detail::fork_entry* rest = own.pop()) rest->begin(*rest).resume();
}

template <std::size_t Children, std::size_t Thieves>
auto forked_by(migratable_root (*parent)(site&)) {
  return [=](execution& run) {
    site at;
    const context_ptr ctx = context::child_of_forks(context::root());
    const migratable_root root = parent(at);
    root.handle.promise().ctx = ctx.get();
    root.handle.promise().budget = detail::transfer_budget;
    run.thread("owner", [&] {
      detail::running_scope running({&at.on[0], nullptr, nullptr, nullptr, &at.deques[0]}, ctx.get());
      root.handle.resume();
      drain(at.deques[0]);
      resume_parked(at);
      drain(at.deques[0]);
    });
    for (std::size_t i = 1; i <= Thieves; ++i) {
      run.thread("thief", [&, i] {
        detail::running_scope running({&at.on[i], nullptr, nullptr, nullptr, &at.deques[i]}, nullptr);
        if (detail::fork_entry* rest = at.deques[0].steal()) rest->begin(*rest).resume();
        drain(at.deques[i]);
        resume_parked(at);
        drain(at.deques[i]);
      });
    }
    run.join();
    for (std::size_t i = 0; i < Children; ++i) require(at.ran[i] == 1);
    require(at.ends == 1);
    require(at.sum == static_cast<int>(Children * (Children + 1) / 2));
    root.handle.destroy();
  };
}

// One theft: a branch ends, and the holder joins.
template <std::memory_order Order>
void split_counter(execution& run) {
  primitive::atomic<std::int32_t> balance{0, "balance"};
  var<int> by_branch{0, "by branch"};
  var<int> by_holder{0, "by holder"};
  var<int> resumed{0, "resumed"};
  auto resume = [&] {
    require(by_branch == 1);
    require(by_holder == 1);
    resumed = resumed + 1;
  };
  run.thread("branch", [&] {
    by_branch = 1;
    if (balance.fetch_sub(1, Order) == 1) resume();
  });
  run.thread("holder", [&] {
    by_holder = 1;
    if (balance.fetch_add(1, Order) == -1) resume();
  });
  run.join();
  require(resumed == 1);
}

}  // namespace

TEST_SUITE_BEGIN("model/sync/fork_join");

TEST_CASE("children run once, and the parent goes on once, after them") {
  verdict::none({.preemptions = 3, .stale_reads = 1}, forked_by<2, 1>(&parent_of_two));
  verdict::none({.preemptions = 2, .stale_reads = 1}, forked_by<3, 1>(&parent_of_three));
  verdict::none({.preemptions = 1, .stale_reads = 1}, forked_by<3, 2>(&parent_of_three));
  verdict::none({.preemptions = 2, .stale_reads = 1}, forked_by<3, 1>(&parent_of_nested));
}

TEST_CASE("children that are made by callables run once") {
  verdict::none({.preemptions = 3, .stale_reads = 1}, forked_by<2, 1>(&parent_of_callables));
  verdict::none({.preemptions = 3, .stale_reads = 1}, forked_by<3, 1>(&parent_of_each));
  verdict::none({.preemptions = 2, .stale_reads = 1}, forked_by<3, 2>(&parent_of_each));
}

TEST_CASE("a child that leaves is resumed by any thread, and its groups go on") {
  verdict::none({.preemptions = 3, .stale_reads = 1}, forked_by<3, 1>(&parent_of_waiting));
  verdict::none({.preemptions = 2, .stale_reads = 1}, forked_by<3, 2>(&parent_of_waiting));
}

TEST_CASE("a failure comes out once all that has begun has ended") {
  verdict::none({.preemptions = 3, .stale_reads = 1}, forked_by<2, 1>(&parent_of_failing));
  verdict::none({.preemptions = 3, .stale_reads = 1}, forked_by<2, 2>(&parent_of_failing));
}

TEST_CASE("the join counter publishes what the children left") {
  verdict::never(&split_counter<std::memory_order_acq_rel>);
  verdict::found(bug::data_race, &split_counter<std::memory_order_acquire>);
  verdict::found(bug::data_race, &split_counter<std::memory_order_release>);
}

TEST_SUITE_END();
