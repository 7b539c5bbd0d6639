// What belongs to a server: idle connections in its report, permits, and the places of its connections.
#include <hocket/coro/or_return.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>

#include "support/loopback.hpp"
#include "support/tcp_pair.hpp"
#include "support/waits.hpp"

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <thread>
#include <vector>

using namespace hocket;
using hocket_test::own_unix_address;
using namespace std::chrono_literals;

namespace {

void wait_until(const std::function<bool()>& holds) {
  while (!holds()) std::this_thread::yield();
}

task<> wait_idle(tcp::stream peer) { static_cast<void>(co_await peer.read_idle()); }
task<result<void>> greet(tcp::stream peer) {
  co_await or_return(peer.write_all("hello"));
  co_return {};
}

}  // namespace

TEST_CASE("idle connections are drained, all of them, whatever other workers do meanwhile") {
  for (int round = 0; round < 20; ++round) {
    runtime rt({.workers = 2});
    auto server = tcp::serve(rt, "127.0.0.1:0", wait_idle).value();
    std::vector<tcp::stream> peers;
    for (int i = 0; i < 20; ++i) peers.push_back(sync_wait(tcp::connect(server.local_address())).value());
    wait_until([&] { return server.counts().accepted == 20; });
    const shutdown_report report = sync_wait(server.graceful_shutdown({.drain = 24h}));
    CHECK(report.drained == 20);
    CHECK(report.cancelled + report.killed + report.remaining == 0);
    CHECK(server.counts().completed == 20);
  }
}

// A unix socket connects at once, so the connection is in the queue of its listener when the shutdown begins.
TEST_CASE("at the end a listener where nobody waits takes no permit from one where somebody does") {
  loop lp;
  std::vector<tcp::listener> listeners;
  for (const char* name : {"permits-1", "permits-2", "permits-3"})
    listeners.push_back(tcp::listener::bind(own_unix_address(name)).value());
  auto server = tcp::serve(lp, std::move(listeners), {.max_connections = 1}, greet).value();
  for (int i = 0; i < 10; ++i) lp.poll();  // the acceptors wait
  tcp::stream peer;
  event connected;
  auto ended = spawn(lp, [&]() -> task<> {
    peer = (co_await tcp::connect(own_unix_address("permits-3"))).value();
    connected.set();
    static_cast<void>(co_await server.graceful_shutdown({.drain = 24h}));
  });
  std::array<char, 8> words{};
  auto read = spawn(lp, [&]() -> task<std::size_t> {
    static_cast<void>(co_await connected.wait());
    const std::size_t n = (co_await peer.read_some(words)).value_or(0);
    peer.close();
    co_return n;
  });
  lp.run_until(ended);
  lp.run_until(read);
  CHECK(sync_wait(read) == 5);
  CHECK(server.counts().completed == 1);
}

// The place in the table that was used last is used next.
TEST_CASE("a stream in the place of a server's former connection is not the server's") {
  loop lp;
  auto door = tcp::listener::bind("127.0.0.1:0").value();  // it has its place before
  auto server = tcp::serve(lp, "127.0.0.1:0", wait_idle).value();
  for (int i = 0; i < 3; ++i) {
    auto peer = sync_wait(tcp::connect(server.local_address())).value();
    while (server.connections() == 0) lp.run_for(1ms);
    peer.close();
    while (server.connections() != 0) lp.run_for(1ms);
  }
  std::vector<hocket_test::tcp_pair> own(8);
  std::vector<join_handle<std::size_t>> reads;
  for (auto& pair : own) {
    pair.near = sync_wait(tcp::connect(door.local_address())).value();
    pair.far = sync_wait(door.accept()).value();
    for (tcp::stream* end : {&pair.near, &pair.far})
      reads.push_back(
          spawn(lp, [end]() -> task<std::size_t> { co_return (co_await end->read_idle()).value().size(); }));
    while (!hocket_test::waits(pair.near) || !hocket_test::waits(pair.far)) lp.poll();
  }
  auto ended = spawn(lp, &tcp::server::graceful_shutdown, &server, shutdown_options{.drain = 24h});
  lp.run_until(ended);
  for (int i = 0; i < 20; ++i) lp.poll();  // what was told of an end would end now
  for (auto& pair : own) {
    sync_wait(pair.near.write_all("near")).value();
    sync_wait(pair.far.write_all("far")).value();
  }
  for (std::size_t i = 0; i < reads.size(); ++i) {
    lp.run_until(reads[i]);
    CHECK(sync_wait(reads[i]) == (i % 2 == 0 ? 3 : 4));
  }
}
