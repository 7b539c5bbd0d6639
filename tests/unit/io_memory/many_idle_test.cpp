// Many connections in memory on one loop.
#include <hocket/coro/spawn.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/runtime/loop.hpp>

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <vector>

using namespace hocket;

namespace {

task<> wait_for_byte(tcp::stream from, std::size_t& waiting, std::size_t& got) {
  ++waiting;
  auto bytes = co_await from.read_borrowed();
  if (bytes && bytes->size() == 1) ++got;
}

task<> send_byte_to_all(std::vector<tcp::stream>& all) {
  for (tcp::stream& one : all) {
    auto sent = co_await one.write_all("x");
    CHECK(sent.has_value());
  }
}

}  // namespace

TEST_CASE("a hundred thousand connections wait on one loop, and each gets its byte") {
  constexpr std::size_t connections = 100'000;
  manual_clock time{time_point(std::chrono::hours(1))};
  loop lp({.clock = &time});
  memory_network net({.clock = &time, .max_latency = std::chrono::milliseconds(5)});
  std::vector<tcp::stream> near;
  std::size_t waiting = 0, got = 0;
  for (std::size_t i = 0; i < connections; ++i) {
    memory_pair ends = net.make_pair();
    near.push_back(std::move(ends.first));
    spawn(lp, wait_for_byte, std::move(ends.second), std::ref(waiting), std::ref(got));
  }
  lp.run_for(std::chrono::milliseconds(1));
  CHECK(waiting == connections);
  CHECK(got == 0);
  spawn(lp, send_byte_to_all, std::ref(near));
  lp.run();
  CHECK(got == connections);
}
