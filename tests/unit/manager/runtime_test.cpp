// Task managers on runtimes: deadlines by the machine's clock, and the end of a manager, with tasks; in stackful/ with
// fibers. What the manager's own coroutines, and replies that others hold, do beside its end.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "suites/managed_world.hpp"
#include "support/death.hpp"
#include "support/runtime_look.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

struct shared_trace {
  event gate;
  std::atomic<int> begun{0}, gone{0};
};

struct being {
  explicit being(shared_trace& of) noexcept : t(of) { ++t.begun; }
  being(const being&) = delete;
  ~being() { ++t.gone; }
  shared_trace& t;
};

task<> stand(shared_trace& t) {
  being here(t);
  co_await or_throw(t.gate.wait());
}

task<> stand_with_child(shared_trace& t) {
  being here(t);
  spawn(stand, std::ref(t));
  co_await or_throw(t.gate.wait());
}

// Uses its manager as it unwinds.
struct last_words {
  task_manager& tm;
  task_id reply;
  std::atomic<int>& completed;
  ~last_words() {
    if (!tm.complete(reply, 1)) ++completed;
    static_cast<void>(tm.find(reply));
    static_cast<void>(tm.cancel_group(1));
    static_cast<void>(tm.counts());
  }
};
task<> speak_last(task_manager& tm, task_id reply, shared_trace& t, std::atomic<int>& completed) {
  last_words at_end{tm, reply, completed};
  being here(t);
  co_await or_throw(t.gate.wait());
}

task<> wait_for(task_manager& tm, task_id id, std::atomic<int>& told) {
  auto how = co_await tm.wait(id);
  if (how ? *how == outcome_kind::killed : how.error() == std::errc::operation_canceled) ++told;
}

task<> leave_manager(runtime& rt, shared_trace& t) {
  task_manager tm(rt);
  auto left = spawn(tm, stand, std::ref(t));
  co_await yield();
}

task<> join_manager(runtime& rt, shared_trace& t, std::atomic<bool>& joined) {
  task_manager tm(rt);
  auto one = spawn(tm, {.within = 1ms}, stand, std::ref(t));
  auto all = co_await tm.join();
  joined = bool(all);
}

}  // namespace

TEST_CASE("a task that leaves a manager with coroutines in it is fatal") {
  expect_fatal(
      [] {
        shared_trace t;
        runtime rt({.workers = 1});
        sync_wait(spawn(rt, leave_manager, std::ref(rt), std::ref(t)));
      },
      "a task_manager was left by a task while its coroutines run");
}

TEST_CASE("deadlines pass on a runtime, wherever they are set") {
  shared_trace t;
  runtime rt({.workers = 2});
  task_manager tm(rt);
  auto one = spawn(tm, {.within = 1ms}, stand, std::ref(t));
  auto ended = sync_wait(one.join());
  CHECK(ended.error() == std::errc::timed_out);

  auto late = spawn(tm, {.within = 1h}, stand, std::ref(t));
  CHECK_FALSE(tm.set_deadline(late.id(), 1ms));
  auto ended_late = sync_wait(late.join());
  CHECK(ended_late.error() == std::errc::timed_out);

  auto reply = tm.expect<int>({.within = 1ms});
  CHECK(sync_wait(reply).error() == std::errc::timed_out);
  CHECK(sync_wait(tm.join()));
  const manager_counts counts = tm.counts();
  CHECK(counts.timed_out == 2);
  CHECK(counts.expired == 1);
}

TEST_CASE("a task may leave a manager that it has joined") {
  shared_trace t;
  std::atomic<bool> joined{false};
  runtime rt({.workers = 2});
  sync_wait(spawn(rt, join_manager, std::ref(rt), std::ref(t), std::ref(joined)));
  CHECK(joined);
  CHECK(t.gone == t.begun);
}

TEST_CASE("the end of a manager on a thread waits for all that is in it") {
  shared_trace t;
  runtime rt({.workers = 2});
  for (int round = 0; round < 50; ++round) {
    {
      task_manager tm(rt);
      for (int i = 0; i < 10; ++i) {
        spawn(tm, {.within = 1h, .group = i}, stand, std::ref(t));
        spawn(tm, stand_with_child, std::ref(t));
      }
    }
    CHECK(t.begun == t.gone);
  }
}

TEST_CASE("coroutines use their manager as they unwind at its end") {
  shared_trace t;
  std::atomic<int> completed{0};
  runtime rt({.workers = 2});
  std::vector<expectation<int>> replies;
  {
    task_manager tm(rt);
    for (int i = 0; i < 20; ++i) {
      replies.push_back(tm.expect<int>({.group = i % 2}));
      spawn(tm, speak_last, std::ref(tm), replies.back().id(), std::ref(t), std::ref(completed));
    }
    detail::runtime_look::wait_until_asleep(rt);
    CHECK(t.begun == 20);
  }
  CHECK(t.gone == 20);
  int received = 0, canceled = 0;
  for (auto& one : replies) {
    auto got = sync_wait(one);
    if (got) ++received;
    else if (got.error() == std::errc::operation_canceled) ++canceled;
  }
  CHECK(received == completed);
  CHECK(received + canceled == 20);
}

TEST_CASE("replies are awaited, taken and dropped elsewhere while their manager ends") {
  runtime rt({.workers = 2});
  for (int round = 0; round < 100; ++round) {
    auto tm = std::make_unique<task_manager>(rt);
    std::vector<expectation<int>> awaited, dropped;
    for (int i = 0; i < 10; ++i) {
      awaited.push_back(tm->expect<int>({.within = 1h}));
      dropped.push_back(tm->expect<int>({.within = 1h, .group = 1}));
    }
    for (std::size_t i = 0; i < 10; i += 2) CHECK_FALSE(tm->complete(awaited[i].id(), 7));
    std::atomic<int> received{0}, canceled{0};
    std::thread waits([&] {
      for (auto& one : awaited) {
        auto got = sync_wait(one);
        if (got) ++received;
        else if (got.error() == std::errc::operation_canceled) ++canceled;
      }
    });
    std::thread drops([&] { dropped.clear(); });
    tm.reset();
    waits.join();
    drops.join();
    REQUIRE(received == 5);
    REQUIRE(canceled == 5);
  }
}

TEST_CASE("waits for an id may be cancelled at the moment at which its manager ends") {
  constexpr int waiters = 30;
  shared_trace t;
  runtime rt({.workers = 1});
  for (int round = 0; round < 200; ++round) {
    std::atomic<int> told{0};
    auto tm = std::make_unique<task_manager>(rt);
    auto one = spawn(*tm, stand, std::ref(t));
    std::vector<join_handle<>> waiting;
    for (int i = 0; i < waiters; ++i) waiting.push_back(spawn(rt, wait_for, std::ref(*tm), one.id(), std::ref(told)));
    detail::runtime_look::wait_until_asleep(rt);
    std::thread cancels([&] {
      for (auto& each : waiting) each.cancel();
    });
    tm.reset();
    cancels.join();
    for (auto& each : waiting) sync_wait(each);
    REQUIRE(told == waiters);
  }
}
