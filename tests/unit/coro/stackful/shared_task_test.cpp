// Shared tasks on loops: who runs the body, and what ends it.
#include <hocket/coro/shared_task.hpp>

#include <hocket/base/error.hpp>
#include <hocket/coro/oneshot.hpp>
#include <hocket/coro/scope.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include <chrono>
#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <thread>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

shared_task<int> shared_plus(event& until, int n, std::string& how) {
  auto waited = co_await until.wait();
  how = waited ? "ended" : "cancelled";
  if (!waited) detail::throw_error(waited.error());
  co_return n + 1;
}

}  // namespace

TEST_CASE("tasks and fibers of one loop share a body, which the loop runs to its end") {
  loop lp;
  event go;
  std::string how;
  auto t = shared_plus(go, 1, how);
  int sum = 0;
  auto by_task = [&]() -> task<> { sum += co_await t; };
  spawn(lp, [&] { sum += await(t); });
  spawn(lp, by_task);
  spawn(lp, [&] { go.set(); });
  lp.run();
  CHECK(sum == 4);
  CHECK(lp.live() == 0);
}

TEST_CASE("the body is not stopped with the scope and the deadline of its first awaiter") {
  loop lp;
  event go;
  std::string how;
  auto t = shared_plus(go, 1, how);
  std::error_code first;
  spawn(lp, [&] {
    scope mortal({.within = 1ms});
    auto h = spawn(mortal, [&] { return await(t.wait()).error(); });
    first = await(h);
  });
  auto h = spawn(lp, [&] {
    while (!first) await(yield());
    go.set();
    return await(t);
  });
  lp.run();
  CHECK(first == std::errc::timed_out);
  CHECK(sync_wait(h) == 2);
  CHECK(how == "ended");
}

TEST_CASE("a loop that is destroyed kills the body, and those who await it elsewhere learn that") {
  event never;
  std::string how;
  auto t = shared_plus(never, 1, how);
  std::optional<loop> doomed(std::in_place);
  t.start(*doomed);
  doomed->run_for(1ns);
  CHECK(doomed->live() == 1);
  loop lp;
  std::error_code error;
  spawn(lp, [&] { error = await(t.wait()).error(); });
  lp.run_for(1ns);
  doomed.reset();
  lp.run();
  CHECK(error == std::errc::operation_canceled);
  CHECK_THROWS_AS(sync_wait(t), cancelled);
  CHECK(how.empty());
}

TEST_CASE("a loop that is destroyed before the body has begun ends it as well") {
  event never;
  std::string how;
  auto t = shared_plus(never, 1, how);
  {
    loop lp;
    t.start(lp);
  }
  CHECK(t.is_ready());
  CHECK(sync_wait(t.wait()).error() == std::errc::operation_canceled);
}

TEST_CASE("the last handle that is dropped cancels the body") {
  loop lp;
  event never;
  std::string how;
  spawn(lp, [&] {
    auto t = shared_plus(never, 1, how);
    auto r = await(within(1ms, t.wait()));
    CHECK(r.error() == std::errc::timed_out);
  });
  lp.run();
  CHECK(how == "cancelled");
}

TEST_CASE("a thread waits for a body that a loop on another thread runs") {
  event go;
  std::string how;
  auto t = shared_plus(go, 1, how);
  loop lp;
  t.start(lp);
  std::thread runs([&] { lp.run(); });
  CHECK(sync_wait(within(1ms, t.wait())).error() == std::errc::timed_out);
  go.set();
  CHECK(sync_wait(t) == 2);
  runs.join();
}
