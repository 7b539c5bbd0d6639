// What a server counts: each connection is in one count, however its handler ends. The time is that of a manual clock.
#include <hocket/core/or_throw.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/event.hpp>

#include <doctest/doctest.h>
#include <functional>
#include <stdexcept>
#include <string_view>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// Ends as its first byte says.
task<result<void>> end_as_told(tcp::stream peer, event& never) {
  char cause = 0;
  co_await or_return(peer.read_some(std::span(&cause, 1)));
  switch (cause) {
    case 'e': co_return failure(std::errc::bad_message);
    case 't': throw std::runtime_error("thrown");
    case 'c': co_return failure(std::errc::operation_canceled);
    case 'r': co_await or_return(never.wait()); break;
    case 'x': co_await or_throw(never.wait()); break;
    case 'k': static_cast<void>(co_await never.wait().ignoring(stop_level::cancel)); break;
    default: break;
  }
  co_return {};
}
// The same, of a fiber.
void end_in_fiber(tcp::stream peer, event& never) {
  char cause = 0;
  static_cast<void>(await(peer.read_some(std::span(&cause, 1))));
  if (cause == 't') throw std::runtime_error("thrown");
  if (cause == 'x') await(or_throw(never.wait()));
  if (cause == 'k') static_cast<void>(await(never.wait().ignoring(stop_level::cancel)));
}

int reported = 0;
void count_told(const socket_address&, std::error_code, const std::exception_ptr&) noexcept { ++reported; }

task<> call_all(memory_network& net, std::string_view words, std::vector<tcp::stream>& peers) {
  for (const char& word : words) {
    peers.push_back((co_await net.connect("10.0.0.1:80")).value());
    static_cast<void>(co_await peers.back().write_all(std::span(&word, 1)));
  }
}

// The first ones end by themselves. Then the server is shut down, and of the others one is killed.
template <class Handler>
tcp::server_counts end_all(Handler handler, std::string_view by_themselves, std::string_view by_server) {
  manual_clock clock;
  loop lp({.clock = &clock});
  memory_network net({.clock = &clock});
  event never;
  reported = 0;
  auto server =
      tcp::serve(lp, net.listen("10.0.0.1:80").value(), {.on_error = count_told}, handler, std::ref(never)).value();
  std::vector<tcp::stream> peers;
  const auto call = [&](std::string_view words) {
    auto called = spawn(lp, call_all, std::ref(net), words, std::ref(peers));
    lp.run_until(called);
    lp.run_for(1ms);
  };
  call(by_themselves);
  peers.clear();
  lp.run_for(1s);
  CHECK(server.connections() == 0);
  call(by_server);
  auto ended = spawn(lp, &tcp::server::graceful_shutdown, &server, shutdown_options{.drain = 1s, .report = -1});
  lp.run_until(ended);
  const shutdown_report report = sync_wait(ended);
  CHECK(report.drained == 0);
  CHECK(report.cancelled == by_server.size() - 1);
  CHECK(report.killed == 1);
  CHECK(report.remaining == 0);
  return server.counts();
}

}  // namespace

TEST_CASE("completed, failed and cancelled are three counts, and only failures are told") {
  const tcp::server_counts counts = end_all(end_as_told, "00etc", "rxk");
  CHECK(counts.accepted == 8);
  CHECK(counts.completed == 2);
  CHECK(counts.failed == 2);
  CHECK(counts.cancelled == 4);
  CHECK(counts.refused == 0);
  CHECK(reported == 2);
}

TEST_CASE("the counts of a server of fibers are those of a server of tasks") {
  const tcp::server_counts counts = end_all(end_in_fiber, "0t", "xk");
  CHECK(counts.accepted == 4);
  CHECK(counts.completed == 1);
  CHECK(counts.failed == 1);
  CHECK(counts.cancelled == 2);
  CHECK(counts.refused == 0);
  CHECK(reported == 1);
}
