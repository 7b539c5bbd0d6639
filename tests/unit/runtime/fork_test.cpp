// What a child of fork() has of runtimes, pools and loops.
#include <hocket/base/fatal.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/sync/event.hpp>

#include "support/death.hpp"

#include <csignal>
#include <doctest/doctest.h>
#include <memory>
#include <sys/wait.h>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;

namespace {

task<int> answer() { co_return 42; }
task<> wait_for(event& bell) { [[maybe_unused]] auto set = co_await bell.wait(); }

}  // namespace

TEST_CASE("in a child, using a runtime of its parent is fatal") {
  event bell;
  hocket::runtime rt({.workers = 1});
  auto waits = spawn(rt, wait_for, std::ref(bell));
  expect_fatal([&] { spawn(rt, answer); }, "a runtime was used in a child of the process that made it");
  expect_fatal([&] { rt.shutdown(); }, "a runtime was used in a child of the process that made it");
  expect_fatal([&] { rt.dump(2); }, "a runtime was used in a child of the process that made it");
  expect_fatal([&] { rt.cancel_all(); }, "a runtime was used in a child of the process that made it");
  bell.set();
  sync_wait(std::move(waits));
}

TEST_CASE("in a child of a coroutine that forked, its worker does not go on") {
  expect_fatal(
      [] {
        hocket::runtime rt({.workers = 1});
        auto body = []() -> task<> {
          const pid_t child = ::fork();
          if (child == 0) co_return;
          int status = 0;
          ::waitpid(child, &status, 0);
          if (WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) detail::fatal("the child has aborted", "none");
        };
        sync_wait(spawn(rt, body));
      },
      "a runtime was used in a child of the process that made it");
}

TEST_CASE("in a child, using a pool of its parent is fatal") {
  blocking_pool pool;
  CHECK(sync_wait(blocking(pool, [] { return 1; })).value() == 1);
  expect_fatal([&] { static_cast<void>(sync_wait(blocking(pool, [] {}))); },
               "a blocking_pool was used in a child of the process that made it");
  expect_fatal([&] { static_cast<void>(pool.statistics()); },
               "a blocking_pool was used in a child of the process that made it");
}

TEST_CASE("in a child, destroying a runtime and a pool of its parent does nothing, and a loop goes on") {
  auto rt = std::make_unique<hocket::runtime>(runtime_options{.workers = 2});
  auto pool = std::make_unique<blocking_pool>();
  CHECK(sync_wait(blocking(*pool, [] { return 1; })).value() == 1);
  CHECK(sync_wait(spawn(*rt, answer)) == 42);
  loop lp;
  auto waits = spawn(lp, answer);
  expect_fatal(
      [&] {
        rt.reset();
        pool.reset();
        lp.run();
        if (sync_wait(std::move(waits)) == 42) detail::fatal("the end of the child", "none");
      },
      "the end of the child");
  lp.run();
  CHECK(sync_wait(std::move(waits)) == 42);
}
