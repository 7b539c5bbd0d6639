// Idle connections of a server: how long they may be idle, and which ones end if their places are needed. The time is
// that of a manual clock.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/timeout_stream.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/sync/select.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

constexpr const char* address = "10.0.0.1:80";

// Handlers that are idle between two messages.
task<result<void>> echo_idle(tcp::stream peer) {
  for (;;) {
    const borrowed_bytes bytes = co_await or_return(peer.read_idle());
    if (bytes.empty()) co_return {};
    co_await or_return(peer.write_all(bytes));
  }
}
task<result<void>> echo_messages(tcp::stream peer) {
  buffered_reader reader(peer);
  while (co_await or_return(reader.wait_for_message())) {
    const std::string byte(co_await or_return(reader.read_exactly(1)));
    co_await or_return(peer.write_all(byte));
  }
  co_return {};
}
void echo_in_fiber(tcp::stream peer) {
  for (;;) {
    auto bytes = await(peer.read_idle());
    if (!bytes || bytes->empty()) return;
    static_cast<void>(await(peer.write_all(*bytes)));
  }
}

// Handlers with waits that have limits of their own, or are not idle.
task<result<void>> echo_in_time(tcp::stream peer) {
  for (;;) {
    const borrowed_bytes bytes = co_await or_return(within(1000s, peer.read_idle()));
    if (bytes.empty()) co_return {};
    co_await or_return(peer.write_all(bytes));
  }
}
task<result<void>> echo_by_timeouts(tcp::stream peer) {
  timeout_stream limited(peer, 1000s);
  for (;;) {
    const borrowed_bytes bytes = co_await or_return(limited.read_idle());
    if (bytes.empty()) co_return {};
    co_await or_return(limited.write_all(bytes));
  }
}
task<result<void>> echo_selected(tcp::stream peer) {
  for (;;) {
    auto first = co_await or_return(select(peer.read_idle(), peer.drain_requested()));
    if (first.index() == 1) co_return {};
    const result<borrowed_bytes> bytes = std::move(first.get<0>());
    if (!bytes || bytes->empty()) co_return {};
    co_await or_return(peer.write_all(*bytes));
  }
}
task<result<void>> echo_selected_messages(tcp::stream peer) {
  buffered_reader reader(peer);
  for (;;) {
    auto first = co_await or_return(select(reader.wait_for_message(), peer.drain_requested()));
    if (first.index() == 1 || !first.get<0>() || !*first.get<0>()) co_return {};
    const std::string byte(co_await or_return(reader.read_exactly(1)));
    co_await or_return(peer.write_all(byte));
  }
}
task<result<void>> echo_borrowed(tcp::stream peer) {
  for (;;) {
    const borrowed_bytes bytes = co_await or_return(peer.read_borrowed());
    if (bytes.empty()) co_return {};
    co_await or_return(peer.write_all(bytes));
  }
}

class world {
 public:
  template <class Handler>
  world(Handler handler, const tcp::serve_options& options)
      : net_{{.clock = &clock}}, server(tcp::serve(lp, net_.listen(address).value(), options, handler).value()) {}
  ~world() {
    peers.clear();
    auto ended = spawn(lp, &tcp::server::graceful_shutdown, &server, shutdown_options{});
    lp.run_until(ended);
    CHECK(sync_wait(ended).remaining == 0);
    CHECK(server.connections() == 0);
  }

  tcp::stream& connect() {
    auto caller = spawn(lp, [&]() -> task<> { peers.push_back((co_await net_.connect(address)).value()); });
    lp.run_until(caller);
    lp.run_for(1ms);
    return peers.back();
  }
  // Sends a byte, and hears it.
  void ask(std::size_t which) {
    auto body = [&]() -> task<bool> {
      std::array<char, 4> answer{};
      if (!co_await peers[which].write_all("q")) co_return false;
      const result<std::size_t> n = co_await peers[which].read_some(answer);
      co_return n && *n == 1;
    };
    auto question = spawn(lp, body);
    lp.run_until(question);
    CHECK(sync_wait(question));
  }
  std::string read(std::size_t which, std::size_t size) {
    std::string text(size, ' ');
    auto body = [&]() -> task<> { static_cast<void>(co_await peers[which].read_exactly(text)); };
    lp.run_until(spawn(lp, body));
    return text;
  }
  // Whether the server has ended the stream. Only while nothing else is to be read.
  bool has_ended(std::size_t which) {
    auto body = [&]() -> task<bool> {
      std::array<char, 4> answer{};
      const result<std::size_t> n = co_await within(0s, peers[which].read_some(answer));
      co_return n && *n == 0;
    };
    auto read = spawn(lp, body);
    lp.run_until(read);
    return sync_wait(read);
  }

  manual_clock clock{time_point(1h)};
  loop lp{{.clock = &clock}};

 private:
  memory_network net_;

 public:
  tcp::server server;
  std::vector<tcp::stream> peers;
};

template <class Handler>
void check_limit(Handler handler, const tcp::serve_options& options, duration limit) {
  world w(handler, options);
  w.connect();
  w.lp.run_for(limit - 5ms);
  CHECK(w.server.connections() == 1);
  w.ask(0);
  w.lp.run_for(limit - 5ms);
  CHECK(w.server.connections() == 1);
  CHECK_FALSE(w.has_ended(0));
  w.lp.run_for(limit / 40);
  CHECK(w.server.connections() == 0);
  CHECK(w.has_ended(0));
  CHECK(w.server.counts().completed == 1);
}

template <class Handler>
void check_stays(Handler handler, const tcp::serve_options& options = {}) {
  world w(handler, options);
  w.connect();
  w.ask(0);
  w.lp.run_for(200s);
  CHECK(w.server.connections() == 1);
  w.ask(0);
}

}  // namespace

TEST_CASE("a connection that is idle for 60 s ends, as at the end of its stream") {
  check_limit(echo_idle, {}, 60s);
  check_limit(echo_messages, {}, 60s);
  check_limit(echo_in_fiber, {}, 60s);
}

TEST_CASE("max_idle is another limit, or none") {
  check_limit(echo_idle, {.max_idle = 2s}, 2s);
  check_limit(echo_idle, {.max_idle = 1h}, 1h);
  check_stays(echo_idle, {.max_idle = duration::max()});
  check_stays(echo_idle, {.max_idle = 24h});
}

TEST_CASE("a wait that is not idle, or has a limit of its own, does not end by the list") {
  check_stays(echo_in_time);
  check_stays(echo_by_timeouts);
  check_stays(echo_selected);
  check_stays(echo_selected_messages);
  check_stays(echo_borrowed);
}

TEST_CASE("each message begins the time anew") {
  world w(echo_idle, {});
  w.connect();
  for (int i = 0; i < 20; ++i) {
    w.lp.run_for(50s);
    w.ask(0);
  }
  w.lp.run_for(59s);
  CHECK(w.server.connections() == 1);
  w.lp.run_for(3s);
  CHECK(w.server.connections() == 0);
}

TEST_CASE("near its limit a server ends the connection that has been idle for longest, and serves the new peer") {
  world w(echo_idle, {.max_connections = 5});
  for (std::size_t i = 0; i < 4; ++i) {
    w.connect();
    w.lp.run_for(2s);
  }
  CHECK(w.server.connections() == 4);
  w.ask(0);
  w.lp.run_for(2s);
  for (const std::size_t oldest : std::initializer_list<std::size_t>{1, 2, 3, 0}) {
    CAPTURE(oldest);
    CHECK_FALSE(w.has_ended(oldest));
    w.connect();
    w.lp.run_for(2s);
    CHECK(w.server.connections() == 4);
    CHECK(w.has_ended(oldest));
    w.ask(w.peers.size() - 1);
  }
}

TEST_CASE("connections end in the order of their idle times, whatever the order in which they came") {
  constexpr std::size_t count = 30;
  world w(echo_idle, {.max_connections = count + 2, .max_idle = 1h});
  for (std::size_t i = 0; i < count; ++i) w.connect();
  const auto place_of = [](std::size_t i) { return i * 7 % count; };
  for (int round = 0; round < 2; ++round) {
    for (std::size_t i = 0; i < count; ++i) {
      w.lp.run_for(80s);
      w.ask(place_of(i));
    }
  }
  std::size_t ended = 0;
  for (std::size_t i = 0; i < count; ++i) {
    w.connect();
    w.lp.run_for(1ms);
    for (; ended < count && w.has_ended(place_of(ended)); ++ended) continue;
    CHECK(ended == i + 1);
  }
}

TEST_CASE("a sixteenth of the places stays free") {
  world w(echo_idle, {.max_connections = 64});
  for (std::size_t i = 0; i < 80; ++i) w.connect();
  CHECK(w.server.connections() == 60);
  for (std::size_t i = 0; i < 20; ++i) CHECK(w.has_ended(i));
  CHECK_FALSE(w.has_ended(20));
}

TEST_CASE("if no connection is idle, a peer waits until one is") {
  world w(echo_borrowed, {.max_connections = 2});
  for (std::size_t i = 0; i < 3; ++i) w.connect();
  w.lp.run_for(100s);
  CHECK(w.server.counts().accepted == 2);
  CHECK(w.server.connections() == 2);
}

namespace {

// Busy for ten seconds, then idle.
task<result<void>> work_then_echo(tcp::stream peer) {
  static_cast<void>(co_await sleep_for(10s));
  co_return co_await echo_idle(std::move(peer));
}
// Ten seconds after each message.
task<result<void>> answer_slowly(tcp::stream peer) {
  for (;;) {
    const borrowed_bytes bytes = co_await or_return(peer.read_idle());
    if (bytes.empty()) co_return {};
    static_cast<void>(co_await sleep_for(10s));
  }
}
// Reads nothing.
task<result<void>> answer_unread(tcp::stream peer) {
  co_await or_return(peer.write_all("answer"));
  co_return {};
}

}  // namespace

TEST_CASE("a connection that has become busy is not evicted, however long it was idle before") {
  world w(answer_slowly, {.max_connections = 3});
  w.connect();
  w.lp.run_for(20s);
  w.connect();
  w.lp.run_for(2s);
  auto question = spawn(w.lp, [&]() -> task<> { static_cast<void>(co_await w.peers[0].write_all("q")); });
  w.lp.run_until(question);
  w.lp.run_for(1s);
  w.connect();
  CHECK(w.has_ended(1));
  w.lp.run_for(10s);
  CHECK(w.server.connections() == 2);
  CHECK_FALSE(w.has_ended(0));
}

namespace {

detail::open_descriptor* last_record = nullptr;

task<result<void>> echo_until_drained(tcp::stream peer, int& drains) {
  const result<borrowed_bytes> bytes = co_await peer.read_idle();
  if (bytes && !bytes->empty()) co_return {};
  if (co_await within(1s, peer.drain_requested())) ++drains;
  co_return {};
}
task<result<void>> echo_noted(tcp::stream peer) {
  last_record = &detail::descriptor_access::record_of(peer);
  co_return co_await echo_idle(std::move(peer));
}

}  // namespace

// The bytes have arrived, and no driver has seen them.
TEST_CASE("an eviction reads the bytes that have arrived, and ends the connection after the answer") {
  world w(echo_noted, {});
  w.connect();
  CHECK(sync_wait(w.peers[0].write_all("q")).has_value());
  const std::uint32_t since = last_record->idle_since();
  CHECK(since != 0);
  last_record->evict(last_record->generation(), since);
  w.lp.run_for(1ms);
  CHECK(w.read(0, 1) == "q");
  CHECK(w.has_ended(0));
  CHECK(w.server.counts().completed == 1);
}

TEST_CASE("an eviction of another time, or of the descriptor before, ends nothing") {
  world w(echo_noted, {});
  w.connect();
  last_record->evict(last_record->generation(), last_record->idle_since() + 1);
  last_record->evict(last_record->generation() - 1, last_record->idle_since());
  w.lp.run_for(1s);
  w.ask(0);
}

TEST_CASE("a wait for the drain does not end by an eviction") {
  manual_clock clock{time_point(1h)};
  loop lp({.clock = &clock});
  memory_network net({.clock = &clock});
  int drains = 0;
  auto server = tcp::serve(lp, net.listen(address).value(), echo_until_drained, std::ref(drains)).value();
  tcp::stream peer;
  lp.run_until(spawn(lp, [&]() -> task<> { peer = (co_await net.connect(address)).value(); }));
  lp.run_for(70s);
  CHECK(server.counts().completed == 1);
  CHECK(drains == 0);
  auto ended = spawn(lp, &tcp::server::graceful_shutdown, &server, shutdown_options{});
  lp.run_until(ended);
}

TEST_CASE("a peer that waits gets the place of a connection that becomes idle") {
  world w(work_then_echo, {.max_connections = 2});
  for (std::size_t i = 0; i < 3; ++i) w.connect();
  w.lp.run_for(9s);
  CHECK(w.server.counts().accepted == 2);
  w.lp.run_for(3s);
  CHECK(w.server.counts().accepted == 3);
}

TEST_CASE("a server with a reply to peers over its limit sends it only if no connection is idle") {
  world w(work_then_echo, {.max_connections = 2, .overload_reply = "busy"});
  for (std::size_t i = 0; i < 3; ++i) w.connect();
  w.lp.run_for(1s);
  CHECK(w.server.counts().refused == 1);
  w.lp.run_for(20s);
  w.connect();
  w.lp.run_for(1s);
  CHECK(w.server.counts().refused == 1);
  CHECK(w.server.counts().accepted == 3);
}

TEST_CASE("connections that linger end before idle ones") {
  world w(answer_unread, {.max_connections = 3});
  w.connect();
  w.lp.run_for(100ms);
  w.connect();
  w.lp.run_for(100ms);
  CHECK(w.server.connections() == 2);
  w.connect();  // the first one, which lingers, makes room
  CHECK(w.server.connections() == 2);
  CHECK(w.server.counts().accepted == 3);
}
