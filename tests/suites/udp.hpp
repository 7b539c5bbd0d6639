// Datagrams, for every kind that waits for I/O: UDP on loopback, and networks in memory.
#pragma once
#include <hocket/net/udp.hpp>
#include <hocket/time/within.hpp>

#include "suites/net_kinds.hpp"
#include "support/loopback.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>
#include <string_view>

namespace hocket_test {

using namespace std::chrono_literals;

inline std::string text_of(const hocket::udp::datagram& one) {
  return {reinterpret_cast<const char*>(one.bytes().data()), one.bytes().size()};
}

TEST_CASE_TEMPLATE("datagrams come whole, with their senders", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  for (const char* address : {"127.0.0.1:0", loopback_v6_or_v4()}) {
    auto door = bind_datagrams(net, address).value();
    auto client = connect_datagrams(net, door.local_address()).value();
    Kind world(net);
    auto serve = [&]() -> typename Kind::body {
      std::array<char, 16> buffer;
      for (int i = 0; i < 3; ++i) {
        auto got = co_await door.receive(buffer);
        REQUIRE(got.has_value());
        CHECK(got->sender == client.local_address());
        CHECK_FALSE(got->truncated);
        auto sent = co_await door.send(std::span(buffer.data(), got->size), got->sender);
        CHECK(sent == got->size);
      }
    };
    auto ask = [&]() -> typename Kind::body {
      for (const std::string_view words : {"one", "", "three"}) {
        auto sent = co_await client.send(words);
        CHECK(sent == words.size());
        std::array<char, 16> buffer;
        auto got = co_await client.receive(buffer);
        REQUIRE(got.has_value());
        CHECK(std::string_view(buffer.data(), got->size) == words);
        CHECK(got->sender == door.local_address());
      }
    };
    const int server = world.start(serve);
    const int asker = world.start(ask);
    world.finish();
    CHECK(world.ended(server) == fate::ended);
    CHECK(world.ended(asker) == fate::ended);
  }
}

TEST_CASE_TEMPLATE("batches are sent and received in order, each with its address", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto door = bind_datagrams(net, "127.0.0.1:0").value();
  auto client = bind_datagrams(net, "127.0.0.1:0").value();
  Kind world(net);
  auto work = [&]() -> typename Kind::body {
    std::vector<std::string> words;
    for (int i = 0; i < 100; ++i) words.push_back("datagram " + std::to_string(i));
    std::vector<hocket::udp::datagram> out;
    for (const std::string& one : words) out.emplace_back(hocket::const_buffer(one), door.local_address());
    for (std::size_t sent = 0; sent != out.size();) {
      auto some = co_await client.send_batch(std::span(out).subspan(sent));
      REQUIRE(some.has_value());
      sent += *some;
    }
    std::vector<std::array<char, 32>> rooms(40);
    std::size_t received = 0;
    while (received != words.size()) {
      std::vector<hocket::udp::datagram> in;
      for (auto& room : rooms) in.emplace_back(hocket::mutable_buffer(room));
      auto some = co_await door.receive_batch(in);
      REQUIRE(some.has_value());
      for (std::size_t i = 0; i < *some; ++i) {
        CHECK(text_of(in[i]) == words[received++]);
        CHECK(in[i].address() == client.local_address());
        CHECK_FALSE(in[i].truncated());
      }
    }
    auto none = co_await hocket::within(1ms, door.receive_batch(out));
    CHECK(none.error_or({}) == std::errc::timed_out);
    auto empty = co_await door.receive_batch({});
    CHECK(empty == std::size_t{0});
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

TEST_CASE_TEMPLATE("a datagram that is too long is cut, or not sent", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto door = bind_datagrams(net, "127.0.0.1:0").value();
  auto client = connect_datagrams(net, door.local_address()).value();
  Kind world(net);
  auto work = [&]() -> typename Kind::body {
    auto sent = co_await client.send("longer than four");
    CHECK(sent.has_value());
    std::array<char, 4> buffer;
    auto got = co_await door.receive(buffer);
    REQUIRE(got.has_value());
    CHECK(got->size == 4);
    CHECK(got->truncated);
    const std::vector<char> huge(100'000);
    sent = co_await client.send(huge);
    CHECK(sent.error_or({}) == std::errc::message_size);
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

TEST_CASE_TEMPLATE("a peer that is not there is told to a connected socket", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto door = bind_datagrams(net, "127.0.0.1:0").value();
  auto client = connect_datagrams(net, door.local_address()).value();
  door.close();
  Kind world(net);
  auto work = [&]() -> typename Kind::body {
    auto sent = co_await client.send("nobody");
    CHECK(sent.has_value());
    std::array<char, 4> buffer;
    auto got = co_await client.receive(buffer);
    CHECK(got.error_or({}) == std::errc::connection_refused);
  };
  const int worker = world.start(work);
  world.finish();
  CHECK(world.ended(worker) == fate::ended);
}

}  // namespace hocket_test
