// In a program of its own, because it replaces getaddrinfo(3).
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/net/seam/host_lookup.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/detail/lookup_threads.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include <doctest/doctest.h>
#include <netdb.h>
#include <servers/on_loop.hpp>
#include <string>
#include <support/stuck_names.hpp>
#include <thread>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;
using namespace hocket_test;
using detail::resolve_host;

namespace {

using found_addresses = result<std::vector<socket_address>>;

std::string text_of(const found_addresses& found) {
  if (!found) return found.error().message();
  std::string text;
  for (const socket_address& address : *found) text += (text.empty() ? "" : " ") + address.to_string();
  return text;
}

std::vector<join_handle<>> spawn_stuck_lookups(int count) {
  std::vector<join_handle<>> waiters;
  for (int i = 0; i < count; ++i)
    waiters.push_back(spawn([i]() -> task<> {
      static_cast<void>(co_await resolve_host("stuck-with-a-name-that-is-not-short-" + std::to_string(i), 80));
    }));
  return waiters;
}

}  // namespace

TEST_CASE("a numeric address, and a unix socket, need no lookup") {
  const std::size_t lookups = lookups_so_far();
  CHECK(text_of(sync_wait(resolve_host("127.0.0.1", 80))) == "127.0.0.1:80");
  CHECK(text_of(sync_wait(resolve_host("::1", 80))) == "[::1]:80");
  CHECK(text_of(sync_wait(resolve_host("fe80::1%1", 80))) ==
        socket_address::parse("[fe80::1%1]:80").value().to_string());
  CHECK(text_of(sync_wait(resolve_host("unix:/run/db", 80))) == "unix:/run/db");
  const auto too_long = sync_wait(resolve_host("unix:/" + std::string(200, 'x'), 80));
  CHECK(too_long.error() == std::errc::filename_too_long);
  CHECK(lookups_so_far() == lookups);
}

TEST_CASE("a name has all of its addresses, in the order of the resolver") {
  CHECK(text_of(sync_wait(resolve_host("two.test", 81))) == "127.0.0.2:81 127.0.0.1:81");
}

TEST_CASE("a name without an address, an empty name, a zero byte and a wrong port are errors of their own") {
  const found_addresses unknown = sync_wait(resolve_host("unknown.test", 80));
  CHECK(unknown.error() == std::error_code(EAI_NONAME, detail::lookup_category()));
  CHECK(unknown.error() == std::errc::host_unreachable);
  CHECK(unknown.error().message() == ::gai_strerror(EAI_NONAME));
  CHECK(sync_wait(resolve_host("", 80)).error() == std::errc::invalid_argument);
  CHECK(sync_wait(resolve_host(std::string("127.0.0.1\0x", 11), 80)).error() == std::errc::invalid_argument);
  CHECK(sync_wait(resolve_host("name", -1)).error() == std::errc::invalid_argument);
  CHECK(sync_wait(resolve_host("name", 65536)).error() == std::errc::invalid_argument);
}

TEST_CASE("waiters of stuck lookups leave by a cancel, a deadline and a kill; other calls go on") {
  on_loop([]() -> task<> {
    stuck_names stuck;
    const std::size_t changed = changed_names();
    auto waiters = spawn_stuck_lookups(64);
    while (stuck.running() < detail::max_lookups) static_cast<void>(co_await yield());
    CHECK(detail::lookup_threads().running() == detail::max_lookups);
    CHECK((co_await within(1ms, resolve_host("stuck.test", 80))).error() == std::errc::timed_out);
    CHECK(text_of(co_await within(30s, resolve_host("127.0.0.1", 80))) == "127.0.0.1:80");
    CHECK((co_await blocking([] { return 1; })).value() == 1);
    for (std::size_t i = 0; i < waiters.size(); ++i) {
      if (i % 2 == 0) waiters[i].cancel();
      else waiters[i].kill();
    }
    for (auto& each : waiters) static_cast<void>(co_await each.join());
    CHECK(stuck.running() == detail::max_lookups);
    const std::size_t lookups = lookups_so_far();
    stuck.release();
    CHECK(text_of(co_await resolve_host("two.test", 81)) == "127.0.0.2:81 127.0.0.1:81");  // behind them in the queue
    CHECK(lookups_so_far() == lookups + 1);  // a lookup that was queued and left is not begun
    CHECK(changed_names() == changed);       // a lookup owns its name
  });
}

TEST_CASE("a shutdown does not wait for a stuck lookup") {
  const stuck_names stuck;
  runtime rt({.workers = 1});
  auto lookup = spawn(rt, []() -> task<> { static_cast<void>(co_await resolve_host("stuck.test", 80)); });
  while (stuck.running() == 0) std::this_thread::yield();
  CHECK(rt.shutdown({.drain = 0ms, .cancel = 10s, .kill = 10s, .report = -1}).remaining == 0);
  CHECK(stuck.running() == 1);
}
