// How calls end beside the end of their pool or their runtime, and beside what stops their coroutine.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/death.hpp"
#include "unit/runtime/dump_table.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <memory>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// A source that grants nothing, and is called by the party that ended a wait.
class slow_source final : public primitive::wait_source {
 public:
  const char* what() const noexcept override { return "a slow source"; }
  bool detach(primitive::waiter&) noexcept override {
    asked = true;
    asked.notify_all();
    go.wait(false);
    return true;
  }
  void pass_on(primitive::waiter&) noexcept override {}

  std::atomic<bool> asked{false}, go{false};
};

// Waits for a call, and for a slow_source, which is released first.
struct call_beside {
  using value_type = void;
  static constexpr std::size_t waiters = 2;

  static bool try_now() noexcept { return false; }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    call.begin(wait, entry);
    (&entry)[1].enlist(wait, *beside);
  }
  result<void> take() { return call.take(); }
  void resumed() noexcept { call.resumed(); }

  detail::blocking_operation call;
  slow_source* beside;
};

// Waits for a call only after a thread has taken that out of the line, if it stands there.
struct call_once_taken {
  using value_type = void;

  static bool try_now() noexcept { return false; }
  void begin(primitive::suspension& wait, primitive::waiter& entry) noexcept {
    call.begin(wait, entry);
    while (call.pool().statistics().queued != 0) std::this_thread::yield();
  }
  result<void> take() { return call.take(); }
  void resumed() noexcept { call.resumed(); }

  detail::blocking_operation call;
};

struct counted_job : detail::blocking_job {
  counted_job() noexcept : blocking_job{&counted_job::run_one} {}
  static void run_one(blocking_job& self) noexcept { ++static_cast<counted_job&>(self).runs; }
  std::atomic<int> runs{0};
};

}  // namespace

TEST_CASE("a pool may be gone before whoever cancels a call of it has done with that") {
  std::atomic<bool> holds{false}, open{false};
  slow_source beside;
  counted_job job;
  loop lp;
  auto pool = std::make_unique<blocking_pool>(blocking_pool_options{.threads = 1});
  auto hold = [&]() -> task<> {
    auto done = co_await blocking(*pool, [&] {
      holds = true;
      holds.notify_all();
      open.wait(false);
    });
    CHECK(done.has_value());
  };
  auto wait = [&]() -> task<std::error_code> {
    auto done = co_await primitive::operation(call_beside{detail::blocking_operation(*pool, &job), &beside});
    co_return done ? std::error_code{} : done.error();
  };
  spawn(lp, hold);
  lp.step();
  holds.wait(false);
  auto waits = spawn(lp, wait);
  lp.step();
  std::thread cancels([&] { waits.cancel(); });
  beside.asked.wait(false);
  open = true;
  open.notify_all();
  pool.reset();
  CHECK_FALSE(waits.done());
  beside.go = true;
  beside.go.notify_all();
  cancels.join();
  lp.run();
  CHECK(sync_wait(std::move(waits)) == std::errc::operation_canceled);
  CHECK(job.runs == 0);
}

TEST_CASE("calls that are cancelled while their pool ends run or do not, and are told so") {
  for (int round = 0; round < 200; ++round) {
    loop lp;
    std::atomic<int> ran{0};
    auto pool = std::make_unique<blocking_pool>(blocking_pool_options{.threads = 1});
    auto call = [&]() -> task<std::error_code> {
      auto done = co_await blocking(*pool, [&] { ++ran; });
      co_return done ? std::error_code{} : done.error();
    };
    std::vector<join_handle<std::error_code>> handles;
    for (int i = 0; i < 10; ++i) handles.push_back(spawn(lp, call));
    lp.poll();
    std::thread cancels([&] {
      for (auto& h : handles) h.cancel();
    });
    pool.reset();
    cancels.join();
    lp.run();
    int told = 0;
    for (auto& h : handles) {
      const std::error_code end = sync_wait(std::move(h));
      if (!end) ++told;
      else CHECK(end == std::errc::operation_canceled);
    }
    CHECK(told == ran);
  }
}

TEST_CASE("a call of a coroutine that was stopped before never runs") {
  counted_job job;
  blocking_pool pool({.threads = 1});
  loop lp;
  join_handle<std::error_code> self;
  bool kill = false;
  auto body = [&]() -> task<std::error_code> {
    if (kill) self.kill();
    else self.cancel();
    auto done = co_await primitive::operation(call_once_taken{detail::blocking_operation(pool, &job)});
    co_return done ? std::error_code{} : done.error();
  };
  SUBCASE("cancelled") { kill = false; }
  SUBCASE("killed") { kill = true; }
  self = spawn(lp, body);
  lp.run();
  auto end = sync_wait(self.join());
  CHECK((end.has_value() ? *end : end.error()) == std::errc::operation_canceled);
  CHECK(job.runs == 0);
  CHECK(pool.statistics().begun == 0);
}

TEST_CASE("a runtime that a blocking call of its own destroys or shuts down is fatal") {
  expect_fatal(
      [] {
        auto* rt = new hocket::runtime({.workers = 1});
        auto body = [rt]() -> task<> { [[maybe_unused]] auto done = co_await blocking([rt] { delete rt; }); };
        sync_wait(spawn(*rt, body));
      },
      "a runtime was destroyed by one of its own coroutines, or by a blocking call of one");
  expect_fatal(
      [] {
        hocket::runtime rt({.workers = 1});
        auto ends = [&rt] { rt.shutdown({.drain = duration::max()}); };
        auto indirectly = [&] { [[maybe_unused]] auto done = sync_wait(blocking(ends)); };
        auto body = [&]() -> task<> { [[maybe_unused]] auto done = co_await blocking(indirectly); };
        sync_wait(spawn(rt, body));
      },
      "a runtime was shut down by one of its own coroutines, or by a blocking call of one");
}

TEST_CASE("a blocking call may end another runtime than that of its coroutine") {
  blocking_pool pool;
  hocket::runtime rt({.workers = 1});
  auto other = std::make_unique<hocket::runtime>(runtime_options{.workers = 1});
  auto body = [&]() -> task<bool> {
    auto done = co_await blocking(pool, [&] { other.reset(); });
    co_return done.has_value();
  };
  CHECK(sync_wait(spawn(rt, body)));
}

TEST_CASE("a shutdown does not wait longer than it may for a call that runs, and reports what it leaves") {
  std::atomic<bool> runs{false}, open{false};
  blocking_pool pool;
  hocket::runtime rt({.workers = 2});
  auto body = [&]() -> task<int> {
    auto done = co_await blocking(pool, [&] {
      runs = true;
      runs.notify_all();
      open.wait(false);
      return 7;
    });
    co_return done.value();
  };
  auto h = spawn(rt, {.name = "caller"}, body);
  runs.wait(false);
  const memory_file report;
  const auto told = rt.shutdown({.cancel = duration::zero(), .kill = duration::zero(), .report = report.fd});
  CHECK(told.remaining == 1);
  CHECK(report.text().find("caller") != std::string::npos);
  std::string whole;
  do {
    const memory_file dumped;
    rt.dump(dumped.fd);
    whole = dumped.text();
  } while (whole.find("does not come back") != std::string::npos);  // the machine did not give it any time
  CHECK(whole.find("a blocking call") != std::string::npos);
  open = true;
  open.notify_all();
  CHECK(rt.shutdown({.drain = duration::max()}).remaining == 0);
  CHECK(sync_wait(std::move(h)) == 7);
}
