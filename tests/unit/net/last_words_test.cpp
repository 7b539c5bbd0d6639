// What a handler has written before it returns arrives, also if it has not read the whole request: on runtimes and
// loops, over TCP and unix sockets, by tasks and fibers, and however the handler ends.
#include <hocket/coro/or_return.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "support/loopback.hpp"
#include "support/tcp_pair.hpp"

#include <array>
#include <atomic>
#include <doctest/doctest.h>
#include <functional>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

using namespace hocket;
using hocket_test::own_unix_address;
using namespace std::chrono_literals;

namespace {

const std::string answer(20'000, 'a');  // fits into the buffers of sockets
constexpr std::size_t request_size = 10'000;

// Reads a byte of the request.
task<result<void>> answer_early(tcp::stream& peer) {
  char byte = 0;
  co_await or_return(peer.read_some(std::span(&byte, 1)));
  co_await or_return(peer.write_all(answer));
  co_return {};
}

task<result<void>> returns(tcp::stream peer) { co_return co_await answer_early(peer); }
task<result<void>> fails(tcp::stream peer) {
  co_await or_return(answer_early(peer));
  co_return failure(std::errc::bad_message);
}
task<> throws(tcp::stream peer) {
  static_cast<void>(co_await answer_early(peer));
  throw std::runtime_error("no more");
}
void returns_in_fiber(tcp::stream peer) {
  char byte = 0;
  if (await(peer.read_some(std::span(&byte, 1)))) static_cast<void>(await(peer.write_all(answer)));
}
task<result<void>> closes(tcp::stream peer) {
  co_await or_return(answer_early(peer));
  peer.close();
  co_return {};
}
task<result<void>> resets(tcp::stream peer) {
  co_await or_return(peer.set_reset_on_close(true));
  co_return co_await answer_early(peer);
}
task<result<void>> closes_gracefully(tcp::stream peer) {
  co_await or_return(answer_early(peer));
  co_return co_await peer.close_gracefully();
}

std::size_t ended(const tcp::server& server) {
  const tcp::server_counts counts = server.counts();
  return counts.completed + counts.failed + counts.cancelled;
}

// What a peer has received, and its first error.
struct peer_view {
  std::size_t bytes = 0;
  std::error_code error{};
};

void send_on(tcp::stream& peer, peer_view& all) {
  const result<std::size_t> sent = sync_wait(peer.write_all(std::string(100, 'q')));
  if (!sent) all.error = sent.error();
}
void read_answer(tcp::stream& peer, peer_view& all) {
  std::array<char, 4096> buffer{};
  result<std::size_t> n;
  while ((n = sync_wait(peer.read_some(buffer))) && *n != 0) all.bytes += *n;
  if (!n && !all.error) all.error = n.error();
}

// Of a peer that sends on after the handler has returned.
peer_view ask(const tcp::server& server) {
  peer_view all;
  const std::size_t before = ended(server);
  auto peer = sync_wait(tcp::connect(server.local_address())).value();
  sync_wait(peer.write_all(std::string(request_size, 'q'))).value();
  while (ended(server) == before) std::this_thread::yield();
  send_on(peer, all);
  read_answer(peer, all);
  return all;
}

template <class Handler>
peer_view ask_on_runtime(const std::string& address, Handler handler) {
  runtime rt({.workers = 2});
  auto server = tcp::serve(rt, address, handler).value();
  return ask(server);
}
template <class Handler>
peer_view ask_on_loop(const std::string& address, Handler handler) {
  loop lp;
  auto server = tcp::serve(lp, address, handler).value();
  peer_view all;
  std::atomic<bool> done = false;
  std::thread client([&] {
    all = ask(server);
    done = true;
    lp.stop();
  });
  while (!done) lp.run();
  client.join();
  return all;
}

template <class Handler>
void arrives(Handler handler) {
  for (const std::string& address : {std::string("127.0.0.1:0"), own_unix_address("last-words")}) {
    CAPTURE(address);
    for (const peer_view& all : {ask_on_runtime(address, handler), ask_on_loop(address, handler)}) {
      CHECK(all.bytes == answer.size());
      CHECK_FALSE(all.error);
    }
  }
}

}  // namespace

TEST_CASE("an answer arrives though its request was not read to the end, however the handler ends") {
  arrives(returns);
  arrives(fails);
  arrives(throws);
  arrives(returns_in_fiber);
}

TEST_CASE("a handler that closes gracefully returns when its peer has closed, and the answer has arrived") {
  runtime rt({.workers = 2});
  auto server = tcp::serve(rt, "127.0.0.1:0", closes_gracefully).value();
  peer_view all;
  {
    auto peer = sync_wait(tcp::connect(server.local_address())).value();
    sync_wait(peer.write_all(std::string(request_size, 'q'))).value();
    read_answer(peer, all);
    CHECK(server.counts().completed == 0);
    send_on(peer, all);
  }
  while (server.connections() != 0) std::this_thread::yield();
  CHECK(all.bytes == answer.size());
  CHECK_FALSE(all.error);
  CHECK(server.counts().completed == 1);
}

TEST_CASE("a stream that its handler closes is closed at once, and its peer is reset") {
  CHECK(ask_on_runtime("127.0.0.1:0", closes).error);
  CHECK(ask_on_runtime(own_unix_address("last-words"), closes).error);
  CHECK(ask_on_runtime("127.0.0.1:0", resets).error);
}

TEST_CASE("a stream that outlives its handler waits for its peer, too, and closes at once if it outlives its server") {
  for (const bool outlives_server : {false, true}) {
    CAPTURE(outlives_server);
    runtime rt({.workers = 2});
    std::optional<tcp::stream> saved;
    const auto save = [&](tcp::stream peer) -> task<result<void>> {
      auto cause = co_await answer_early(peer);
      saved = std::move(peer);
      co_return cause;
    };
    std::optional<tcp::server> server = tcp::serve(rt, "127.0.0.1:0", save).value();
    auto peer = sync_wait(tcp::connect(server->local_address())).value();
    sync_wait(peer.write_all(std::string(request_size, 'q'))).value();
    while (server->counts().completed == 0) std::this_thread::yield();
    while (server->connections() != 0) std::this_thread::yield();
    if (outlives_server) server.reset();
    saved.reset();
    peer_view all;
    send_on(peer, all);
    read_answer(peer, all);
    CHECK((outlives_server || all.bytes == answer.size()));
    CHECK(static_cast<bool>(all.error) == outlives_server);
  }
}

TEST_CASE("a forked child that destroys its copy of a connection leaves the connection to its parent") {
  loop lp;
  std::optional<tcp::stream> saved;
  const auto save = [&](tcp::stream peer) -> task<> {
    saved = std::move(peer);
    co_return;
  };
  auto server = tcp::serve(lp, "127.0.0.1:0", save).value();
  auto peer = sync_wait(tcp::connect(server.local_address())).value();
  while (!saved) lp.run_for(1ms);
  const pid_t child = ::fork();
  if (child == 0) {
    saved.reset();
    ::_exit(0);
  }
  CHECK(::waitpid(child, nullptr, 0) == child);
  CHECK(sync_wait(saved->write_all("still here")) == std::size_t{10});
  std::string words(10, '\0');
  CHECK(sync_wait(peer.read_exactly(words)) == std::size_t{10});
  CHECK(words == "still here");
}

TEST_CASE("a graceful close waits for the end of the peer, drops what comes, and has closed then") {
  hocket_test::tcp_pair ends = hocket_test::make_tcp_pair();
  tcp::stream &near = ends.near, &far = ends.far;
  sync_wait(far.write_all(std::string(request_size, 'q'))).value();
  CHECK(sync_wait(within(0ms, near.close_gracefully())).error() == std::errc::timed_out);
  CHECK(near.native_handle() >= 0);
  CHECK(sync_wait(near.write_all("x")).error() == std::errc::broken_pipe);
  CHECK(sync_wait(read_all(far)) == "");
  std::thread late([&] {
    sync_wait(far.write_all(std::string(1'000'000, 'q'))).value();
    far.close();
  });
  CHECK(sync_wait(near.close_gracefully()).has_value());
  late.join();
  CHECK(near.native_handle() == -1);
  CHECK(sync_wait(near.close_gracefully()).error() == std::errc::bad_file_descriptor);
}

TEST_CASE("a graceful close of a connection that the peer has reset is an error, and leaves the closing to its owner") {
  auto [near, far] = hocket_test::make_tcp_pair();
  CHECK(far.set_reset_on_close(true).has_value());
  far.close();
  CHECK_FALSE(sync_wait(near.close_gracefully()).has_value());
  CHECK(near.native_handle() >= 0);
  near.close();
  tcp::stream none;
  CHECK(sync_wait(none.close_gracefully()).error() == std::errc::bad_file_descriptor);
}

TEST_CASE("a loop that looks at many connections that linger lets others run meanwhile") {
  constexpr std::size_t count = 65;  // one more than it looks at in a turn
  loop lp;
  event all_connected;
  const auto leave = [&](tcp::stream) -> task<> { (void)co_await all_connected.wait(); };
  auto server = tcp::serve(lp, "127.0.0.1:0", {.max_connections = 100}, leave).value();
  std::set<std::size_t> seen;
  const auto watch = [&]() -> task<> {
    std::vector<tcp::stream> peers;
    for (std::size_t i = 0; i < count; ++i) peers.push_back((co_await tcp::connect(server.local_address())).value());
    while (server.counts().accepted != count) co_await yield();
    peers.clear();
    all_connected.set();
    while (server.connections() != 0) {
      seen.insert(server.connections());
      co_await yield();
    }
  };
  auto watched = spawn(lp, watch);
  lp.run_until(watched);
  CHECK(seen.contains(1));
}
