// The depot of stacks under every schedule, with its slabs and its pools: the library's own sources, over a system
// with pages that the checker sees (system_memory.hpp).
//
// One mutex guards a depot, and each atomic beside it is a number or a hint. So these tests check which steps belong
// together under the mutex, and which states the steps outside of it may find:
//
//   a stack       has one owner at a time, and the owner sees the end of the previous one
//   a waiter      is served by a release, a higher limit, or a pool when its thread goes to sleep
//   a withdrawal  and a service of one waiter exclude each other
//   the system    drops no page of a lent stack, and unmaps no slab of a lent stack
//
// Only the table of the process's own depots is lock-free: shared() looks there without the mutex.
#include <hocket/base/clock.hpp>
#include <hocket/stack/stack_pool.hpp>

#include "core/kept.hpp"
#include "stack/system_memory.hpp"
#include "verdict.hpp"

#include <array>

namespace {

using hocket::stack_depot;
using hocket::stack_options;
using hocket::stack_pool;
using hocket::stack_ref;
using hocket::detail::stack_waiter;
using hocket::model::execution;
using hocket::model::require;
using hocket::primitive::atomic;
using hocket_test::kept;
using hocket_test::system_memory;
namespace model = hocket::model;

const hocket::manual_clock& still_clock() noexcept {
  static const hocket::manual_clock clock;
  return clock;
}

struct depot_under_test {
  explicit depot_under_test(std::size_t limit) : depot(options_of(limit)) {}

  static stack_options options_of(std::size_t limit) noexcept {
    stack_options options;
    options.stack_size = system_memory::page;
    options.limit = limit;
    options.when_full = hocket::at_limit::wait;
    options.keep = 0;
    options.clock = &still_clock();
    return options;
  }
  void use_and_release(const stack_ref& stack) {
    memory.use(stack);
    depot->release(stack);
  }
  stack_ref acquire() {
    auto stack = depot->acquire();
    require(bool(stack), "a stack that is free is refused");
    return *stack;
  }
  // At the end: nothing is lost, and nothing is there twice.
  void check() {
    const auto now = depot->statistics();
    require(now.in_use == 0 && now.waiting == 0, "the depot takes a stack for lent that came back");
    for (std::size_t i = 0; i < now.warm; ++i) memory.use(acquire());
    require(depot->statistics().warm == 0);
  }

  system_memory memory;
  kept<stack_depot> depot;
};

// A thread that sleeps until its stack comes.
struct sleeper : stack_waiter {
  sleeper() noexcept : stack_waiter(&wake) {}

  static void wake(stack_waiter& self, const stack_ref& stack) noexcept {
    auto& one = static_cast<sleeper&>(self);
    one.stack = stack;
    one.served.store(1, std::memory_order_release);
    hocket::detail::futex_wake_one(one.served);
  }
  stack_ref sleep() {
    while (served.load(std::memory_order_acquire) == 0) hocket::detail::futex_wait(served, 0);
    return stack;
  }

  stack_ref stack{};
  atomic<std::uint32_t> served{0, "served"};
};

// As a spawn does it: asks first, and gets in line when it is refused.
stack_ref acquire_or_wait(stack_depot& depot, sleeper& self) {
  if (auto stack = depot.acquire()) return *stack;
  const auto enlisted = depot.wait(self);
  require(enlisted.kind != stack_depot::enlisting::failed);
  return enlisted.kind == stack_depot::enlisting::served ? enlisted.stack : self.sleep();
}

// --- one owner

template <std::size_t Limit>
void acquired_by_two(execution& run) {
  depot_under_test t(Limit);
  for (int i = 0; i < 2; ++i) {
    run.thread("owner", [&] {
      for (int round = 0; round < 2; ++round) {
        auto stack = t.depot->acquire();
        require(Limit < 2 || stack, "a stack that is free is refused");
        if (stack) t.use_and_release(*stack);
      }
    });
  }
  run.join();
  t.check();
}

// Each has a pool; what one acquires the other one gets.
void acquired_on_two_pools(execution& run) {
  depot_under_test t(2);
  std::array<kept<stack_pool>, 2> pools{kept<stack_pool>(*t.depot), kept<stack_pool>(*t.depot)};
  for (auto& pool : pools) {
    run.thread("owner", [&] {
      auto stack = pool->acquire();
      require(bool(stack), "a stack that is free is refused");
      t.memory.use(*stack);
      pool->release(*stack);
      pool->share();
    });
  }
  run.join();
  for (auto& pool : pools) pool.free();
  t.check();
}

// --- waiting

template <int Waiters>
void waited_for(execution& run) {
  depot_under_test t(1);
  std::array<sleeper, Waiters> sleepers;
  const stack_ref lent = t.acquire();
  run.thread("releases", [&] { t.use_and_release(lent); });
  for (auto& self : sleepers) run.thread("waits", [&] { t.use_and_release(acquire_or_wait(*t.depot, self)); });
  run.join();
  t.check();
}

void withdrawn(execution& run) {
  depot_under_test t(1);
  std::array<sleeper, 2> sleepers;
  const stack_ref lent = t.acquire();
  run.thread("releases", [&] { t.use_and_release(lent); });
  run.thread("withdraws", [&] {
    const auto enlisted = t.depot->wait(sleepers[0]);
    if (enlisted.kind == stack_depot::enlisting::served) return t.use_and_release(enlisted.stack);
    if (!t.depot->withdraw(sleepers[0])) t.use_and_release(sleepers[0].sleep());
  });
  run.thread("waits", [&] { t.use_and_release(acquire_or_wait(*t.depot, sleepers[1])); });
  run.join();
  t.check();
}

void limit_is_raised(execution& run) {
  depot_under_test t(1);
  sleeper self;
  stack_ref lent = t.acquire(), got{};
  run.thread("raises", [&] { t.depot->tune(depot_under_test::options_of(2)); });
  run.thread("waits", [&] { t.memory.use(got = acquire_or_wait(*t.depot, self)); });
  run.join();
  for (const stack_ref& one : {lent, got}) t.use_and_release(one);
  t.check();
}

// The pool's thread may not yet see the waiter, and keep the stack. It checks again before it sleeps, which
// here is after the waiter was queued. (If the thread of a pool slept before, the pool keeps its stacks for a period of
// decay.)
void waited_for_beside_a_pool(execution& run) {
  depot_under_test t(1);
  sleeper self;
  atomic<std::uint32_t> in_line{0, "in line"};
  kept<stack_pool> pool(*t.depot);
  auto lent = pool->acquire();
  require(bool(lent));
  run.thread("releases, and sleeps", [&] {
    t.memory.use(*lent);
    pool->release(*lent);
    while (in_line.load(std::memory_order_relaxed) == 0) hocket::detail::futex_wait(in_line, 0);
    pool->share();
  });
  run.thread("waits", [&] {
    require(t.depot->wait(self).kind == stack_depot::enlisting::waits);
    in_line.store(1, std::memory_order_relaxed);
    hocket::detail::futex_wake_one(in_line);
    t.use_and_release(self.sleep());
  });
  run.join();
  pool.free();
  t.check();
}

// --- giving back

// `OneIsLent`: so the slab stays, and pages are dropped; else the slab is unmapped.
template <bool OneIsLent, int Trimmers>
void trimmed_beside_an_owner(execution& run) {
  depot_under_test t(2);
  const std::array<stack_ref, 2> both{t.acquire(), t.acquire()};
  t.use_and_release(both[0]);
  if (!OneIsLent) t.use_and_release(both[1]);
  for (int i = 0; i < Trimmers; ++i) run.thread("trims", [&] { static_cast<void>(t.depot->trim()); });
  run.thread("owner", [&] { t.use_and_release(t.acquire()); });
  if (OneIsLent) run.thread("owner from before", [&] { t.use_and_release(both[1]); });
  run.join();
  t.check();
}

// --- the process's own depots

// Destroyed at the end of the execution: shared depots live as long as the process, and here that is one execution.
struct shared_depots {
  ~shared_depots() {
    if (found[0] != found[1]) delete found[0];
    delete found[1];
  }
  stack_depot* found[2] = {};
};

void shared_by_two(execution& run) {
  system_memory memory;
  shared_depots t;
  for (auto& found : t.found) {
    run.thread("asks", [&] {
      found = &stack_depot::shared(system_memory::page);
      require(found->uses_clock(hocket::steady_clock()));
    });
  }
  run.join();
  require(t.found[0] == t.found[1], "two depots of one size");
}

constexpr model::options wide{.preemptions = 3, .stale_reads = 1, .spurious = 1};
constexpr model::options narrow{.preemptions = 2, .stale_reads = 1, .spurious = 0};
constexpr model::options few_switches{.preemptions = 1, .stale_reads = 1, .spurious = 0};

}  // namespace

TEST_SUITE_BEGIN("model/stack/stack_depot");

TEST_CASE("a stack has one owner at a time") {
  ::verdict::none(narrow, &acquired_by_two<1>);
  ::verdict::none(narrow, &acquired_by_two<2>);
}

TEST_CASE("pools that share a depot hand a stack to one owner at a time") {
  ::verdict::none(narrow, &acquired_on_two_pools);
}

TEST_CASE("a stack that comes back serves a thread that waits") {
  ::verdict::none(wide, &waited_for<1>);
  ::verdict::none(narrow, &waited_for<2>);
}

TEST_CASE("a waiter is withdrawn or served") { ::verdict::none(narrow, &withdrawn); }

TEST_CASE("a higher limit serves a thread that waits") { ::verdict::none(wide, &limit_is_raised); }

TEST_CASE("a pool that does not see the waiter in time gives the stack up before its thread sleeps") {
  ::verdict::none(wide, &waited_for_beside_a_pool);
}

TEST_CASE("a trim drops the pages of no stack that is lent, and unmaps no slab that is in use") {
  ::verdict::none(narrow, &trimmed_beside_an_owner<false, 1>);
  ::verdict::none(few_switches, &trimmed_beside_an_owner<true, 1>);
  ::verdict::none(few_switches, &trimmed_beside_an_owner<false, 2>);
}

TEST_CASE("threads that ask at once share one depot, and find it whole") { ::verdict::none(wide, &shared_by_two); }

TEST_CASE("every ordering of the depots and their pools is needed") {
  model::options bounds{.preemptions = 1, .stale_reads = 1, .spurious = 0, .weakened = "src/stack/"};
  CHECK(model::unneeded_orderings(bounds, &shared_by_two) == "");
  bounds.weakened = "hocket/stack/";
  CHECK(model::unneeded_orderings(bounds, &waited_for_beside_a_pool) == "");
}

TEST_SUITE_END();
