// Events that one epoll_wait(2) has told and that are handed on later: they are in time, and reachable for others.
#include <hocket/coro/spawn.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/worker_at.hpp>
#include <hocket/time/within.hpp>

#include "support/sockets.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr std::size_t pairs = 100;  // more than one share

std::vector<stream_pair> many() {
  std::vector<stream_pair> all;
  for (std::size_t i = 0; i < pairs; ++i) all.push_back(connected());
  return all;
}

void write_to_all(const std::vector<stream_pair>& all) {
  for (const stream_pair& one : all) REQUIRE(::send(one.near.native_handle(), "x", 1, 0) == 1);
}

task<result<std::size_t>> read_in_time(stream& from, duration limit) {
  std::array<char, 8> room{};
  auto got = co_await within(limit, from.read_some(room));
  co_return got;
}

task<> read_and_compute(stream& from, std::atomic<std::size_t>& served) {
  std::array<char, 8> room{};
  auto got = co_await from.read_some(room);
  CHECK(got == std::size_t{1});
  if (served++ == 0) {
    while (served != pairs) continue;  // the others need another worker
  }
}

}  // namespace

TEST_CASE("data that has come in time beats the deadline, though the loop is late and hands it on in turns") {
  std::vector<stream_pair> all = many();
  loop lp;
  std::vector<join_handle<result<std::size_t>>> reads;
  for (stream_pair& one : all) reads.push_back(spawn(lp, read_in_time, std::ref(one.far), 30ms));
  auto busy = spawn(
      lp,
      [](const std::vector<stream_pair>& to) -> task<> {
        co_await yield();
        write_to_all(to);
        const time_point late = steady_clock().now() + 60ms;
        while (steady_clock().now() < late) continue;
      },
      std::cref(all));
  lp.run();
  for (auto& one : reads) CHECK(sync_wait(one) == std::size_t{1});
}

// All wait on the first worker, which is there when the data comes, and so collects all events at once.
TEST_CASE("what the driver of a stuck worker has collected, other workers serve") {
  std::vector<stream_pair> all = many();
  std::atomic<std::size_t> served = 0;
  runtime rt({.workers = 2});
  detail::worker_at first(rt, 0);
  std::vector<join_handle<>> reads;
  for (stream_pair& one : all) reads.push_back(spawn(first, read_and_compute, std::ref(one.far), std::ref(served)));
  reads.push_back(spawn(
      first,
      [](const std::vector<stream_pair>& to) -> task<> {
        write_to_all(to);
        co_return;
      },
      std::cref(all)));
  for (auto& one : reads) sync_wait(one);
  CHECK(served == pairs);
}
