// FAULTS 63 for I/O: each allocation of serving, accepting, connecting and answering fails once. The call that needs it
// fails, or one connection is closed; nothing hangs, no permit and no descriptor is lost, and the next client is
// served.
#include <hocket/core/frame_memory.hpp>
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/fiber/await.hpp>
#include <hocket/fiber/spawn.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/alloc.hpp"
#include "support/loopback.hpp"

#include <array>
#include <doctest/doctest.h>
#include <filesystem>
#include <functional>
#include <new>
#include <optional>
#include <string>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

constexpr auto long_enough = 20s;  // a wait that lasts so long is lost

std::size_t open_fds() {
  std::size_t count = 0;
  for ([[maybe_unused]] const auto& current : std::filesystem::directory_iterator("/proc/self/fd")) ++count;
  return count;
}

std::size_t reported = 0;
void count_error(const socket_address&, std::error_code, const std::exception_ptr&) noexcept { ++reported; }

task<result<void>> echo_once(tcp::stream peer) {
  std::array<char, 4> bytes{};
  co_await or_return(peer.read_exactly(bytes));
  co_await or_return(peer.write_all(bytes));
  co_return {};
}
void echo_once_in_fiber(tcp::stream peer) {
  std::array<char, 4> bytes{};
  if (await(peer.read_exactly(bytes))) static_cast<void>(await(peer.write_all(bytes)));
}

// Whether it was answered. A connection that is closed is no answer.
task<bool> ask(const socket_address& at) {
  auto peer = co_await within(long_enough, tcp::connect(at));
  if (!peer) co_return false;
  if (!co_await within(long_enough, peer->write_all("ping"))) co_return false;
  std::array<char, 4> answer{};
  const result<std::size_t> returned = co_await within(long_enough, peer->read_exactly(answer));
  CHECK((returned || returned.error() != std::errc::timed_out));
  co_return returned.has_value();
}

task<> end(tcp::server& server) { static_cast<void>(co_await server.graceful_shutdown({.drain = long_enough})); }

// False: it had no memory.
template <class Call>
bool attempt(Call call) {
  try {
    call();
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  }
}

bool is_answered(loop& lp, const socket_address& at) {
  auto answer_of = spawn(lp, ask, at);
  lp.run_until(answer_of);
  return sync_wait(answer_of);
}

// One server, one client, with the nth allocation failing. Whether there was one.
template <class Handler>
bool serve_with_failure(std::size_t failing, const socket_address& address, Handler handler) {
  CAPTURE(failing);
  trim_frame_memory();
  loop lp;
  std::optional<tcp::server> server;
  bool failed = false, answered = false;
  reported = 0;
  {
    allocation_watch watch(failing);
    attempt(
        [&] { server = tcp::serve(lp, address, {.max_connections = 1, .on_error = count_error}, handler).value(); });
    if (server) attempt([&] { answered = is_answered(lp, server->local_address()); });
    failed = watch.has_failed();
  }
  CHECK((failed || answered));
  if (!server) return failed;
  CHECK(is_answered(lp, server->local_address()));
  const tcp::server_counts counts = server->counts();
  CHECK(counts.completed >= 1);
  CHECK(counts.refused + counts.failed == reported);
  auto ended = spawn(lp, end, std::ref(*server));
  lp.run_until(ended);
  sync_wait(ended);
  CHECK(server->connections() == 0);
  return failed;
}

template <class Handler>
void fail_each(const socket_address& address, Handler handler) {
  serve_with_failure(1000, address, handler);  // what a process keeps from then on is open
  const std::size_t before = open_fds();
  std::size_t failing = 1;
  while (serve_with_failure(failing, address, handler)) ++failing;
  CHECK(failing > 10);
  CHECK(open_fds() == before);
}

}  // namespace

TEST_CASE("fault 63: every allocation of a server and its client fails once, and the next client is served") {
  fail_each("127.0.0.1:0", echo_once);
  fail_each(own_unix_address("net-alloc"), echo_once);
  fail_each("127.0.0.1:0", echo_once_in_fiber);
}

TEST_CASE("fault 63: a shutdown that has no memory can be repeated, or the server destroyed") {
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    CAPTURE(failing);
    trim_frame_memory();
    loop lp;
    auto server = tcp::serve(lp, "127.0.0.1:0", echo_once).value();
    auto peer = sync_wait(tcp::connect(server.local_address())).value();
    while (server.connections() != 1) lp.run_for(1ms);
    allocation_watch watch(failing);
    const bool ended = attempt([&] {
      auto handle = spawn(lp, end, std::ref(server));
      peer.close();
      lp.run_until(handle);
      sync_wait(handle);
    });
    failed = watch.has_failed();
    CHECK(ended != failed);
    if (failing % 2 == 0 && !ended) {
      auto again = spawn(lp, end, std::ref(server));
      lp.run_until(again);
      sync_wait(again);
    }
  }
  CHECK(failing > 3);
}

TEST_CASE("fault 63: a running server can be destroyed without memory") {
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    CAPTURE(failing);
    trim_frame_memory();
    loop lp;
    {
      auto server = tcp::serve(lp, "127.0.0.1:0", echo_once).value();
      auto peer = sync_wait(tcp::connect(server.local_address())).value();
      while (server.connections() != 1) lp.run_for(1ms);
      allocation_watch watch(failing);
      {
        const tcp::server ends = std::move(server);
      }
      failed = watch.has_failed();
    }
    CHECK(lp.live() == 0);
  }
}

// The address is bound again each time.
TEST_CASE("fault 63: every allocation of opening fails once, and leaves no descriptor and no coroutine") {
  const auto open_all = [](loop& lp) {
    auto listener = tcp::listener::bind("127.0.0.1:0");
    if (!listener) return;
    std::vector<tcp::listener> two;
    two.push_back(std::move(*listener));
    if (auto other = tcp::listener::bind("127.0.0.1:0")) two.push_back(std::move(*other));
    static_cast<void>(tcp::serve(lp, std::move(two), echo_once).has_value());
    static_cast<void>(make_unix_pair().has_value());
  };
  {
    loop lp;
    open_all(lp);
  }
  const std::size_t before = open_fds();
  std::size_t failing = 1;
  for (bool failed = true; failed; ++failing) {
    CAPTURE(failing);
    trim_frame_memory();
    {
      loop lp;
      allocation_watch watch(failing);
      attempt([&] { open_all(lp); });
      failed = watch.has_failed();
      CHECK(lp.live() == 0);
    }
    CHECK(open_fds() == before);
  }
  CHECK(failing > 5);
}
