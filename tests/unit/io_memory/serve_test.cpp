// Servers on networks in memory.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/sleep.hpp>

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

task<result<void>> echo(tcp::stream peer) {
  for (;;) {
    auto bytes = co_await or_return(peer.read_idle());
    if (bytes.empty()) co_return {};
    co_await or_return(peer.write_all(bytes));
  }
}

// Ends by a cancel alone. The time is that of a manual clock.
task<> stays(tcp::stream) { static_cast<void>(co_await sleep_for(24h)); }

task<result<std::string>> ask(memory_network& net, std::string_view words) {
  auto peer = co_await or_return(net.connect("10.0.0.1:80"));
  co_await or_return(peer.write_all(words));
  std::string answer(words.size(), '\0');
  co_await or_return(peer.read_exactly(answer));
  co_return answer;
}

task<result<tcp::stream>> call(memory_network& net) { co_return co_await net.connect("10.0.0.1:80"); }

task<shutdown_report> end(tcp::server& server, shutdown_options options) {
  co_return co_await server.graceful_shutdown(options);
}

}  // namespace

TEST_CASE("a server serves a listener in memory, and ends in order, by the clock of its loop") {
  manual_clock time{time_point(1h)};
  loop lp({.clock = &time});
  memory_network net({.clock = &time, .min_latency = 1ms, .max_latency = 9ms, .short_reads = 100});
  auto server = tcp::serve(lp, net.listen("10.0.0.1:80").value(), echo).value();
  CHECK(server.local_address() == "10.0.0.1:80");
  for (int i = 0; i < 20; ++i) {
    auto answer = spawn(lp, ask, std::ref(net), "hello");
    lp.run_until(answer);
    CHECK(sync_wait(answer) == "hello");
  }
  auto idle = spawn(lp, call, std::ref(net));
  lp.run_until(idle);
  tcp::stream peer = sync_wait(idle).value();
  lp.run_for(1s);
  CHECK(server.connections() == 1);
  auto ended = spawn(lp, end, std::ref(server), shutdown_options{.drain = 24h});
  lp.run_until(ended);
  CHECK(sync_wait(ended).cancelled == 0);
  CHECK(server.counts().accepted == 21);
  auto late = spawn(lp, call, std::ref(net));
  lp.run_until(late);
  CHECK(sync_wait(late).error() == std::errc::connection_refused);
  CHECK(time.now() < time_point(2h));
}

TEST_CASE("a connection in memory that does not end is cancelled after the drain, and no time passes for that") {
  manual_clock time{time_point(1h)};
  loop lp({.clock = &time});
  memory_network net({.clock = &time});
  auto server = tcp::serve(lp, net.listen("10.0.0.1:80").value(), stays).value();
  auto caller = spawn(lp, call, std::ref(net));
  lp.run_until(caller);
  lp.run_for(1ms);
  const time_point before = time.now();
  auto ended = spawn(lp, end, std::ref(server), shutdown_options{.drain = 30min});
  lp.run_until(ended);
  CHECK(sync_wait(ended).cancelled == 1);
  CHECK(time.now() == before + 30min);
}

// At the limit a server evicts connections that are idle. This one has none.
task<result<void>> echo_once(tcp::stream peer) {
  auto bytes = co_await or_return(peer.read_borrowed());
  co_await or_return(peer.write_all(bytes));
  co_return {};
}

TEST_CASE("the listeners of one address share its connections among the workers of a runtime") {
  runtime rt({.workers = 2});
  memory_network net({.max_latency = 100us});
  std::vector<tcp::listener> all;
  for (int i = 0; i < 3; ++i) all.push_back(net.listen("10.0.0.1:80", {.reuse_port = true}).value());
  auto server = tcp::serve(rt, std::move(all), {.max_connections = 2}, echo_once).value();
  std::vector<join_handle<result<std::string>>> answers;
  for (int i = 0; i < 50; ++i) answers.push_back(spawn(rt, ask, std::ref(net), "hello"));
  for (auto& one : answers) CHECK(sync_wait(one) == "hello");
  CHECK(server.counts().accepted == 50);
}

TEST_CASE("a server without a listener is refused") {
  loop lp;
  CHECK(tcp::serve(lp, std::vector<tcp::listener>(), echo).error() == std::errc::invalid_argument);
}
