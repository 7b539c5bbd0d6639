// Drivers as a service: made by the first operation that needs one, for a loop, for each worker, for a plain thread.
#include <hocket/base/fatal.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"
#include "unit/runtime/reads.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<> nothing() { co_return; }
task<int> same(int n) { co_return n; }

std::string noticed;
const log_handler note = [](const char* text) noexcept { noticed = text; };

// Whether a wait on that loop is refused, and the notice says why.
void expect_refusal(loop& lp, const wire& line, const char* why) {
  noticed.clear();
  const log_handler before = set_log_handler(note);
  auto refused = spawn(lp, read_one, std::cref(line));
  lp.run();
  set_log_handler(before);
  CHECK(sync_wait(std::move(refused)) == std::errc::not_supported);
  CAPTURE(noticed);
  CHECK(noticed.find(why) != std::string::npos);
}

}  // namespace

TEST_CASE("a driver is made by the first wait, and where none begins there is none") {
  readiness_drivers io;
  wire line;
  loop lp;
  spawn(lp, nothing);
  lp.run();
  CHECK(io.creation_attempts == 0);
  line.send();
  auto first = spawn(lp, read_one, std::cref(line));
  lp.run();
  CHECK(sync_wait(std::move(first)) == std::error_code{});
  line.send();
  auto second = spawn(lp, read_one, std::cref(line));
  lp.run();
  CHECK(sync_wait(std::move(second)) == std::error_code{});
  CHECK(io.creation_attempts == 1);
}

TEST_CASE("each worker makes a driver at its own first wait, and ends it with the runtime") {
  readiness_drivers io;
  wire line;
  {
    hocket::runtime rt({.workers = 4});
    line.send();
    CHECK(sync_wait(spawn(rt, read_one, std::cref(line))) == std::error_code{});
    CHECK(io.count() == 1);
    io.on(rt);
    CHECK(io.count() == 4);
  }
  CHECK(io.count() == 0);
  CHECK(io.creation_attempts == 4);
}

TEST_CASE("run() has I/O without more ado") {
  readiness_drivers io;
  wire line;
  line.send();
  CHECK(run(read_one, std::cref(line)) == std::error_code{});
}

TEST_CASE("the driver of a plain thread stays from one wait to the next, and ends with the thread") {
  readiness_drivers io;
  wire line;
  std::thread([&] {
    for (int i = 0; i < 3; ++i) {
      line.send();
      CHECK(sync_wait(readable(line.fd())).has_value());
      CHECK(line.take());
      line.send();
      CHECK(sync_wait(read_one(line)) == std::error_code{});
      const unsigned parks = io[0].parks();
      CHECK(sync_wait(within(1ms, readable(line.fd()))).error() == std::errc::timed_out);
      CHECK(io[0].parks() != parks);  // it slept there
    }
    CHECK(io.count() == 1);
  }).join();
  CHECK(io.creation_attempts == 1);
  CHECK(io.count() == 0);
}

TEST_CASE("a plain thread that sleeps in its driver is woken by a post") {
  readiness_drivers io;
  wire line;
  line.send();
  std::thread([&] {
    CHECK(sync_wait(read_one(line)) == std::error_code{});
    hocket::runtime rt({.workers = 1});
    for (int i = 0; i < 1000; ++i) CHECK(sync_wait(spawn(rt, same, i)) == i);
  }).join();
}

TEST_CASE("a thread that ends has no I/O any more") {
  struct late {
    readiness_drivers* io = nullptr;
    int fd = -1;
    std::error_code* seen = nullptr;
    ~late() {
      if (io) *seen = sync_wait(readable(*io, fd)).error();
    }
  };
  readiness_drivers io;
  wire line;
  line.send();
  std::error_code seen;
  std::thread([&] {
    thread_local late last;  // made before the thread's driver, so destroyed after it
    last.io = &io;
    last.fd = line.fd();
    last.seen = &seen;
    CHECK(sync_wait(read_one(line)) == std::error_code{});
  }).join();
  CHECK(seen == std::errc::not_supported);
  CHECK(io.creation_attempts == 1);
}

TEST_CASE("a driver that cannot be made is the error of the operation that asked, and the next one asks again") {
  readiness_drivers io;
  io.fails = std::make_error_code(std::errc::too_many_files_open);
  wire line;
  line.send();
  loop lp;
  auto refused = spawn(lp, read_one, std::cref(line));
  lp.run();
  CHECK(sync_wait(std::move(refused)) == std::errc::too_many_files_open);
  io.fails = {};
  auto served = spawn(lp, read_one, std::cref(line));
  lp.run();
  CHECK(sync_wait(std::move(served)) == std::error_code{});
  CHECK(io.creation_attempts == 2);
}

TEST_CASE("a second kind of driver on one loop is refused, by name") {
  readiness_drivers first, second;
  wire line;
  loop lp;
  first.on(lp);
  expect_refusal(lp, line, "it has one of another kind");  // the newest is the second
  CHECK(noticed.find("\"loop\" cannot have a driver of the kind \"readiness\"") != std::string::npos);
  CHECK(second.creation_attempts == 0);
}

TEST_CASE("a driver that belongs to one thread is refused by loops, and not by workers and plain threads") {
  readiness_drivers io;
  io.of_one_thread = true;
  wire line;
  {
    loop lp;
    expect_refusal(lp, line, "belongs to one thread");
  }
  hocket::runtime rt({.workers = 1});
  line.send();
  CHECK(sync_wait(spawn(rt, read_one, std::cref(line))) == std::error_code{});
  line.send();
  std::thread([&] { CHECK(sync_wait(read_one(line)) == std::error_code{}); }).join();
}

TEST_CASE("a loop with a clock of its own takes only a driver that follows it") {
  readiness_drivers io;
  manual_clock time;
  wire line;
  {
    loop lp({.clock = &time});
    expect_refusal(lp, line, "does not sleep by its clock");
  }
  io.clock = &time;
  loop lp({.clock = &time});
  readiness_driver& own = io.on(lp);
  auto reads = spawn(lp, read_one, std::cref(line));
  std::atomic<bool> returned{false};
  std::thread other([&] {
    while (!own.sleeps() && !returned) std::this_thread::yield();
    line.send();
  });
  lp.run();  // sleeps in the driver: without one it would return
  returned = true;
  other.join();
  REQUIRE(reads.done());
  CHECK(sync_wait(std::move(reads)) == std::error_code{});
}

TEST_CASE("a parker that watches no descriptor leaves its loop without I/O") {
  readiness_drivers io;
  manual_clock time;
  simulated_parker park(time);
  wire line;
  loop lp({.clock = &time, .parker = &park});
  expect_refusal(lp, line, "a parker that watches no such descriptor");
  CHECK(io.count() == 0);
}

TEST_CASE("a loop that runs in its parker sees I/O and posts") {
  readiness_drivers io;
  descriptor_parker bell;
  wire line;
  loop lp({.parker = &bell});
  for (int i = 0; i < 200; ++i) {
    auto reads = spawn(lp, read_one, std::cref(line));
    std::thread other([&] {
      if (i % 2 == 0) line.send();
      spawn(lp, nothing);
      if (i % 2 != 0) line.send();
    });
    lp.run();
    other.join();
    CHECK(sync_wait(std::move(reads)) == std::error_code{});
  }
}

TEST_CASE("a driver that comes while its loop runs, after sleeps that others have ended, loses nothing") {
  for (int round = 0; round < 300; ++round) {
    readiness_drivers io;
    wire line;
    loop lp;
    int posts = 0;
    std::thread other([&] {
      for (int i = 0; i < 3; ++i) spawn(lp, [&posts]() -> task<> { co_return static_cast<void>(++posts); });
      line.send();
      spawn(lp, [&posts]() -> task<> { co_return static_cast<void>(++posts); });
    });
    auto reads = spawn(lp, [&]() -> task<std::error_code> {
      while (posts == 0) co_await yield();
      co_return co_await read_one(line);
    });
    lp.run();
    other.join();
    lp.run();
    CHECK(posts == 4);
    CHECK(sync_wait(std::move(reads)) == std::error_code{});
  }
}

TEST_CASE("in a child, a loop with a driver of its parent must not run, and ends without touching that") {
  readiness_drivers io;
  wire line;
  auto lp = std::make_unique<loop>();
  io.on(*lp);
  expect_fatal([&] { lp->run(); }, "a driver was used in a child of the process that made it");
  expect_fatal(
      [&] {
        lp.reset();
        if (io.count() == 1) detail::fatal("the driver was left alone", "none");
      },
      "the driver was left alone");
  auto reads = spawn(*lp, read_one, std::cref(line));
  lp->poll();
  line.send();
  lp->run();
  CHECK(sync_wait(std::move(reads)) == std::error_code{});
}

TEST_CASE("in a child, a plain thread gets a driver of its own") {
  readiness_drivers io;
  wire line;
  line.send();
  std::thread([&] {
    CHECK(sync_wait(read_one(line)) == std::error_code{});
    expect_fatal(
        [&] {
          line.send();
          if (sync_wait(read_one(line)) == std::error_code{} && io.creation_attempts == 2)
            detail::fatal("it has", "none");
        },
        "it has");
    line.send();
    CHECK(sync_wait(read_one(line)) == std::error_code{});
    CHECK(io.creation_attempts == 1);
  }).join();
}
