// Both directions of two streams, for every kind that waits for I/O: each end, each error, and what is counted.
#include <hocket/core/yield.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/timeout_stream.hpp>
#include <hocket/net/copy_bidirectional.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/tcp_pair.hpp"

#include <doctest/doctest.h>
#include <string>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

#define HOCKET_IO_KINDS                                                                                        \
  hocket_test::io_tasks, hocket_test::io_fibers, hocket_test::io_runtime_tasks, hocket_test::io_workers_tasks, \
      hocket_test::io_workers_fibers, hocket_test::io_migrants

static_assert(shutdown_stream<tcp::stream> && shutdown_stream<timeout_stream<tcp::stream>>);
static_assert(!shutdown_stream<stream>);

TEST_CASE_TEMPLATE("both directions are carried to their ends, and each end is told on", Kind, HOCKET_IO_KINDS) {
  tcp_pair client = make_tcp_pair(), server = make_tcp_pair();
  const std::string request(300'000, 'r'), answer(200'000, 'a');
  Kind world;
  auto carry = [&]() -> typename Kind::body {
    auto bytes = co_await copy_bidirectional(client.far, server.near);
    REQUIRE(bytes.has_value());
    CHECK(bytes->to_second == request.size());
    CHECK(bytes->to_first == answer.size());
  };
  auto ask = [&]() -> typename Kind::body {
    auto sent = co_await client.near.write_all(request);
    CHECK(sent == request.size());
    CHECK(client.near.shutdown_write().has_value());
    auto text = co_await read_all(client.near);
    CHECK(text == answer);
  };
  auto serve = [&]() -> typename Kind::body {
    auto text = co_await read_all(server.far);  // its end comes through the proxy, and leaves the other direction open
    CHECK(text == request);
    auto sent = co_await server.far.write_all(answer);
    CHECK(sent == answer.size());
    server.far.close();
  };
  const int carrier = world.start(carry), client_of = world.start(ask), server_of = world.start(serve);
  world.finish();
  for (const int id : {carrier, client_of, server_of}) CHECK(world.ended(id) == fate::ended);
}

TEST_CASE_TEMPLATE("a direction that fails ends the other one, with its error", Kind, HOCKET_IO_KINDS) {
  for (const bool first_fails : {false, true}) {
    tcp_pair client = make_tcp_pair(), server = make_tcp_pair();
    Kind world;
    auto carry = [&]() -> typename Kind::body {
      auto bytes = co_await copy_bidirectional(client.far, server.near);
      CHECK(bytes.error_or({}) == std::errc::connection_reset);
    };
    auto reset = [&]() -> typename Kind::body {
      co_await yield();
      tcp::stream& id = first_fails ? client.near : server.far;
      CHECK(id.set_reset_on_close(true).has_value());
      id.close();
    };
    const int carrier = world.start(carry);
    world.start(reset);
    world.finish();
    CHECK(world.ended(carrier) == fate::ended);
  }
}

TEST_CASE_TEMPLATE("a peer that was gone when the other one ended is no error", Kind, HOCKET_IO_KINDS) {
  tcp_pair client = make_tcp_pair(), server = make_tcp_pair();
  CHECK(sync_wait(client.near.write_all("last words")).has_value());
  CHECK(client.near.shutdown_write().has_value());
  server.far.close();
  Kind world;
  auto carry = [&]() -> typename Kind::body {
    auto bytes = co_await copy_bidirectional(client.far, server.near);
    if (bytes) CHECK(bytes->to_second == 10);
    else CHECK((bytes.error() == std::errc::connection_reset || bytes.error() == std::errc::broken_pipe));
  };
  const int carrier = world.start(carry);
  world.finish();
  CHECK(world.ended(carrier) == fate::ended);
}

TEST_CASE_TEMPLATE("streams with a time limit end a copy that nobody ends", Kind, HOCKET_IO_KINDS) {
  tcp_pair client = make_tcp_pair(), server = make_tcp_pair();
  Kind world;
  auto carry = [&]() -> typename Kind::body {
    timeout_stream first(client.far, 5ms), second(server.near, 5ms);
    auto bytes = co_await copy_bidirectional(first, second);
    CHECK(bytes.error_or({}) == std::errc::timed_out);
  };
  const int carrier = world.start(carry);
  world.finish();
  CHECK(world.ended(carrier) == fate::ended);
}
