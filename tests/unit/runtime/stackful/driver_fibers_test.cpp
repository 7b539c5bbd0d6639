// Fibers that wait at a driver, on a loop and on runtimes.
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/readiness_driver.hpp"
#include "unit/runtime/wire.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <thread>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

void answer(const wire& from, const wire& to, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    REQUIRE(await(readable(from.fd())).has_value());
    REQUIRE(from.take());
    to.send();
  }
}

task<> answer_as_task(const wire& from, const wire& to, int rounds) {
  for (int i = 0; i < rounds; ++i) {
    auto ready = co_await readable(from.fd());
    REQUIRE(ready.has_value());
    REQUIRE(from.take());
    to.send();
  }
}

std::error_code read_within(const wire& from, duration time) {
  auto ready = await(within(time, readable(from.fd())));
  return ready ? std::error_code{} : ready.error();
}

void read_and_tell(const wire& from, std::atomic<int>& unwound) {
  struct witness {
    std::atomic<int>& count;
    ~witness() { ++count; }
  } local{unwound};
  static_cast<void>(await(readable(from.fd())));
}

}  // namespace

TEST_CASE("fibers and tasks of a loop talk through descriptors, whatever the number of turns between two looks") {
  for (std::uint32_t turns : {1u, 8u}) {
    readiness_drivers kind(turns);
    loop lp;
    wire one, other;
    spawn(lp, answer, std::cref(one), std::cref(other), 200);
    spawn(lp, answer_as_task, std::cref(other), std::cref(one), 200);
    one.send();
    lp.run();
  }
}

TEST_CASE("a fiber's time-out ends its wait in a driver") {
  readiness_drivers kind;
  loop lp;
  wire line;
  auto late = spawn(lp, read_within, std::cref(line), duration(2ms));
  lp.run();
  CHECK(sync_wait(late) == std::errc::timed_out);
  CHECK(kind.waiting() == 0);
}

TEST_CASE("a worker whose fibers are always ready sees what is ready within as many turns as its driver says") {
  for (std::uint32_t turns : {1u, 8u}) {
    CAPTURE(turns);
    wire line;
    std::size_t sent = 0, seen = 0;
    bool over = false;
    readiness_drivers io(turns);
    hocket::runtime rt({.workers = 1});
    io.on(rt);
    auto busy = [&] {
      while (!over) await(yield());
    };
    auto reader = [&] {
      REQUIRE(await(readable(line.fd())).has_value());
      seen = rt.counts(0).turns;
      over = true;
    };
    auto all = [&] {
      auto reading = spawn(reader);
      spawn(busy);
      for (int i = 0; i < 1000; ++i) await(yield());
      sent = rt.counts(0).turns;
      line.send();
      await(std::move(reading));
    };
    sync_wait(spawn(rt, all));
    CHECK(seen - sent <= turns + 1);
  }
}

TEST_CASE("fibers and tasks of a runtime talk through descriptors, and are killed with it") {
  for (std::size_t workers : {std::size_t{1}, std::size_t{2}, std::size_t{4}}) {
    CAPTURE(workers);
    std::vector<wire> lines(20);
    std::atomic<int> unwound{0};
    {
      readiness_drivers io(8);
      hocket::runtime rt({.workers = workers});
      io.on(rt);
      std::vector<join_handle<>> all;
      for (std::size_t i = 0; i < lines.size(); i += 2) {
        all.push_back(spawn(rt, answer, std::cref(lines[i]), std::cref(lines[i + 1]), 50));
        all.push_back(spawn(rt, answer_as_task, std::cref(lines[i + 1]), std::cref(lines[i]), 50));
        lines[i].send();
      }
      for (auto& one : all) sync_wait(std::move(one));
      for (const wire& one : lines) static_cast<void>(one.take());
      for (const wire& one : lines) spawn(rt, read_and_tell, std::cref(one), std::ref(unwound));
      std::size_t waiting = 0;
      while (waiting < lines.size()) {
        std::this_thread::yield();
        waiting = 0;
        for (std::size_t i = 0; i < workers; ++i) waiting += io[i].waiting();
      }
    }
    CHECK(unwound == 20);
  }
}
