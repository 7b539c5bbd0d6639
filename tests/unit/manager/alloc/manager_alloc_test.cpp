// FAULTS 63 for task managers: each allocation of making one, of a spawn, an expectation and a deadline fails once. The
// failure leaves this call; no place, no count and no enrolment is lost by it, and the next call succeeds. The
// same for exceptions of a callable that is copied, and of a reply that is moved.
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/or_throw.hpp>

#include "suites/managed_world.hpp"
#include "support/alloc.hpp"
#include "unit/coro/queue_executor.hpp"

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <new>
#include <stdexcept>

using namespace hocket;
using namespace hocket_test;

namespace {

task<> stand(event& gate, counted) {
  counted local;
  co_await or_throw(gate.wait());
}

// A manager on a loop, and the outcome of the calls.
struct trial {
  manual_clock time;
  event gate;
  loop lp{{.clock = &time}};
  task_manager tm{lp};
  std::size_t spawned = 0, promised = 0, failures = 0;
  std::array<expectation<int>, 3> replies;

  template <class Call>
  bool attempt(Call call) {
    try {
      call();
      return true;
    } catch (const std::bad_alloc&) {
      ++failures;
      return false;
    }
  }
  void step(std::size_t i) {
    task_id id = task_id::none;
    const duration within = i == 0 ? duration::max() : i * 1s;
    const task_options options{.within = within, .group = i};
    if (attempt([&] { id = spawn(tm, options, stand, std::ref(gate), counted{}).id(); })) ++spawned;
    if (attempt([&] { replies[i] = tm.expect<int>({.within = within, .group = i}); })) ++promised;
    if (id != task_id::none) attempt([&] { CHECK_FALSE(tm.set_deadline(id, 1h)); });
  }
  void check() {
    const manager_counts counts = tm.counts();
    CHECK(counts.live == spawned);
    CHECK(counts.spawned == spawned);
    CHECK(counts.expected == promised);
    CHECK(counts.promised == promised);
    CHECK(counts.refused == 0);
    CHECK(tm.size() == spawned + promised);
    std::size_t met = 0;
    tm.for_each([&](const task_info&) { ++met; });
    CHECK(met == spawned + promised);
    CHECK(tm.group_size(1) + tm.group_size(2) <= spawned + promised);
  }
  void end() {
    tm.kill_all();
    while (lp.poll()) continue;
    CHECK(tm.size() == 0);
    CHECK(tm.group_size(1) + tm.group_size(2) == 0);
    const manager_counts counts = tm.counts();
    CHECK(counts.killed == spawned);
    CHECK(counts.abandoned == counts.promised);
    CHECK(lp.live() == 0);
    CHECK(counted::live == 0);
  }
};

// A callable that cannot be copied.
struct stubborn {
  explicit stubborn(event& at) : gate(&at) {}
  stubborn(const stubborn& other) : gate(other.gate) { throw std::runtime_error("not copied"); }
  task<> operator()() { return stand(*gate, counted{}); }
  event* gate;
};

// A value that cannot be moved twice: it arrives at the manager, and no further.
struct fragile {
  fragile() = default;
  fragile(fragile&& other) : moves(other.moves + 1) {
    if (moves > 0) throw std::runtime_error("not moved");
  }
  int moves = 0;
};

}  // namespace

TEST_CASE("fault 63: every allocation of spawns, replies and deadlines fails once, and nothing is lost") {
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    CAPTURE(failing);
    trim_frame_memory();
    trial t;
    {
      allocation_watch watch(failing);
      for (std::size_t i = 0; i < t.replies.size(); ++i) t.step(i);
      failed = watch.has_failed();
    }
    CHECK(t.failures == failed);
    t.check();
    t.replies[0] = {};
    t.step(0);  // in place of the one that was dropped
    t.end();
  }
  CHECK(failing > 4);
}

TEST_CASE("fault 63: a manager that cannot be made leaves its loop as it was") {
  manual_clock time;
  loop lp({.clock = &time});
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    allocation_watch watch(failing);
    try {
      task_manager tm(lp);
    } catch (const std::bad_alloc&) {
    }
    failed = watch.has_failed();
  }
  CHECK(failing > 2);
  CHECK(lp.live() == 0);
}

TEST_CASE("a spawn whose callable throws as it is copied leaves nothing behind") {
  trial t;
  const stubborn call(t.gate);
  CHECK_THROWS_AS(spawn(t.tm, {.within = 1s, .group = 1}, call), std::runtime_error);
  CHECK(t.tm.size() == 0);
  CHECK(t.tm.group_size(1) == 0);
  CHECK(t.tm.counts().spawned == 0);
  while (t.lp.poll()) continue;
  CHECK(t.lp.live() == 0);
  t.step(1);
  t.check();
  t.end();
}

TEST_CASE("the memory of a coroutine that was stopped by id is used again") {
  trial t;
  const auto stop_by = [&t](std::error_code (task_manager::*stop)(task_id)) {
    const task_id id = spawn(t.tm, stand, std::ref(t.gate), counted{}).id();
    while (t.lp.poll()) continue;
    CHECK_FALSE((t.tm.*stop)(id));
    while (t.lp.poll()) continue;
    CHECK(t.tm.size() == 0);
  };
  stop_by(&task_manager::cancel);
  stop_by(&task_manager::kill);
  allocation_watch watch;
  stop_by(&task_manager::cancel);
  stop_by(&task_manager::kill);
  CHECK(watch.allocations() == 0);
}

TEST_CASE("a reply that throws as it is moved fails") {
  trial t;
  auto reply = t.tm.expect<fragile>({.within = 1s, .group = 1});
  CHECK_THROWS_AS(static_cast<void>(t.tm.complete(reply.id(), fragile())), std::runtime_error);
  CHECK(sync_wait(reply).error() == std::errc::broken_pipe);
  CHECK(t.tm.counts().completed == 1);
  CHECK(t.tm.size() == 0);
  while (t.lp.poll()) continue;
  CHECK(t.lp.live() == 0);
}
