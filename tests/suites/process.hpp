// Child processes, for every kind that waits for I/O.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/children.hpp"

#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <string>

namespace hocket_test {

using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("a child reads its input, writes its output, and ends with a code" *
                       doctest::skip(starts_no_children()),
                   Kind, HOCKET_IO_KINDS) {
  Kind world;
  auto work = [&]() -> typename Kind::body {
    auto started = hocket::process::start({"sh", "-c", "cat; echo ' and more'; exit 3"},
                                          {.in = hocket::process::pipe, .out = hocket::process::pipe});
    REQUIRE(started.has_value());
    auto sent = co_await started->in().write_all("some words");
    CHECK(sent == std::size_t{10});
    started->in().close();
    auto text = co_await hocket::read_all(started->out());
    CHECK(text == "some words and more\n");
    auto status = co_await started->wait();
    REQUIRE(status.has_value());
    CHECK(status->code() == 3);
    CHECK(status->signal() == 0);
    CHECK_FALSE(status->success());
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

TEST_CASE_TEMPLATE("many wait for one child, before its end and after it, and some in vain" *
                       doctest::skip(starts_no_children()),
                   Kind, HOCKET_IO_KINDS) {
  Kind world;
  auto child = hocket::process::start({"cat"}, {.in = hocket::process::pipe, .out = hocket::process::null}).value();
  std::atomic<int> begun{0}, told{0}, cancelled{0};
  auto wait = [&]() -> typename Kind::body {
    ++begun;
    auto status = co_await child.wait();
    if (!status) CHECK(status.error() == std::errc::operation_canceled);
    else CHECK(status->success());
    ++(status ? told : cancelled);
  };
  std::vector<int> all;
  for (int i = 0; i < 4; ++i) all.push_back(world.start(wait));
  auto direct = [&]() -> typename Kind::body {
    while (begun != 4) co_await hocket::yield();
    auto late = co_await hocket::within(1ms, child.wait());
    CHECK(late.error_or({}) == std::errc::timed_out);
    world.cancel(all[0]);
    while (cancelled != 1) co_await hocket::yield();
    child.in().close();
    auto status = co_await child.wait();
    CHECK(status == 0);
    status = co_await child.wait();
    CHECK(status == 0);
  };
  const int director = world.start(direct);
  world.finish();
  CHECK(world.ended(director) == fate::ended);
  CHECK(told == 3);
}

TEST_CASE_TEMPLATE("a child that a signal ends tells which one, and takes no more of them" *
                       doctest::skip(starts_no_children()),
                   Kind, HOCKET_IO_KINDS) {
  Kind world;
  auto work = [&]() -> typename Kind::body {
    auto child = hocket::process::start({"cat"}, {.in = hocket::process::pipe}).value();
    CHECK(child.signal(0).has_value());
    CHECK(child.signal(SIGTERM).has_value());
    auto status = co_await child.wait();
    REQUIRE(status.has_value());
    CHECK(status->signal() == SIGTERM);
    CHECK(status->code() == -1);
    CHECK(*status == 128 + SIGTERM);
    CHECK(child.signal(SIGTERM).error_or({}) == std::errc::no_such_process);
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

TEST_CASE_TEMPLATE("a child that ignores SIGTERM is ended by SIGKILL after the grace, and another by SIGTERM" *
                       doctest::skip(starts_no_children()),
                   Kind, HOCKET_IO_KINDS) {
  Kind world;
  auto work = [&]() -> typename Kind::body {
    const int term[] = {SIGTERM};
    auto deaf = hocket::process::start({"cat"}, {.in = hocket::process::pipe, .ignored_signals = term}).value();
    auto late = co_await hocket::within(0ms, deaf.wait());
    CHECK(late.error_or({}) == std::errc::timed_out);
    auto killed = co_await deaf.terminate(1ms);
    REQUIRE(killed.has_value());
    CHECK(killed->signal() == SIGKILL);
    auto heeds = hocket::process::start({"cat"}, {.in = hocket::process::pipe}).value();
    auto ended = co_await heeds.terminate(20s);
    REQUIRE(ended.has_value());
    CHECK(ended->signal() == SIGTERM);
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

}  // namespace hocket_test
