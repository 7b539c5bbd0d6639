// A handler hears that its server drains, beside what else it waits for.
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"
#include "support/tcp_pair.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <string_view>
#include <thread>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

// Of an event stream: it has no news, and its peer sends nothing.
struct news_stream {
  event news;
  std::atomic<int> waiting{0};
};
task<> send_news(tcp::stream peer, news_stream& state) {
  state.waiting.fetch_add(1);
  auto first = co_await select(state.news.wait(), peer.drain_requested());
  if (!first || first->index() != 1) co_return;
  auto again = co_await peer.drain_requested();  // at once
  static_cast<void>(co_await peer.write_all(again ? "goodbye" : "lost"));
}
task<> wait_idle(tcp::stream peer, news_stream& state) {
  state.waiting.fetch_add(1);
  auto first = co_await select(state.news.wait(), peer.read_idle());
  if (!first || first->index() != 1 || !first->get<1>() || !first->get<1>()->empty()) co_return;
  static_cast<void>(co_await peer.write_all("goodbye"));
}

// Its closed() begins to wait first.
task<> watch_peer(tcp::stream peer, news_stream& state) {
  auto end =
      spawn([](tcp::stream& watched) -> task<> { static_cast<void>(co_await watched.closed()); }, std::ref(peer));
  co_await yield();
  state.waiting.fetch_add(1);
  auto drained = co_await peer.drain_requested();
  static_cast<void>(co_await peer.write_all(drained ? "goodbye" : "lost"));
  static_cast<void>(peer.shutdown_write());
  static_cast<void>(co_await end.join());
}

std::string words_of(tcp::stream& peer) {
  std::string words;
  std::array<char, 16> buffer{};
  for (std::size_t size = 1; size != 0;) {
    size = sync_wait(peer.read_some(buffer)).value_or(0);
    words.append(buffer.data(), size);
  }
  return words;
}

}  // namespace

TEST_CASE("a handler hears the drain of its server, and says its last words") {
  for (auto* handler : {&send_news, &wait_idle}) {
    for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
      news_stream state;
      runtime rt({.workers = workers});
      auto server = tcp::serve(rt, "127.0.0.1:0", handler, std::ref(state)).value();
      std::array<tcp::stream, 8> peers;
      for (tcp::stream& peer : peers) peer = sync_wait(tcp::connect(server.local_address())).value();
      while (state.waiting != static_cast<int>(peers.size())) std::this_thread::yield();
      const shutdown_report report = sync_wait(server.graceful_shutdown({.drain = 24h}));
      CHECK(report.drained == peers.size());
      CHECK(report.cancelled + report.killed + report.remaining == 0);
      for (tcp::stream& peer : peers) CHECK(words_of(peer) == "goodbye");
    }
  }
}

TEST_CASE("a handler hears the drain of its server beside a wait for the end of its peer, and then that end") {
  for (const std::size_t workers : {std::size_t{1}, std::size_t{2}}) {
    news_stream state;
    runtime rt({.workers = workers});
    auto server = tcp::serve(rt, "127.0.0.1:0", watch_peer, std::ref(state)).value();
    std::array<tcp::stream, 8> peers;
    for (tcp::stream& peer : peers) peer = sync_wait(tcp::connect(server.local_address())).value();
    while (state.waiting != static_cast<int>(peers.size())) std::this_thread::yield();
    auto ended = spawn(rt, &tcp::server::graceful_shutdown, &server, shutdown_options{.drain = 24h});
    for (tcp::stream& peer : peers) {
      CHECK(words_of(peer) == "goodbye");
      peer.close();
    }
    CHECK(sync_wait(ended.join()).value().drained == peers.size());
  }
}

TEST_CASE("a forked child that closes or releases a connection leaves its parent's wait for the drain alone") {
  for (const bool closes : {true, false}) {
    loop lp;
    auto pair = hocket_test::make_tcp_pair();
    auto ended = spawn(lp, [&]() -> task<> {
      auto none = co_await pair.near.drain_requested();
      CHECK(none.error_or({}) == std::errc::operation_canceled);
    });
    lp.poll();
    CHECK(pair.near.release().error_or({}) == std::errc::device_or_resource_busy);
    hocket_test::expect_return([&] {
      if (closes) pair.near.close();
      else CHECK(pair.near.release().has_value());
      lp.poll();
      CHECK_FALSE(ended.done());
      ended.cancel();  // a stop still ends the copy
      lp.poll();
      CHECK(ended.done());
    });
    lp.poll();
    CHECK_FALSE(ended.done());
    pair.near.close();
    lp.run_until(ended);
    CHECK(ended.done());
  }
}

TEST_CASE("a stream of no server waits for a drain until its deadline, whatever its peer does") {
  loop lp;
  auto pair = hocket_test::make_tcp_pair();
  auto ended = spawn(lp, [&]() -> task<> {
    auto none = co_await within(1ms, pair.near.drain_requested());
    CHECK(none.error_or({}) == std::errc::timed_out);
    pair.far.close();
    auto closed = co_await pair.near.closed();
    CHECK(closed.has_value());
    none = co_await within(1ms, pair.near.drain_requested());
    CHECK(none.error_or({}) == std::errc::timed_out);
    pair.near.close();
    none = co_await pair.near.drain_requested();
    CHECK(none.error_or({}) == std::errc::bad_file_descriptor);
  });
  lp.run_until(ended);
  CHECK(ended.done());
}
