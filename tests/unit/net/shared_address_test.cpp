// Whether two servers can have one address: only if both say so.
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/run.hpp>

#include "support/echo.hpp"
#include "support/loopback.hpp"

#include <atomic>
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <vector>

using namespace hocket;
using hocket_test::echo;

namespace {

std::error_code error_of_second(const socket_address& address, std::size_t first_workers, std::size_t second_workers) {
  runtime current({.workers = first_workers}), other({.workers = second_workers});
  auto first = tcp::serve(current, address, echo).value();
  auto second = tcp::serve(other, first.local_address(), echo);
  return second ? std::error_code{} : second.error();
}

}  // namespace

TEST_CASE("a second server at an address gets address_in_use, on any number of workers") {
  std::vector<socket_address> addresses{"127.0.0.1:0", "0.0.0.0:0", hocket_test::own_unix_address("one-address")};
  if (hocket_test::has_v6()) addresses.push_back("[::]:0");
  for (const socket_address& address : addresses) {
    CAPTURE(address.to_string());
    for (const std::size_t first : {1u, 2u, 4u}) {
      for (const std::size_t second : {1u, 3u}) {
        CAPTURE(first);
        CAPTURE(second);
        CHECK(error_of_second(address, first, second) == std::errc::address_in_use);
      }
    }
  }
}

TEST_CASE("a loop, a listener and a wildcard get address_in_use at the address of a server with several workers") {
  runtime rt({.workers = 3});
  loop lp;
  auto server = tcp::serve(rt, "127.0.0.1:0", echo).value();
  const socket_address address = server.local_address();
  CHECK(tcp::serve(lp, address, echo).error() == std::errc::address_in_use);
  CHECK(tcp::listener::bind(address).error() == std::errc::address_in_use);
  CHECK(tcp::serve(rt, socket_address::any_v4(address.port()), echo).error() == std::errc::address_in_use);
}

TEST_CASE("servers that both say reuse_port share an address, and one that does not say it cannot join") {
  runtime rt({.workers = 2});
  loop lp;
  const tcp::serve_options sharing{.listen = {.reuse_port = true}};
  auto first = tcp::serve(rt, "127.0.0.1:0", sharing, echo).value();
  CHECK(tcp::serve(rt, first.local_address(), echo).error() == std::errc::address_in_use);
  CHECK(tcp::serve(rt, first.local_address(), sharing, echo).has_value());
  CHECK(tcp::serve(lp, first.local_address(), sharing, echo).has_value());
}

TEST_CASE("an address is free again when its server has ended, or could not be opened") {
  runtime rt({.workers = 4});
  socket_address address = "127.0.0.1:0";
  for (int i = 0; i < 10; ++i) {
    auto server = tcp::serve(rt, address, echo).value();
    address = server.local_address();
    CHECK(tcp::serve(rt, address, echo).error() == std::errc::address_in_use);
  }
}

TEST_CASE("of two servers that are opened at the same time at one address one has it, at most") {
  runtime current({.workers = 2}), other({.workers = 2});
  for (int round = 0; round < 50; ++round) {
    const socket_address address = tcp::listener::bind("127.0.0.1:0").value().local_address();
    std::atomic<int> ready = 0;
    const auto open_when_both_are_ready = [&](runtime& rt) {
      ++ready;
      while (ready != 2) std::this_thread::yield();
      return tcp::serve(rt, address, echo);
    };
    result<tcp::server> late = failure(std::errc::address_in_use);
    std::thread beside([&] { late = open_when_both_are_ready(other); });
    const result<tcp::server> early = open_when_both_are_ready(current);
    beside.join();
    CHECK_FALSE((early && late));
  }
}
