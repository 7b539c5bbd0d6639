// A network in memory: time, replay, resets, and the executors that may wait at it.
#include <hocket/base/fatal.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "support/sockets.hpp"

#include <array>
#include <doctest/doctest.h>
#include <optional>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

struct stage {
  manual_clock time{time_point(1h)};
  loop lp{{.clock = &time}};
};

task<> write_words(stream to, int count) {
  for (int i = 0; i < count; ++i) {
    auto sent = co_await to.write_all("a word of several letters ");
    if (!sent) co_return;
  }
}

// What came when.
task<> note_reads(stream from, const clock_source& time, std::string& notes) {
  std::array<char, 64> buffer;
  for (;;) {
    auto got = co_await within(2ms, from.read_some(buffer));
    notes += std::to_string(time.now().time_since_epoch().count()) + ' ';
    if (!got && got.error() == std::errc::timed_out) continue;
    notes += got ? std::to_string(*got) + '\n' : got.error().message();
    if (!got || *got == 0) co_return;
  }
}

std::string run_from(std::uint64_t seed) {
  stage on;
  memory_network net({.seed = seed,
                      .clock = &on.time,
                      .max_latency = 9ms,
                      .buffer_size = 100,
                      .short_reads = 100,
                      .short_writes = 100,
                      .idle_edges = 50,
                      .resets = 1});
  std::string notes;
  for (int i = 0; i < 3; ++i) {
    auto [first, second] = net.make_pair();
    spawn(on.lp, write_words, std::move(first), 20);
    spawn(on.lp, note_reads, std::move(second), std::cref(on.time), std::ref(notes));
  }
  on.lp.run();
  return notes;
}

task<std::error_code> read_byte(stream& from) {
  char byte = 0;
  auto got = co_await from.read_some(std::span(&byte, 1));
  co_return got.error_or({});
}

std::string noticed;

}  // namespace

TEST_CASE("the same seed gives the same run, and another seed another one") {
  const std::string first = run_from(1);
  CHECK(first.size() > 1000);
  CHECK(run_from(1) == first);
  CHECK(run_from(2) != first);
}

TEST_CASE("a latency of hours takes no time, and passes by the clock of the loop") {
  stage on;
  memory_network net({.clock = &on.time, .min_latency = 5h, .max_latency = 5h});
  auto [first, second] = net.make_pair();
  std::string notes;
  spawn(on.lp, write_words, std::move(first), 1);
  auto read = spawn(on.lp, read_byte, std::ref(second));
  on.lp.run_until(read);
  CHECK(on.time.now() == time_point(6h));
}

TEST_CASE("a reset ends both sides, also one that waits") {
  stage on;
  memory_network net({.clock = &on.time, .min_latency = 1ms, .max_latency = 1ms});
  auto [first, second] = net.make_pair();
  auto read = spawn(on.lp, read_byte, std::ref(second));
  on.lp.run_for(10ms);
  net.reset(first);
  on.lp.run_until(read);
  CHECK(sync_wait(read) == std::errc::connection_reset);
  auto other = spawn(on.lp, read_byte, std::ref(first));
  on.lp.run_until(other);
  CHECK(sync_wait(other) == std::errc::connection_reset);
}

TEST_CASE("a network may end before its streams") {
  stage on;
  std::optional<memory_network> net(std::in_place, memory_options{.clock = &on.time});
  auto [first, second] = net->make_pair();
  net.reset();
  spawn(on.lp, write_words, std::move(first), 1);
  auto read = spawn(on.lp, read_byte, std::ref(second));
  on.lp.run_until(read);
  CHECK(sync_wait(read) == std::error_code{});
}

TEST_CASE("a loop that waits for the system, or sleeps by another clock, cannot wait for a network") {
  const auto before = set_log_handler([](const char* text) noexcept { noticed = text; });
  stage on;
  memory_network net({.clock = &on.time});
  auto [first, second] = net.make_pair();
  loop by_the_machine;
  auto wrong_clock = spawn(by_the_machine, read_byte, std::ref(second));
  by_the_machine.run_until(wrong_clock);
  CHECK(sync_wait(wrong_clock) == std::errc::not_supported);
  CHECK(noticed.find("memory") != std::string::npos);
  CHECK(sync_wait(second.readable()).error() == std::errc::not_supported);
  memory_network real;
  auto [third, fourth] = real.make_pair();
  auto [near, far] = hocket_test::connected();
  auto at_system = spawn(by_the_machine, read_byte, std::ref(far));
  by_the_machine.poll();
  auto two_kinds = spawn(by_the_machine, read_byte, std::ref(third));
  by_the_machine.run_until(two_kinds);
  CHECK(sync_wait(two_kinds) == std::errc::not_supported);
  near.close();
  by_the_machine.run_until(at_system);
  set_log_handler(before);
}

// The hours are hours of a manual clock, so the test does not wait for them.
static task<> answer_late(stream peer) {
  char byte = 0;
  static_cast<void>(co_await peer.read_some(std::span(&byte, 1)));
  static_cast<void>(co_await sleep_for(1h));
  static_cast<void>(co_await peer.write_all("x"));
}
static task<std::error_code> sleep_and_ask(stream& peer) {
  static_cast<void>(co_await sleep_for(1h));
  static_cast<void>(co_await peer.write_all("x"));
  static_cast<void>(co_await sleep_for(2h));
  auto got = co_await read_byte(peer);
  co_return got;
}

TEST_CASE("the clock goes on while all sleep, and a parker that moves the clock gives way to the network") {
  manual_clock time{time_point(1h)};
  simulated_parker moves(time);
  loop lp({.clock = &time, .parker = &moves});
  memory_network net({.clock = &time});
  auto [first, second] = net.make_pair();
  spawn(lp, answer_late, std::move(second));
  auto asked = spawn(lp, sleep_and_ask, std::ref(first));
  lp.run_until(asked);
  CHECK_FALSE(sync_wait(asked));
  CHECK(time.now() == time_point(4h));
}

TEST_CASE("a run ends when nothing will happen any more") {
  stage on;
  memory_network net({.clock = &on.time});
  auto [first, second] = net.make_pair();
  auto stuck = spawn(on.lp, read_byte, std::ref(first));
  on.lp.run();
  CHECK_FALSE(stuck.done());
}
