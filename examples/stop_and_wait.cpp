// A protocol under loss and delay: lines cross a network that loses, doubles and mixes datagrams, and arrive in order.
// One line is on its way at a time, and is sent again until it is acknowledged.
//
// 100 networks in memory test it, each from a seed of its own. Their clock moves by itself: hours take no time. The
// protocol takes sockets, and does not know the difference: for real ones say udp::socket::bind() and connect().
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net.hpp>
#include <hocket/stackless.hpp>

#include <array>
#include <cstdio>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

static task<result<void>> send_lines(udp::socket to, int count) {
  std::array<char, 16> room;
  for (int i = 0; i < count; ++i) {
    const std::string line = std::to_string(i);
    for (bool acknowledged = false; !acknowledged;) {
      co_await or_return(to.send(line));
      auto got = co_await within(100ms, to.receive(room));
      if (!got && got.error() != std::errc::timed_out) co_return failure(got.error());
      acknowledged = got && std::string_view(room.data(), got->size) == line;
    }
  }
  co_return {};
}

// How many came in order, until the sender has been silent for a minute.
static task<result<int>> receive_lines(udp::socket at) {
  std::array<char, 16> room;
  for (int lines = 0;;) {
    auto got = co_await within(1min, at.receive(room));
    if (!got && got.error() == std::errc::timed_out) co_return lines;
    if (!got) co_return failure(got.error());
    if (std::string_view(room.data(), got->size) == std::to_string(lines)) ++lines;  // else it is an old one
    co_await or_return(at.send(std::span(room.data(), got->size), got->sender));
  }
}

static bool test(std::uint64_t seed) {
  manual_clock time;
  loop lp({.clock = &time});
  memory_network net({.seed = seed, .clock = &time, .min_latency = 5ms, .max_latency = 150ms, .loss = 64,
                      .duplicates = 32, .reorders = 32});
  auto received = spawn(lp, receive_lines, net.bind_datagrams("10.0.0.1:7").value());
  auto sent = spawn(lp, send_lines, net.connect_datagrams("10.0.0.1:7").value(), 50);
  lp.run();
  if (sync_wait(sent) && sync_wait(received) == 50) return true;
  std::printf("seed %llu: run it alone\n", static_cast<unsigned long long>(seed));
  return false;
}

int main() {
  int failed = 0;
  for (std::uint64_t seed = 1; seed <= 100; ++seed) failed += test(seed) ? 0 : 1;
  return failed == 0 ? 0 : 1;
}
