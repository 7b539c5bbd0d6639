// Datagrams in memory: loss, copies, order, limits, and replay.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include <algorithm>
#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <set>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

struct field {
  manual_clock time{time_point(1h)};
  loop lp{{.clock = &time}};
  memory_network net;
  udp::socket near, far;

  explicit field(memory_options options) : net((options.clock = &time, options)) {
    near = net.bind_datagrams("10.0.0.1:1000").value();
    far = net.bind_datagrams("10.0.0.2:2000").value();
  }
};

task<> send_numbers(udp::socket& from, int count) {
  for (int i = 0; i < count; ++i) {
    auto sent = co_await from.send(std::to_string(i), "10.0.0.2:2000");
    CHECK(sent.has_value());
  }
}

// Until none comes for a minute.
task<> receive_numbers(udp::socket& at, std::vector<int>& into) {
  std::array<char, 16> room;
  for (;;) {
    auto got = co_await within(1min, at.receive(room));
    if (!got) co_return;
    into.push_back(std::stoi(std::string(room.data(), got->size)));
  }
}

// The numbers up to `count`, as they arrive.
std::vector<int> arrived(const memory_options& options, int count = 200) {
  field on(options);
  std::vector<int> got;
  spawn(on.lp, send_numbers, std::ref(on.near), count);
  spawn(on.lp, receive_numbers, std::ref(on.far), std::ref(got));
  on.lp.run();
  return got;
}

std::size_t different(const std::vector<int>& of) { return std::set<int>(of.begin(), of.end()).size(); }

task<std::error_code> send_one(udp::socket& from, std::size_t bytes, socket_address to) {
  const std::vector<char> all(bytes);
  auto sent = co_await from.send(all, to);
  co_return sent.error_or({});
}

task<std::error_code> receive_one(udp::socket& at) {
  std::array<char, 16> room;
  auto got = co_await within(1min, at.receive(room));
  co_return got.error_or({});
}

template <class T>
T run(field& on, join_handle<T> handle) {
  on.lp.run_until(handle);
  return sync_wait(handle);
}

}  // namespace

TEST_CASE("datagrams of one sender stay in order, whatever their latencies") {
  const std::vector<int> got = arrived({.max_latency = 50ms});
  REQUIRE(got.size() == 200);
  for (int i = 0; i < 200; ++i) CHECK(got[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("some datagrams are lost, some come twice, and some overtake others") {
  const std::vector<int> lost = arrived({.seed = 3, .loss = 64});
  CHECK(lost.size() > 100);
  CHECK(lost.size() < 190);
  CHECK(std::is_sorted(lost.begin(), lost.end()));
  const std::vector<int> doubled = arrived({.seed = 3, .duplicates = 25});
  CHECK(doubled.size() > 205);
  CHECK(different(doubled) == 200);
  const std::vector<int> mixed = arrived({.seed = 3, .max_latency = 50ms, .reorders = 64});
  CHECK(mixed.size() == 200);
  CHECK_FALSE(std::is_sorted(mixed.begin(), mixed.end()));
  CHECK(arrived({.loss = 256}).empty());
}

TEST_CASE("the same seed loses, doubles and mixes the same datagrams") {
  memory_options options{.seed = 1, .max_latency = 50ms, .loss = 40, .duplicates = 40, .reorders = 40};
  const std::vector<int> first = arrived(options);
  CHECK(arrived(options) == first);
  options.seed = 2;
  CHECK(arrived(options) != first);
}

TEST_CASE("what comes to a full queue is lost") {
  field on({.datagrams = 3});
  std::vector<int> got;
  auto sender = spawn(on.lp, send_numbers, std::ref(on.near), 10);
  on.lp.run_until(sender);
  spawn(on.lp, receive_numbers, std::ref(on.far), std::ref(got));
  on.lp.run();
  CHECK(got == std::vector<int>{0, 1, 2});
}

TEST_CASE("a connected socket hears that nobody is bound, after the way there and back, and only its peer") {
  field on({.min_latency = 5ms, .max_latency = 5ms});
  auto client = on.net.connect_datagrams("10.0.0.9:9").value();
  CHECK(client.local_address().port() >= 49152);
  CHECK(client.peer_address() == "10.0.0.9:9");
  const time_point before = on.time.now();
  CHECK_FALSE(run(on, spawn(on.lp, send_one, std::ref(client), 4, socket_address())));
  CHECK(run(on, spawn(on.lp, receive_one, std::ref(client))) == std::errc::connection_refused);
  CHECK(on.time.now() == before + 10ms);
  CHECK_FALSE(run(on, spawn(on.lp, send_one, std::ref(on.near), 4, client.local_address())));
  CHECK(run(on, spawn(on.lp, receive_one, std::ref(client))) == std::errc::timed_out);
  CHECK_FALSE(run(on, spawn(on.lp, send_one, std::ref(on.near), 4, socket_address("10.0.0.9:9"))));
  CHECK(run(on, spawn(on.lp, receive_one, std::ref(on.near))) == std::errc::timed_out);
}

TEST_CASE("addresses are bound once, and again when they are free; a datagram needs one") {
  field on({});
  CHECK(on.net.bind_datagrams("10.0.0.1:1000").error() == std::errc::address_in_use);
  CHECK(on.net.bind_datagrams("nowhere").error() == std::errc::invalid_argument);
  CHECK(run(on, spawn(on.lp, send_one, std::ref(on.near), 1, socket_address())) ==
        std::errc::destination_address_required);
  CHECK(run(on, spawn(on.lp, send_one, std::ref(on.near), 70'000, socket_address("10.0.0.2:2000"))) ==
        std::errc::message_size);
  on.near.close();
  CHECK(on.net.bind_datagrams("10.0.0.1:1000").has_value());
  auto any = on.net.bind_datagrams("0.0.0.0:7").value();
  CHECK_FALSE(run(on, spawn(on.lp, send_one, std::ref(on.far), 4, socket_address("10.1.2.3:7"))));
  CHECK_FALSE(run(on, spawn(on.lp, receive_one, std::ref(any))));
}
