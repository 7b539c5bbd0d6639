// read_all, for every kind that waits for I/O.
#pragma once
#include <hocket/core/yield.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/sockets.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>

namespace hocket_test {

using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("read_all gives all that comes until the end of a stream", Kind, HOCKET_IO_KINDS) {
  for (const std::size_t size : {0u, 1u, 4095u, 4096u, 4097u, 300'000u}) {
    typename Kind::wires net;
    auto [near, far] = net.connected();
    std::string sent(size, 'x');
    for (std::size_t i = 0; i < size; ++i) sent[i] = static_cast<char>('a' + i % 23);
    Kind world(net);
    auto read = [&]() -> typename Kind::body {
      auto all = co_await hocket::read_all(far);
      REQUIRE(all.has_value());
      CHECK(*all == sent);
      auto again = co_await hocket::read_all(far);
      CHECK(again == "");
    };
    auto write = [&]() -> typename Kind::body {
      auto half = co_await near.write_all(std::string_view(sent).substr(0, size / 2));
      CHECK(half == size / 2);
      co_await hocket::yield();
      auto rest = co_await near.write_all(std::string_view(sent).substr(size / 2));
      CHECK(rest == size - size / 2);
      near.close();
    };
    const int reader = world.start(read);
    world.start(write);
    world.finish();
    CHECK(world.ended(reader) == fate::ended);
  }
}

TEST_CASE_TEMPLATE("read_all gives as much as its limit, and fails beyond it without an end", Kind, HOCKET_IO_KINDS) {
  for (const std::size_t limit : {0u, 1u, 60u}) {
    typename Kind::wires net;
    auto [near, far] = net.connected();
    auto [other, longer] = net.connected();
    Kind world(net);
    auto work = [&]() -> typename Kind::body {
      const std::string just(limit, 'j');
      auto sent = co_await near.write_all(just);
      CHECK(sent == limit);
      near.close();
      auto all = co_await hocket::read_all(far, limit);
      CHECK(all == just);
      sent = co_await other.write_all(std::string(limit + 1, 'l'));
      CHECK(sent == limit + 1);
      all = co_await hocket::read_all(longer, limit);
      CHECK(all.error_or({}) == std::errc::message_size);
    };
    const int worker = world.start(work);
    world.finish();
    CHECK(world.ended(worker) == fate::ended);
  }
}

TEST_CASE_TEMPLATE("read_all is timed out, cancelled and killed, and the stream can be read on", Kind,
                   HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  auto [other, killed_at] = net.connected();
  Kind world(net);
  hocket::event timed_out, cancelled;
  auto late = [&]() -> typename Kind::body {
    auto begun = co_await near.write_all("lost");
    CHECK(begun.has_value());
    auto all = co_await hocket::within(1ms, hocket::read_all(far));
    CHECK(all.error_or({}) == std::errc::timed_out);
    timed_out.set();
    all = co_await hocket::read_all(far);
    CHECK(all.error_or({}) == std::errc::operation_canceled);
    cancelled.set();
  };
  auto unwinds = [&]() -> typename Kind::body {
    auto begun = co_await other.write_all("lost");
    CHECK(begun.has_value());
    auto all = co_await hocket::read_all(killed_at);
    CHECK_MESSAGE(false, "the coroutine went on after its kill");
  };
  const int reader = world.start(late);
  const int unwound = world.start(unwinds);
  auto direct = [&]() -> typename Kind::body {
    auto gone = co_await timed_out.wait();
    CHECK(gone.has_value());
    world.cancel(reader);
    world.kill(unwound);
    auto set = co_await cancelled.wait();
    CHECK(set.has_value());
    auto sent = co_await near.write_all("read on");
    CHECK(sent.has_value());
    near.close();
    auto rest = co_await hocket::read_all(far);
    CHECK(rest == "read on");
  };
  const int director = world.start(direct);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
  CHECK(world.ended(unwound) == fate::killed);
  CHECK(world.ended(director) == fate::ended);
}

TEST_CASE_TEMPLATE("read_all of no stream is an error", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  Kind world(net);
  auto work = [&]() -> typename Kind::body {
    hocket::stream none;
    auto all = co_await hocket::read_all(none);
    CHECK(all.error_or({}) == std::errc::bad_file_descriptor);
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

}  // namespace hocket_test
