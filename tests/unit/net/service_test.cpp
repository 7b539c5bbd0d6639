// The end of a program by a service: parts, daemons and runtime in order, and the report.
#include <hocket/coro/shielded.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/net/service.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>

#include "support/death.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <string>
#include <string_view>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<> wait_for(event& condition) { [[maybe_unused]] auto set = co_await condition.wait(); }

task<> insist(event& condition, std::atomic<int>& begun) {
  ++begun;
  auto body = [&]() -> task<> { [[maybe_unused]] auto set = co_await condition.wait(); };
  co_await shielded(body());
}

task<> read_to_end(tcp::stream peer) {
  std::array<char, 16> buffer;
  while (auto n = co_await peer.read_some(buffer)) {
    if (*n == 0) break;
  }
}

task<> read_stubbornly(tcp::stream peer) { co_await shielded(read_to_end(std::move(peer))); }

const stopped_coroutine* find(const shutdown_list& list, std::string_view name) {
  for (const stopped_coroutine& each : list.coroutines)
    if (each.name == name) return &each;
  return nullptr;
}

constexpr int no_report = -1;

}  // namespace

TEST_CASE("a service ends its parts in the order of add(), then the daemons, then the runtime") {
  event never;
  std::vector<std::string> order;
  hocket::runtime rt({.workers = 2});
  auto tick = [&]() -> task<> {
    co_await wait_for(never);
    order.push_back("daemon");
  };
  std::atomic<bool> begun{false};
  auto work = [&]() -> task<> {
    begun = true;
    while (order.size() < 2) static_cast<void>(co_await sleep_for(1ms));
    order.push_back("work");
  };
  spawn(rt, {.name = "ticker", .daemon = true}, tick);
  service all(rt);
  all.add("first", [&]() -> task<> {
    order.push_back("first");
    co_return;
  });
  all.add("second", [&]() -> task<> {
    order.push_back("second");
    spawn(rt, std::ref(work));
    while (!begun) static_cast<void>(co_await sleep_for(1ms));
  });
  all.end();
  const service_report report = all.run_until({SIGUSR1}, {.drain = 1h, .cancel = 1h, .report = no_report});
  CHECK(order == std::vector<std::string>{"first", "second", "work", "daemon"});
  CHECK(report.signal == 0);
  CHECK(report.exit_code() == 0);
  REQUIRE(report.parts.size() == 3);
  CHECK(report.parts[0].name == "first");
  CHECK(report.parts[1].name == "second");
  CHECK(report.parts[2].name == "runtime");
  CHECK(report.parts[2].report.daemons.cancelled == 1);
}

TEST_CASE("a service ends by a signal, and by end() of a coroutine") {
  for (const bool by_signal : {true, false}) {
    hocket::runtime rt({.workers = 1});
    service all(rt);
    auto ends = [&]() -> task<> {
      while (rt.live() != 2) static_cast<void>(co_await yield());  // the other one waits for the signal
      if (by_signal) ::kill(::getpid(), SIGUSR1);
      else all.end();
    };
    all.add("nothing", []() -> task<> { co_return; });
    spawn(rt, std::ref(ends));
    const service_report report = all.run_until({SIGUSR1}, {.drain = 1h});
    CHECK(report.signal == (by_signal ? SIGUSR1 : 0));
    CHECK(report.exit_code() == 0);
  }
}

TEST_CASE("a service names what it cancelled, killed and left, with the place of the spawn") {
  event never;
  std::atomic<int> begun{0};
  std::atomic<bool> holds{false}, go{false};
  hocket::runtime rt({.workers = 4});
  auto hold = [&]() -> task<> {
    holds = true;
    go.wait(false);
    co_return;
  };
  auto waits = [&]() -> task<> {
    ++begun;
    co_await wait_for(never);
  };
  spawn(rt, {.name = "polite"}, waits);
  const unsigned line_of_stubborn = __LINE__ + 1;
  spawn(rt, {.name = "stubborn"}, insist, std::ref(never), std::ref(begun));
  spawn(rt, insist, std::ref(never), std::ref(begun));  // without a name, and a place
  spawn(rt, {.name = "ticker", .daemon = true}, insist, std::ref(never), std::ref(begun));
  spawn(rt, {.name = "polite ticker", .daemon = true}, waits);
  spawn(rt, {.name = "busy"}, hold);
  while (begun != 5 || !holds) std::this_thread::yield();
  service all(rt);
  all.end();
  const service_report report = all.run_until({SIGUSR1}, {.cancel = 3s, .kill = 3s, .report = no_report});
  go = true;
  go.notify_one();
  CHECK(report.exit_code() == 1);
  const auto check = [&](const char* name, shutdown_step step, bool is_daemon) {
    const stopped_coroutine* found = find(report.stopped, name);
    REQUIRE(found != nullptr);
    CHECK(found->step == step);
    CHECK(found->is_daemon == is_daemon);
    CHECK(!found->spawned.empty());
  };
  check("polite", shutdown_step::cancel, false);
  check("polite ticker", shutdown_step::cancel, true);
  check("stubborn", shutdown_step::kill, false);
  check("ticker", shutdown_step::kill, true);
  check("runtime", shutdown_step::kill, false);
  check("busy", shutdown_step::none, false);
  CHECK(report.stopped.coroutines.size() == 6);
  CHECK(find(report.stopped, "stubborn")->spawned.ends_with("service_test.cpp:" + std::to_string(line_of_stubborn)));
  const std::string text = report.to_string();
  CHECK(text.find("cancelled: \"polite\", spawned at ") != std::string::npos);
  CHECK(text.find("killed: \"stubborn\", spawned at ") != std::string::npos);
  CHECK(text.find("killed: \"ticker\", a daemon, spawned at ") != std::string::npos);
  CHECK(text.find("left: \"busy\", spawned at ") != std::string::npos);
  CHECK(text.find("polite ticker") == std::string::npos);
}

TEST_CASE("a service ends its servers, and names the connections that it stopped") {
  hocket::runtime rt({.workers = 2});
  auto polite = tcp::serve(rt, "127.0.0.1:0", {.connection = {.name = "polite peer"}}, read_to_end).value();
  auto stubborn = tcp::serve(rt, "127.0.0.1:0", {.connection = {.name = "stubborn peer"}}, read_stubbornly).value();
  auto connect = [&](const tcp::server& server) {
    return sync_wait(spawn(
                         rt,
                         [](socket_address to) -> task<tcp::stream> { co_return (co_await tcp::connect(to)).value(); },
                         server.local_address())
                         .join())
        .value();
  };
  auto first = connect(polite);
  auto second = connect(stubborn);
  while (polite.counts().accepted + stubborn.counts().accepted != 2) std::this_thread::yield();
  service all(rt);
  all.add(polite, "polite server");
  all.add(stubborn, "stubborn server");
  all.end();
  const service_report report = all.run_until({SIGUSR1}, {.cancel = 3s, .kill = 1h, .report = no_report});
  REQUIRE(report.parts.size() == 3);
  CHECK(report.parts[0].report.cancelled == 1);
  CHECK(report.parts[1].report.killed == 1);
  CHECK(report.exit_code() == 1);
  REQUIRE(find(report.stopped, "polite peer"));
  CHECK(find(report.stopped, "polite peer")->step == shutdown_step::cancel);
  REQUIRE(find(report.stopped, "stubborn peer"));
  CHECK(find(report.stopped, "stubborn peer")->step == shutdown_step::kill);
}

TEST_CASE("a part of a service that throws is reported, and the next one ends") {
  hocket::runtime rt({.workers = 1});
  bool ended = false;
  service all(rt);
  all.add("fails", []() -> task<> {
    co_await yield();
    throw std::runtime_error("the disk is full");
  });
  all.add("ends", [&]() -> task<> {
    ended = true;
    co_return;
  });
  all.end();
  const service_report report = all.run_until({SIGUSR1});
  CHECK(ended);
  CHECK(report.parts[0].error != nullptr);
  CHECK(report.parts[1].error == nullptr);
  CHECK(report.exit_code() == 1);
  CHECK(report.to_string().find("failed: the disk is full") != std::string::npos);
}

TEST_CASE("a service reports the calls of a pool of threads that have not returned") {
  std::atomic<bool> begun{false}, go{false};
  blocking_pool threads({.threads = 2});
  {
    hocket::runtime rt({.workers = 1});
    auto call = [&]() -> task<> {
      static_cast<void>(co_await blocking(threads, [&] {
        begun = true;
        while (!go) std::this_thread::yield();
      }));
    };
    spawn(rt, std::ref(call));
    while (!begun) std::this_thread::yield();
    service all(rt);
    all.add(threads);
    all.end();
    const service_report report = all.run_until({SIGUSR1}, {.cancel = 1ms, .kill = 1ms, .report = no_report});
    REQUIRE(report.parts.size() == 2);
    CHECK(report.parts[1].name == "threads");
    CHECK(report.parts[1].report.remaining == 1);
    CHECK(report.exit_code() == 1);
    go = true;
  }
}

TEST_CASE("the parts of a service share the time of the drain") {
  hocket::runtime rt({.workers = 1});
  std::vector<duration> drains;
  struct part {
    std::vector<duration>& drains;
    duration takes;
    task<shutdown_report> graceful_shutdown(shutdown_options options) {
      drains.push_back(options.drain);
      static_cast<void>(co_await sleep_for(takes));
      co_return shutdown_report{};
    }
  };
  part slow{drains, 20ms}, quick{drains, 0ms};
  service all(rt);
  all.add(slow);
  all.add(quick);
  all.end();
  static_cast<void>(all.run_until({SIGUSR1}, {.drain = 1h}));
  REQUIRE(drains.size() == 2);
  CHECK(drains[0] <= 1h);
  CHECK(drains[1] <= drains[0] - 20ms);
}
