// Servers: on runtimes and loops, with handlers of both kinds, their limits, errors and ends.
#include <hocket/coro/or_return.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/io/signal_set.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/run.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/sleep.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"
#include "support/loopback.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <doctest/doctest.h>
#include <functional>
#include <string_view>
#include <sys/resource.h>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

task<result<void>> echo(tcp::stream peer, std::atomic<int>& served) {
  std::array<char, 64> buffer;
  ++served;
  while (std::size_t n = co_await or_return(peer.read_some(buffer)))
    co_await or_return(peer.write_all(std::span(buffer.data(), n)));
  co_return {};
}

void echo_in_fiber(tcp::stream peer, std::atomic<int>& served) {
  std::array<char, 64> buffer;
  ++served;
  for (auto got = await(peer.read_some(buffer)); got && *got != 0; got = await(peer.read_some(buffer)))
    static_cast<void>(await(peer.write_all(std::span(buffer.data(), *got))));
}

// Waits for a stop, and for nothing else.
task<> stays(tcp::stream, std::atomic<int>& served, event& never) {
  ++served;
  static_cast<void>(co_await never.wait());
}
task<> does_not_heed(tcp::stream, std::atomic<int>& served, event& never) {
  ++served;
  for (;;) static_cast<void>(co_await never.wait());
}

// As a client on a plain thread.
std::string ask(const socket_address& at, std::string_view words) {
  auto peer = sync_wait(tcp::connect(at)).value();
  sync_wait(peer.write_all(words)).value();
  std::string answer(words.size(), '\0');
  sync_wait(peer.read_exactly(answer)).value();
  return answer;
}

void wait_until_served(const std::atomic<int>& served, int count) {
  while (served < count) std::this_thread::yield();
}

int errors_told = 0;

}  // namespace

TEST_CASE("a server on a runtime answers at each worker, and ends by a signal") {
  runtime rt({.workers = 2});
  std::atomic<int> served{0};
  signal_set signals{SIGUSR1};
  auto server = tcp::serve(rt, "127.0.0.1:0", echo, std::ref(served)).value();
  CHECK(server.local_address().port() != 0);
  std::thread client([&] {
    for (int i = 0; i < 20; ++i) CHECK(ask(server.local_address(), "hello") == "hello");
    ::raise(SIGUSR1);
  });
  const shutdown_report told = server.run_until(signals, {.drain = 10s});
  client.join();
  CHECK(served == 20);
  CHECK(server.counts().accepted == 20);
  CHECK(server.connections() == 0);
  CHECK(told.remaining == 0);
  auto late = sync_wait(tcp::connect(server.local_address()));
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error() == std::errc::connection_refused);
}

TEST_CASE("a server on a loop has fibers for handlers, and runs the loop until a signal") {
  loop lp;
  std::atomic<int> served{0};
  auto server = tcp::serve(lp, hocket_test::loopback_v6_or_v4(), echo_in_fiber, std::ref(served)).value();
  std::thread client([&] {
    for (int i = 0; i < 5; ++i) CHECK(ask(server.local_address(), "fiber") == "fiber");
    ::raise(SIGUSR1);
  });
  server.run_until({SIGUSR1, SIGUSR2}, {.drain = 10s});
  client.join();
  CHECK(served == 5);
}

TEST_CASE("connections that do not end are cancelled, and then killed; the report tells how many") {
  runtime rt({.workers = 2});
  std::atomic<int> served{0};
  event never;
  auto heeds = tcp::serve(rt, "127.0.0.1:0", stays, std::ref(served), std::ref(never)).value();
  auto ignores =
      tcp::serve(rt, hocket_test::own_unix_address("serve-test"), does_not_heed, std::ref(served), std::ref(never))
          .value();
  std::vector<tcp::stream> peers;
  for (int i = 0; i < 3; ++i) peers.push_back(sync_wait(tcp::connect(heeds.local_address())).value());
  for (int i = 0; i < 2; ++i) peers.push_back(sync_wait(tcp::connect(ignores.local_address())).value());
  wait_until_served(served, 5);
  const shutdown_options cancels{.drain = 1ms, .cancel = 24h}, kills{.drain = 1ms, .cancel = 1ms, .kill = 24h};
  auto ended = spawn(rt, [&]() -> task<> {
    const shutdown_report first = co_await heeds.graceful_shutdown(cancels);
    CHECK(first.cancelled == 3);
    CHECK(first.killed == 0);
    const shutdown_report second = co_await ignores.graceful_shutdown(kills);
    CHECK(second.cancelled == 0);
    CHECK(second.killed == 2);
  });
  sync_wait(ended);
  char byte = 0;
  for (tcp::stream& peer : peers) CHECK(sync_wait(peer.read_some(std::span(&byte, 1))) == std::size_t{0});
}

TEST_CASE("a server that is destroyed kills its connections") {
  std::atomic<int> served{0};
  event never;
  runtime rt({.workers = 2});
  loop lp;
  {
    auto on_runtime = tcp::serve(rt, "127.0.0.1:0", stays, std::ref(served), std::ref(never)).value();
    auto peer = sync_wait(tcp::connect(on_runtime.local_address())).value();
    wait_until_served(served, 1);
  }
  {
    auto on_loop = tcp::serve(lp, "127.0.0.1:0", stays, std::ref(served), std::ref(never)).value();
    auto peer = sync_wait(tcp::connect(on_loop.local_address())).value();
    while (served < 2) lp.run_for(1ms);
  }
  CHECK(rt.live() == 0);
  CHECK(lp.live() == 0);
}

TEST_CASE("as many connections as allowed are served at a time, and the next one when one ends") {
  runtime rt({.workers = 2});
  std::atomic<int> served{0};
  auto server = tcp::serve(rt, "127.0.0.1:0", {.max_connections = 2}, echo, std::ref(served)).value();
  std::vector<tcp::stream> peers;
  for (int i = 0; i < 4; ++i) peers.push_back(sync_wait(tcp::connect(server.local_address())).value());
  wait_until_served(served, 2);
  CHECK(server.connections() == 2);
  for (tcp::stream& peer : peers) peer.close();
  wait_until_served(served, 4);
  CHECK(server.counts().accepted == 4);
}

TEST_CASE("what a handler returns as an error or throws is told with its peer, or counted") {
  loop lp;
  errors_told = 0;
  static socket_address told;
  const auto on_error = [](const socket_address& peer, std::error_code error,
                           const std::exception_ptr& thrown) noexcept {
    told = peer;
    errors_told +=
        thrown ? (error == std::errc::no_space_on_device ? 100 : 10) : (error == std::errc::io_error ? 1 : 0);
  };
  const auto fails = [](tcp::stream, int how) -> task<result<void>> {
    if (how == 1) throw std::system_error(std::make_error_code(std::errc::no_space_on_device));
    if (how == 2) throw 3;
    co_return failure(std::errc::io_error);
  };
  for (int how = 0; how < 3; ++how) {
    auto server = tcp::serve(lp, "127.0.0.1:0", {.on_error = on_error}, fails, how).value();
    auto peer = sync_wait(tcp::connect(server.local_address())).value();
    while (server.counts().failed == 0) lp.run_for(1ms);
    CHECK(told == peer.local_address());
  }
  CHECK(errors_told == 111);
}

TEST_CASE("an address that cannot be served is the result of serve") {
  loop lp;
  std::atomic<int> served{0};
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  CHECK(tcp::serve(lp, door.local_address(), echo, std::ref(served)).error() == std::errc::address_in_use);
  CHECK(tcp::serve(lp, "nowhere:80", echo, std::ref(served)).error() == std::errc::invalid_argument);
  CHECK(lp.live() == 0);
}

// UBSan looks at memory through a pipe, for which there is no descriptor left.
TEST_CASE("a server without descriptors closes connections at once, and recovers (fault 42)") {
  if (detail::sanitizer == detail::sanitizer_kind::asan) return;
  const auto end = hocket_test::end_of_child([] {
    set_log_handler([](const char*) noexcept {});
    std::atomic<int> served{0};
    runtime rt({.workers = 1});
    auto server = tcp::serve(rt, "127.0.0.1:0", echo, std::ref(served)).value();
    CHECK(ask(server.local_address(), "before") == "before");
    while (server.connections() != 0) std::this_thread::yield();
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = 64;
    ::setrlimit(RLIMIT_NOFILE, &limit);
    std::vector<int> taken;
    for (int number = ::dup(0); number >= 0; number = ::dup(0)) taken.push_back(number);
    ::close(taken.back());  // for the client alone
    auto peer = sync_wait(tcp::connect(server.local_address())).value();
    char byte = 0;
    CHECK_FALSE(sync_wait(peer.read_exactly(std::span(&byte, 1))).has_value());
    CHECK(server.counts().refused == 1);
    taken.pop_back();
    for (const int number : taken) ::close(number);
    CHECK(ask(server.local_address(), "after") == "after");
  });
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}
