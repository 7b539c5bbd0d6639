// Orphans: a process that adopts the children of ended processes reaps these, and takes the status of none of its own.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/children.hpp"
#include "support/death.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <doctest/doctest.h>
#include <string>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

// As a process with the id 1.
template <class Body>
void expect_as_subreaper(Body body) {
  expect_return([&] {
    CHECK(::prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0);
    body();
    while (::waitpid(-1, nullptr, 0) > 0) {
    }
  });
}

constexpr std::string_view leave_orphan = "exec 3<&0; cat <&3 & exit 3";  // which ends with the input

// The orphan has closed its output when this returns.
void make_orphan() {
  process child = process::start({"sh", "-c", leave_orphan}, {.in = process::pipe, .out = process::pipe}).value();
  CHECK(sync_wait(child.wait()) == exit_status(3));
  child.in().close();
  CHECK(sync_wait(read_all(child.out())) == "");
}

// A pipe ends a moment before its process.
void reap(std::size_t count) {
  std::size_t reaped = 0;
  while (reaped < count) reaped += process::reap_orphans();
  CHECK(reaped == count);
  CHECK(process::reap_orphans() == 0);
}

}  // namespace

TEST_CASE("orphans are reaped and counted, and none is there without them" * doctest::skip(starts_no_children())) {
  expect_as_subreaper([] {
    CHECK(process::reap_orphans() == 0);
    for (int i = 0; i < 3; ++i) make_orphan();
    reap(3);
  });
}

TEST_CASE("orphans are reaped beside own children, which keep their status" * doctest::skip(starts_no_children())) {
  expect_as_subreaper([] {
    process ended = process::start({"sh", "-c", "exit 5"}).value();
    process killed = process::start({"cat"}, {.in = process::pipe}).value();
    process runs = process::start({"cat"}, {.in = process::pipe}).value();
    CHECK(killed.signal(SIGKILL).has_value());
    {
      process detached = process::start({"true"}).value();
    }
    make_orphan();
    for (std::size_t reaped = 0; reaped < 1;) reaped += process::reap_orphans();
    CHECK(sync_wait(ended.wait()) == exit_status(5));
    CHECK(sync_wait(killed.wait()).value().signal() == SIGKILL);
    CHECK(process::reap_orphans() == 0);
    runs.in().close();
    while (process::reap_orphans() == 0 && !sync_wait(within(0ms, runs.wait()))) {
    }
    CHECK(sync_wait(runs.wait()) == exit_status(0));
    CHECK(sync_wait(ended.wait()) == exit_status(5));
  });
}

TEST_CASE("a wait that has begun learns of a child that reap_orphans() has reaped" *
          doctest::skip(starts_no_children())) {
  expect_as_subreaper([] {
    loop lp;
    process child = process::start({"sh", "-c", "read line; exit 6"}, {.in = process::pipe}).value();
    auto code = spawn(
        lp, [](process& awaited) -> task<int> { co_return (co_await awaited.wait()).value_or(exit_status(-1)); },
        std::ref(child));
    lp.poll();
    child.in().close();
    siginfo_t facts{};
    CHECK(::waitid(P_PID, static_cast<id_t>(child.id()), &facts, WEXITED | WNOWAIT) == 0);
    CHECK(process::reap_orphans() == 0);
    CHECK(::waitid(P_PID, static_cast<id_t>(child.id()), &facts, WEXITED | WNOHANG) == -1);
    lp.run_until(code);
    CHECK(sync_wait(code) == 6);
  });
}

TEST_CASE("children that are started and end while another thread reaps orphans keep their status" *
          doctest::skip(starts_no_children())) {
  expect_as_subreaper([] {
    std::atomic<bool> over{false};
    std::atomic<std::size_t> reaped{0};
    std::thread reaper([&] {
      while (!over) reaped += process::reap_orphans();
    });
    std::vector<std::thread> starters;
    for (int thread = 0; thread < 3; ++thread) {
      starters.emplace_back([] {
        for (int i = 0; i < 30; ++i) {
          const int code = i % 100;
          process child = process::start({"sh", "-c", "exit " + std::to_string(code)}).value();
          CHECK(sync_wait(child.wait()) == exit_status(code));
          CHECK_FALSE(process::start({"/no/such/program"}).has_value());
        }
      });
    }
    for (std::thread& starter : starters) starter.join();
    over = true;
    reaper.join();
    CHECK(reaped == 0);
  });
}

TEST_CASE("a coroutine reaps orphans after each SIGCHLD" * doctest::skip(starts_no_children())) {
  expect_as_subreaper([] {
    loop lp;
    std::size_t reaped = 0;
    signal_set ended{SIGCHLD};
    auto reaper = spawn(lp, [&]() -> task<> {
      while (reaped < 2) {
        const auto signal = co_await ended.next();
        CHECK(signal == SIGCHLD);
        reaped += process::reap_orphans();
      }
    });
    auto maker = spawn(lp, []() -> task<> {
      for (int i = 0; i < 2; ++i) {
        process child = process::start({"sh", "-c", leave_orphan}, {.in = process::pipe}).value();
        const result<exit_status> status = co_await child.wait();
        CHECK(status == exit_status(3));
      }
    });
    lp.run_until(maker);
    lp.run_until(reaper);
    CHECK(reaped == 2);
  });
}
