// The server on sockets of the system: one address, several, listeners, a unix path, a loop and a runtime.
#include <hocket/runtime/runtime.hpp>

#include "support/loopback.hpp"
#include "support/temporary_folder.hpp"
#include "unit/http/server/world.hpp"

#include <hocket/core/wait/seam/coroutine_slot.hpp>
#include <hocket/io/signal_set.hpp>

#include <csignal>
#include <mutex>
#include <set>
#include <thread>

using namespace hocket_test;

namespace {

http::router routes() {
  http::router all;
  all.get("/hello", [](http::request&) { return http::text("hello"); });
  all.get("/task", [](http::request&) -> task<result<http::response>> {
    static_cast<void>(co_await sleep_for(1ms));
    co_return http::text("task");
  });
  all.get("/large", [](http::request&) { return http::text(std::string(std::size_t{4} << 20, 'x')); });
  all.post("/echo", [](http::request& rq) { return http::text(rq.body()); });
  return all;
}

std::string get(std::string_view target, bool closes = true) {
  return "GET " + std::string(target) + " HTTP/1.1\r\nHost: a\r\n" + (closes ? "Connection: close\r\n" : "") + "\r\n";
}

// By a plain thread.
std::string ask(const socket_address& at, const std::string& sent) {
  tcp::stream peer = sync_wait(tcp::connect(at)).value();
  sync_wait(peer.write_all(sent)).value();
  std::string reply;
  std::vector<char> buffer(65536);
  for (;;) {
    const std::size_t n = sync_wait(peer.read_some(buffer)).value_or(0);
    if (n == 0) return reply;
    reply.append(buffer.data(), n);
  }
}

void end(http::server& server) {
  const shutdown_report report = sync_wait(server.graceful_shutdown({.drain = 24h}));
  CHECK(report.cancelled + report.killed + report.remaining == 0);
}

constexpr detail::slot_kind span_kind{.name = "span"};
struct span final : detail::coroutine_slot {
  span() : coroutine_slot(span_kind) {}
};

}  // namespace

TEST_CASE("a runtime serves many connections on several workers") {
  for (const std::size_t workers : {1u, 2u, 4u}) {
    CAPTURE(workers);
    runtime rt({.workers = workers});
    http::server server = http::serve(rt, "127.0.0.1:0", {}, routes()).value();
    std::vector<std::thread> clients;
    std::atomic<int> right = 0;
    for (int i = 0; i < 4; ++i)
      clients.emplace_back([&] {
        for (int n = 0; n < 25; ++n) {
          const std::string sent = get("/hello", false) + get("/task", false) + get("/hello");
          if (statuses_of(ask(server.local_address(), sent)) == std::vector<int>{200, 200, 200}) ++right;
        }
      });
    for (std::thread& each : clients) each.join();
    CHECK(right == 100);
    CHECK(server.requests().answers[2] == 300);
    end(server);
  }
}

// A plain handler runs on the worker of its connection. Slots of the handlers that run at the same time are apart.
TEST_CASE("plain handlers on several workers have slots of their own, and spawn") {
  std::atomic<int> ended = 0;
  http::router all;
  all.get("/plain", [&](http::request&) {
    const span outer;
    const span inner;
    spawn([&ended]() -> task<> {
      ++ended;
      co_return;
    });
    return http::text("plain");
  });
  runtime rt({.workers = 2});
  {
    http::server server = http::serve(rt, "127.0.0.1:0", {}, std::move(all)).value();
    std::vector<std::thread> clients;
    std::atomic<int> right = 0;
    std::string sent;
    for (int i = 0; i < 20; ++i) sent += get("/plain", i == 19);
    for (int i = 0; i < 4; ++i)
      clients.emplace_back([&] {
        for (int n = 0; n < 25; ++n)
          if (statuses_of(ask(server.local_address(), sent)).size() == 20) ++right;
      });
    for (std::thread& each : clients) each.join();
    CHECK(right == 100);
    end(server);
  }
  CHECK(ended == 2000);
}

TEST_CASE("connections of one listener are served by all workers") {
  runtime rt({.workers = 2});
  temporary_folder folder;
  std::mutex mutex;
  std::set<std::thread::id> threads;
  http::router all;
  all.get("/plain", [&](http::request&) {
    const std::lock_guard guard(mutex);
    threads.insert(std::this_thread::get_id());
    return http::text("plain");
  });
  http::server server = http::serve(rt, "unix:" + (folder / "socket"), {}, std::move(all)).value();
  for (int i = 0; i < 4; ++i) CHECK(statuses_of(ask(server.local_address(), get("/plain"))).size() == 1);
  CHECK(threads.size() == 2);
  end(server);
}

TEST_CASE("a coroutine may destroy a server as soon as its shutdown has ended") {
  runtime rt({.workers = 3});
  for (int round = 0; round < 50; ++round) {
    std::optional<http::server> server(http::serve(rt, "127.0.0.1:0", {}, routes()).value());
    std::vector<tcp::stream> peers;
    for (int i = 0; i < 6; ++i) {
      peers.push_back(sync_wait(tcp::connect(server->local_address())).value());
      sync_wait(peers.back().write_all(get(i % 2 == 0 ? "/hello" : "/task", false))).value();
    }
    auto ended = spawn(rt, [&server]() -> task<shutdown_report> {
      const shutdown_report report = co_await server->graceful_shutdown({.drain = 24h});
      server.reset();
      co_return report;
    });
    peers.clear();  // else each connection would linger
    CHECK(sync_wait(std::move(ended)).remaining == 0);
  }
}

TEST_CASE("large bodies in both directions arrive whole") {
  runtime rt({.workers = 2});
  http::server server = http::serve(rt, "127.0.0.1:0", {}, routes()).value();
  CHECK(read_answers(ask(server.local_address(), get("/large"))).at(0).body.size() == std::size_t{4} << 20);
  const std::string body(std::size_t{1} << 20, 'y');
  const std::string sent =
      "POST /echo HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
      "\r\n\r\n" + body;
  CHECK((read_answers(ask(server.local_address(), sent)).at(0).body == body));
  end(server);
}

TEST_CASE("a server listens at several addresses, at listeners, and at a unix path") {
  runtime rt({.workers = 2});
  std::vector<socket_address> several{socket_address("127.0.0.1:0"), socket_address("127.0.0.1:0"),
                                      socket_address(own_unix_address("http-several"))};
  http::server server = http::serve(rt, std::move(several), {}, routes()).value();
  REQUIRE(server.local_addresses().size() == 3);
  for (const socket_address& each : server.local_addresses())
    CHECK(statuses_of(ask(each, get("/hello"))) == std::vector<int>{200});
  CHECK(server.counts().accepted == 3);
  end(server);

  std::vector<tcp::listener> listeners;
  listeners.push_back(tcp::listener::bind("127.0.0.1:0").value());
  listeners.push_back(tcp::listener::bind("127.0.0.1:0").value());
  const std::vector<socket_address> at{listeners[0].local_address(), listeners[1].local_address()};
  http::server second = http::serve(rt, std::move(listeners), {}, routes()).value();
  for (const socket_address& each : at) CHECK(statuses_of(ask(each, get("/hello"))) == std::vector<int>{200});
  end(second);
}

TEST_CASE("an address in use, a malformed address, no address and malformed proxies are errors") {
  runtime rt({.workers = 1});
  http::server server = http::serve(rt, "127.0.0.1:0", {}, routes()).value();
  CHECK(http::serve(rt, server.local_address(), {}, routes()).error() == std::errc::address_in_use);
  CHECK(http::serve(rt, "nowhere", {}, routes()).error() == std::errc::invalid_argument);
  CHECK(http::serve(rt, std::vector<socket_address>(), {}, routes()).error() == std::errc::invalid_argument);
  CHECK(http::serve(rt, "127.0.0.1:0", {.trusted_proxies = "10.0.0.0/99"}, routes()).error() ==
        std::errc::invalid_argument);
  std::vector<socket_address> second_in_use{socket_address("127.0.0.1:0"), server.local_address()};
  CHECK(http::serve(rt, std::move(second_in_use), {}, routes()).error() == std::errc::address_in_use);
  end(server);
}

TEST_CASE("run_until() ends a server by a signal, on a runtime and on a loop") {
  runtime rt({.workers = 1});
  signal_set signals{SIGUSR1};
  http::server server = http::serve(rt, {"127.0.0.1:0", "127.0.0.1:0"}, {}, routes()).value();
  std::thread client([&] {
    CHECK(statuses_of(ask(server.local_address(), get("/hello"))) == std::vector<int>{200});
    ::kill(::getpid(), SIGUSR1);
  });
  server.run_until(signals, {.drain = 24h});
  client.join();
  loop lp;
  http::server other = http::serve(lp, "127.0.0.1:0", {}, routes()).value();
  const socket_address at = other.local_address();
  std::thread second([at] {
    CHECK(statuses_of(ask(at, get("/task"))) == std::vector<int>{200});
    ::kill(::getpid(), SIGUSR1);
  });
  other.run_until(SIGUSR1, {.drain = 24h});  // the loop answers after it receives the signal
  second.join();
}

TEST_CASE("a running server is destroyed with its connections") {
  runtime rt({.workers = 2});
  tcp::stream peer;
  {
    http::server server = http::serve(rt, "127.0.0.1:0", {}, routes()).value();
    peer = sync_wait(tcp::connect(server.local_address())).value();
    sync_wait(peer.write_all(get("/hello", false))).value();
    std::array<char, 512> buffer;
    CHECK(sync_wait(peer.read_some(buffer)).value() > 0);
  }
  std::array<char, 1> byte;
  CHECK(sync_wait(peer.read_some(byte)).value_or(0) == 0);
}
