// The operations of which tests/counts counts the instructions. Each is called as op(k) and does k units; counts.py
// takes the difference of two k, so work that is done once (the loop, the spawns, the first growth of an object)
// cancels.
//
// There is no observer.
#include <hocket/base/random.hpp>
#include <hocket/core/post.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/eager_task.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/coroutine.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/stack/stack_pool.hpp>
#include <hocket/sync/auto_reset_event.hpp>
#include <hocket/sync/mutex.hpp>
#include <hocket/time/within.hpp>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "counting.hpp"
#include "still_loop.hpp"

namespace {

using counts::must, counts::still_loop;
using hocket::await, hocket::eager_task, hocket::spawn, hocket::task, hocket::yield;
using std::size_t;

constexpr size_t crowd = 64;  // as many as a loop resumes in one turn
constexpr std::chrono::hours far{1};

// --- switches

void round_trips(hocket::stack_pool& stacks, size_t k) {
  bool stop = false;
  hocket::coroutine<void()> c(stacks, [&](auto& self) {
    while (!stop) self.yield();
  });
  for (; k; --k) c.resume();
  stop = true;
  c.resume();
}
void coroutine_round_trip(size_t k) {
  hocket::stack_pool stacks;
  round_trips(stacks, k);
}
// Each resume compares a canary.
void dense_round_trip(size_t k) {
  hocket::stack_pool stacks({.stack_size = 8192, .layout = hocket::stack_layout::dense});
  round_trips(stacks, k);
}

// Crowds of them, so that the pool's magazines change places.
void stack_acquire_release(size_t k) {
  hocket::stack_pool stacks;
  std::vector<hocket::stack_ref> held(1000);
  for (; k >= held.size(); k -= held.size()) {
    for (auto& stack : held) stack = *stacks.acquire();
    for (auto& stack : held) stacks.release(stack);
  }
}
void coroutine_life(size_t k) {
  hocket::stack_pool stacks;
  for (; k; --k) hocket::coroutine<void()>(stacks, [](auto&) {}).resume();
}

void fibers_yield(size_t n, size_t k) {
  still_loop on;
  for (size_t i = 0; i < n; ++i)
    spawn(on.loop, [k] {
      for (size_t left = k; left; --left) await(yield());
    });
}
void tasks_yield(size_t n, size_t k) {
  still_loop on;
  for (size_t i = 0; i < n; ++i)
    spawn(on.loop, [k]() -> task<void> {
      for (size_t left = k; left; --left) co_await yield();
    });
}
void fiber_yield(size_t k) { fibers_yield(crowd, k / crowd); }
void fiber_yield_alone(size_t k) { fibers_yield(1, k); }
void task_yield(size_t k) { tasks_yield(crowd, k / crowd); }
void task_yield_alone(size_t k) { tasks_yield(1, k); }

// --- lives

[[gnu::noinline]] task<size_t> leaf(size_t i) { co_return i; }

void task_call(size_t k) {
  still_loop on;
  spawn(on.loop, [k]() -> task<void> {
    size_t sum = 0;
    for (size_t i = 0; i < k; ++i) sum += co_await leaf(i);
    must(sum == k * (k - 1) / 2, "a task gave a wrong result");
  });
}
void task_call_in_fiber(size_t k) {
  still_loop on;
  spawn(on.loop, [k] {
    size_t sum = 0;
    for (size_t i = 0; i < k; ++i) sum += await(leaf(i));
    must(sum == k * (k - 1) / 2, "a task gave a wrong result");
  });
}
[[gnu::noinline]] eager_task<size_t> eager_leaf(size_t i) { co_return i; }

void eager_call(size_t k) {
  still_loop on;
  spawn(on.loop, [k]() -> task<void> {
    size_t sum = 0;
    for (size_t i = 0; i < k; ++i) sum += co_await eager_leaf(i);
    must(sum == k * (k - 1) / 2, "an eager task gave a wrong result");
  });
}
void fiber_spawn_join(size_t k) {
  still_loop on;
  spawn(on.loop, [&] {
    for (size_t i = 0; i < k; ++i) await(spawn(on.loop, [] {}));
  });
}
void task_spawn_join(size_t k) {
  still_loop on;
  spawn(on.loop, [&]() -> task<void> {
    auto nothing = []() -> task<void> { co_return; };
    for (size_t i = 0; i < k; ++i) {
      auto handle = spawn(on.loop, nothing);
      co_await handle;
    }
  });
}

// From another thread, as it were: the loop does not run meanwhile.
void job_posted_and_run(size_t k) {
  still_loop on;
  for (size_t left = k; left;) {
    for (size_t i = 0; i < crowd && left; ++i, --left) hocket::post(on.loop, [] {});
    on.loop.run();
  }
}

// --- waits

template <class Mutex>
void lock_in_fiber(size_t k) {
  Mutex m;
  still_loop on;
  spawn(on.loop, [&m, k] {
    for (size_t i = 0; i < k; ++i) {
      auto held = await(m.lock());
      must(held.has_value(), "a free mutex was not locked");
    }
  });
}
template <class Mutex>
void lock_in_task(size_t k) {
  Mutex m;
  still_loop on;
  spawn(on.loop, [&m, k]() -> task<void> {
    for (size_t i = 0; i < k; ++i) {
      auto held = co_await m.lock();
      must(held.has_value(), "a free mutex was not locked");
    }
  });
}

// Two coroutines set an event for one another: a unit is one wait that suspends.
void wait_in_fiber(size_t k) {
  hocket::auto_reset_event events[2];
  still_loop on;
  for (size_t me : {size_t{0}, size_t{1}})
    spawn(on.loop, [&events, me, k] {
      for (size_t i = 0; i < k / 2; ++i) {
        if (me == 0) events[1].set();
        must(await(events[me].wait()).has_value(), "a wait was not granted");
        if (me == 1) events[0].set();
      }
    });
}
void wait_in_task(size_t k) {
  hocket::auto_reset_event events[2];
  still_loop on;
  for (size_t me : {size_t{0}, size_t{1}})
    spawn(on.loop, [&events, me, k]() -> task<void> {
      for (size_t i = 0; i < k / 2; ++i) {
        if (me == 0) events[1].set();
        auto set = co_await events[me].wait();
        must(set.has_value(), "a wait was not granted");
        if (me == 1) events[0].set();
      }
    });
}
void timed_wait_in_fiber(size_t k) {
  hocket::auto_reset_event events[2];
  still_loop on;
  for (size_t me : {size_t{0}, size_t{1}})
    spawn(on.loop, [&events, me, k] {
      for (size_t i = 0; i < k / 2; ++i) {
        if (me == 0) events[1].set();
        must(await(within(far, events[me].wait())).has_value(), "a wait was not granted");
        if (me == 1) events[0].set();
      }
    });
}
struct operation {
  const char* name;
  void (*run)(size_t k);
};
constexpr operation operations[] = {
    {"coroutine_round_trip", coroutine_round_trip},
    {"dense_round_trip", dense_round_trip},
    {"stack_acquire_release", stack_acquire_release},
    {"coroutine_life", coroutine_life},
    {"fiber_yield", fiber_yield},
    {"fiber_yield_alone", fiber_yield_alone},
    {"task_yield", task_yield},
    {"task_yield_alone", task_yield_alone},
    {"task_call", task_call},
    {"task_call_in_fiber", task_call_in_fiber},
    {"eager_call", eager_call},
    {"fiber_spawn_join", fiber_spawn_join},
    {"task_spawn_join", task_spawn_join},
    {"job_posted_and_run", job_posted_and_run},
    {"task_tree", counts::task_tree},
    {"forked_tasks", counts::forked_tasks},
    {"forked_callables", counts::forked_callables},
    {"forked_each", counts::forked_each},
    {"generator_value", counts::generator_value},
    {"generator_reference", counts::generator_reference},
    {"generator_value_100_deep", counts::generator_value_100_deep},
    {"generator_nested_life", counts::generator_nested_life},
    {"async_generator_value", counts::async_generator_value},
    {"lock_in_fiber", lock_in_fiber<hocket::mutex>},
    {"lock_in_task", lock_in_task<hocket::mutex>},
    {"unsync_lock_in_fiber", lock_in_fiber<hocket::unsync::mutex>},
    {"unsync_lock_in_task", lock_in_task<hocket::unsync::mutex>},
    {"set_event_in_fiber", counts::set_event_in_fiber},
    {"set_event_in_task", counts::set_event_in_task},
    {"channel_item_in_fiber", counts::channel_item_in_fiber},
    {"channel_item_in_task", counts::channel_item_in_task},
    {"spsc_channel_item_in_task", counts::spsc_channel_item_in_task},
    {"channel_trip_in_task", counts::channel_trip_in_task},
    {"spsc_channel_trip_in_task", counts::spsc_channel_trip_in_task},
    {"wait_in_fiber", wait_in_fiber},
    {"wait_in_task", wait_in_task},
    {"timed_wait_in_fiber", timed_wait_in_fiber},
    {"timed_wait_in_task", counts::timed_wait_in_task},
    {"select_in_fiber", counts::select_in_fiber},
    {"select_wait_in_fiber", counts::select_wait_in_fiber},
    {"select_wait_in_task", counts::select_wait_in_task},
    {"timer_from_now", counts::timer_from_now},
    {"timer_at_a_time", counts::timer_at_a_time},
    {"park_with_nothing_to_decay", counts::park_with_nothing_to_decay},
    {"turn_with_nothing_to_run", counts::turn_with_nothing_to_run},
    {"request_in_task", counts::request_in_task},
    {"request_borrowed_in_task", counts::request_borrowed_in_task},
    {"request_in_fiber", counts::request_in_fiber},
    {"http_head_of_40_bytes", counts::http_head_of_40_bytes},
    {"http_head_of_291_bytes", counts::http_head_of_291_bytes},
    {"http_head_in_pieces", counts::http_head_in_pieces},
};

// A select begins its search by chance: always the same chance, so that two counts can be compared to the instruction.
void begin_chances_anew() noexcept {
  hocket::replace_seed_source([]() noexcept -> std::uint64_t { return 1; });
}

// The due decay would depend on the time that the operations took.
void let_no_stack_decay() {
  hocket::stack_depot& stacks = hocket::stack_depot::shared();
  hocket::stack_options options = stacks.options();
  options.decay = std::chrono::hours(24);
  stacks.tune(options);
}

}  // namespace

// Two dumps for each operation, labelled "<name> <k>". `counts <k>`: just k units of each. `counts frames`: bytes.
int main(int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "frames") == 0) {
    counts::print_frames();
    return 0;
  }
  if (argc == 2) {
    for (const operation& each : operations) each.run(std::strtoul(argv[1], nullptr, 10));
    return 0;
  }
  let_no_stack_decay();
  for (const operation& each : operations) {
    each.run(5 * 1024);  // so that what grows has grown
    for (size_t k : {1024, 5 * 1024}) {
      begin_chances_anew();
      char label[64];
      std::snprintf(label, sizeof label, "%s %zu", each.name, k);
      counts::begin();
      each.run(k);
      counts::end(label);
    }
  }
}
