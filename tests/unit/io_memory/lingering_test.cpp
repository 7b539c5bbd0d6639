// How long connections of a server linger, and what they count as. The time is that of a manual clock.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/sleep.hpp>

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr const char* address = "10.0.0.1:80";

// Reads nothing.
task<result<void>> answer_unread(tcp::stream peer) {
  co_await or_return(peer.write_all("answer"));
  co_return {};
}
// Writes for five seconds.
task<result<void>> answer_slowly(tcp::stream peer) {
  for (int i = 0; i < 5; ++i) {
    co_await or_return(peer.write_all("x"));
    static_cast<void>(co_await sleep_for(1s));
  }
  co_return {};
}
task<result<void>> read_to_end(tcp::stream peer) {
  std::array<char, 64> buffer{};
  for (;;) {
    const std::size_t n = co_await or_return(peer.read_some(buffer));
    if (n == 0) co_return {};
  }
}
// Says a word when its server ends.
task<result<void>> say_goodbye(tcp::stream peer) {
  for (bool goes_on = true; goes_on;) {
    const borrowed_bytes bytes = co_await or_return(peer.read_idle());
    goes_on = !bytes.empty();
  }
  co_await or_return(peer.write_all("goodbye"));
  co_return {};
}

struct world {
  manual_clock clock{time_point(1h)};
  loop lp{{.clock = &clock}};
  memory_network net;

  explicit world(duration latency = {}) : net({.clock = &clock, .min_latency = latency, .max_latency = latency}) {}

  template <class Handler>
  tcp::server serve(Handler handler, const tcp::serve_options& options = {}) {
    return tcp::serve(lp, net.listen(address).value(), options, handler).value();
  }
  tcp::stream call() {
    auto caller = spawn(
        lp, [](memory_network& to) -> task<result<tcp::stream>> { co_return co_await to.connect(address); },
        std::ref(net));
    lp.run_until(caller);
    return sync_wait(caller).value();
  }
  // Until the handlers of that many connections have ended.
  void wait_for_ends(const tcp::server& server, std::size_t count) {
    while (server.counts().completed != count) lp.run_for(1ms);
  }
  shutdown_report end(tcp::server& server, shutdown_options options) {
    auto ended = spawn(lp, &tcp::server::graceful_shutdown, &server, options);
    lp.run_until(ended);
    return sync_wait(ended);
  }
};

// A byte each half second, as long as that is possible.
task<> send_on(tcp::stream& peer, int& sent) {
  for (;;) {
    const result<std::size_t> written = co_await peer.write_all("q");
    if (!written) co_return;
    ++sent;
    static_cast<void>(co_await sleep_for(500ms));
  }
}
task<> send_much(tcp::stream& peer, std::size_t size, bool& taken) {
  const std::string bytes(size, 'q');
  taken = (co_await peer.write_all(bytes)).has_value();
}
task<std::string> read_words(tcp::stream& peer) {
  std::string words;
  std::array<char, 64> buffer{};
  for (;;) {
    const result<std::size_t> n = co_await peer.read_some(buffer);
    if (!n) co_return "an error";
    if (*n == 0) co_return words;
    words.append(buffer.data(), *n);
  }
}

}  // namespace

TEST_CASE("a connection that lingers counts until its peer closes, and is closed soon after that") {
  world w;
  auto server = w.serve(answer_unread);
  tcp::stream peer = w.call();
  w.wait_for_ends(server, 1);
  auto words = spawn(w.lp, read_words, std::ref(peer));
  w.lp.run_until(words);
  CHECK(sync_wait(words) == "answer");
  w.lp.run_for(1s);
  CHECK(server.connections() == 1);
  peer.close();
  w.lp.run_for(300ms);
  CHECK(server.connections() == 0);
}

TEST_CASE("a connection whose end was read does not linger") {
  world w;
  auto server = w.serve(read_to_end);
  tcp::stream peer = w.call();
  CHECK(peer.shutdown_write().has_value());
  w.wait_for_ends(server, 1);
  CHECK(server.connections() == 0);
}

TEST_CASE("a silent peer is waited for two seconds") {
  world w;
  auto server = w.serve(answer_unread);
  tcp::stream peer = w.call();
  w.wait_for_ends(server, 1);
  w.lp.run_for(1900ms);
  CHECK(server.connections() == 1);
  w.lp.run_for(400ms);
  CHECK(server.connections() == 0);
}

TEST_CASE("a peer that sends on is waited for, for thirty seconds at most") {
  world w;
  auto server = w.serve(answer_unread);
  tcp::stream peer = w.call();
  w.wait_for_ends(server, 1);
  int sent = 0;
  auto sender = spawn(w.lp, send_on, std::ref(peer), std::ref(sent));
  w.lp.run_for(29s);
  CHECK(server.connections() == 1);
  w.lp.run_for(1500ms);
  CHECK(server.connections() == 0);
  w.lp.run_until(sender);
  CHECK(sent >= 58);
}

TEST_CASE("a peer that sends more than 256 KB is not waited for") {
  for (const auto& [size, lingers] : {std::pair(std::size_t{250'000}, true), std::pair(std::size_t{350'000}, false)}) {
    CAPTURE(size);
    world w;
    auto server = w.serve(answer_unread);
    tcp::stream peer = w.call();
    w.wait_for_ends(server, 1);
    bool taken = false;
    auto sender = spawn(w.lp, send_much, std::ref(peer), size, std::ref(taken));
    w.lp.run_for(1900ms);
    CHECK(server.connections() == (lingers ? 1 : 0));
    CHECK(taken == lingers);
    peer.close();
    w.lp.run_until(sender);
  }
}

// The segments take five seconds each.
TEST_CASE("a peer whose system still takes the answer is waited for") {
  world w(5s);
  auto server = w.serve(answer_slowly);
  tcp::stream peer = w.call();
  w.wait_for_ends(server, 1);
  w.lp.run_for(5500ms);  // the last one has arrived after 4 s
  CHECK(server.connections() == 1);
  w.lp.run_for(1s);
  CHECK(server.connections() == 0);
}

TEST_CASE("a connection that lingers keeps its permit, and loses it to a new peer alone") {
  world w;
  auto server = w.serve(answer_unread, {.max_connections = 1});
  tcp::stream first = w.call();
  w.wait_for_ends(server, 1);
  w.lp.run_for(1900ms);
  CHECK(server.connections() == 1);
  tcp::stream second = w.call();
  w.lp.run_for(1ms);
  CHECK(server.counts().accepted == 2);
  CHECK(server.connections() == 1);
  second.close();
  w.lp.run_for(300ms);
  tcp::stream third = w.call();
  w.wait_for_ends(server, 3);
}

TEST_CASE("what lingers is drained by a shutdown, or ended by its cancel at once") {
  for (const bool drains : {true, false}) {
    CAPTURE(drains);
    world w;
    auto server = w.serve(answer_unread);
    std::vector<tcp::stream> peers;
    for (int i = 0; i < 3; ++i) peers.push_back(w.call());
    w.wait_for_ends(server, 3);
    const time_point before = w.clock.now();
    const shutdown_report report = w.end(server, {.drain = drains ? duration(24h) : duration(1s)});
    CHECK(report.drained == (drains ? 3 : 0));
    CHECK(report.cancelled == (drains ? 0 : 3));
    if (drains) CHECK(w.clock.now() < before + 2300ms);
    else CHECK(w.clock.now() == before + 1s);
  }
}

TEST_CASE(
    "a connection that its server ends while it is idle does not linger, unless its last words are on their way") {
  for (const duration latency : {duration(0), duration(100ms)}) {
    CAPTURE(latency.count());
    world w(latency);
    auto server = w.serve(say_goodbye);
    tcp::stream peer = w.call();
    w.lp.run_for(1s);
    auto words = spawn(w.lp, read_words, std::ref(peer));
    const time_point before = w.clock.now();
    CHECK(w.end(server, {.drain = 24h}).drained == 1);
    CHECK(w.clock.now() - before >= latency);
    CHECK(w.clock.now() - before <= latency * 4);
    w.lp.run_until(words);
    CHECK(sync_wait(words) == "goodbye");
  }
}

TEST_CASE("a graceful close in memory drops what comes until the end of the peer") {
  world w(10ms);
  auto listener = w.net.listen(address).value();
  tcp::stream near = w.call();
  auto far = listener.try_accept().value();
  bool taken = false;
  auto sender = spawn(w.lp, send_much, std::ref(far), std::size_t{300'000}, std::ref(taken));
  auto closed = spawn(
      w.lp, [](tcp::stream& owner) -> task<result<void>> { co_return co_await owner.close_gracefully(); },
      std::ref(near));
  w.lp.run_until(sender);
  CHECK(taken);
  CHECK_FALSE(closed.done());
  far.close();
  w.lp.run_until(closed);
  CHECK(sync_wait(closed).has_value());
  CHECK_FALSE(near.shutdown_read().has_value());
}
