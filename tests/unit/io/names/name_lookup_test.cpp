// In a program of its own, because it replaces getaddrinfo(3).
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/io/detail/name_lookup.hpp>
#include <hocket/io/file.hpp>
#include <hocket/runtime/blocking.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include <chrono>
#include <doctest/doctest.h>
#include <netdb.h>
#include <servers/on_loop.hpp>
#include <string>
#include <support/stuck_names.hpp>
#include <vector>

using namespace hocket;
using namespace std::chrono_literals;
using namespace hocket_test;
using texts = std::vector<std::string>;

TEST_CASE("a numeric host is its own address; a name has all of its addresses, in order") {
  on_loop([]() -> task<> {
    const texts v4{"127.0.0.1"}, v6{"::1"}, both{"127.0.0.2", "127.0.0.1"};
    CHECK((co_await detail::resolve_host("127.0.0.1")).value() == v4);
    CHECK((co_await detail::resolve_host("::1")).value() == v6);
    CHECK((co_await detail::resolve_host("two.test")).value() == both);
    CHECK(detail::is_numeric_host("10.0.0.1"));
    CHECK_FALSE(detail::is_numeric_host("two.test"));
    CHECK_FALSE(detail::is_numeric_host(""));
  });
}

TEST_CASE("a name that is unknown, or has a zero byte, is an error") {
  on_loop([]() -> task<> {
    const auto unknown = co_await detail::resolve_host("unknown.test");
    CHECK(unknown.error() == std::error_code(EAI_NONAME, detail::name_lookup_category()));
    CHECK_FALSE(unknown.error().message().empty());
    const auto cut = co_await detail::resolve_host(std::string("127.0.0.1\0x", 11));
    CHECK(cut.error() == std::errc::invalid_argument);
  });
}

TEST_CASE("waiters of stuck lookups leave by a cancel, a deadline and a kill; other calls go on") {
  on_loop([]() -> task<> {
    const stuck_names stuck;
    std::vector<join_handle<>> waiters;
    for (int i = 0; i < 64; ++i)
      waiters.push_back(spawn([]() -> task<> { static_cast<void>(co_await detail::resolve_host("stuck.test")); }));
    while (stuck.running() < 32) static_cast<void>(co_await yield());
    CHECK((co_await within(1ms, detail::resolve_host("stuck.test"))).error() == std::errc::timed_out);
    CHECK((co_await within(30s, detail::resolve_host("127.0.0.1"))).has_value());
    CHECK((co_await blocking([] { return 1; })).value() == 1);
    for (std::size_t i = 0; i < waiters.size(); ++i) {
      if (i % 2 == 0) waiters[i].cancel();
      else waiters[i].kill();
    }
    for (auto& each : waiters) static_cast<void>(co_await each.join());
    CHECK(stuck.running() == 32);
  });
}

TEST_CASE("a shutdown does not wait for a stuck lookup") {
  const stuck_names stuck;
  runtime rt({.workers = 1});
  auto lookup = spawn(rt, []() -> task<> { static_cast<void>(co_await detail::resolve_host("stuck.test")); });
  while (stuck.running() == 0) std::this_thread::yield();
  CHECK(rt.shutdown({.drain = 0ms, .cancel = 10s, .kill = 10s, .report = -1}).remaining == 0);
  CHECK(stuck.running() == 1);
}
