// FAULTS 43: accept fails. A server lives on whatever the error is; errors of single connections are not even told.
#include <hocket/coro/or_return.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/echo.hpp"
#include "unit/net/calls/failing_calls.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <doctest/doctest.h>
#include <string>

using namespace hocket;
using namespace hocket_test;

namespace {

std::atomic<int> notices{0};

// Whether a client is answered. The client makes no call that fails.
bool is_served(const tcp::server& by) {
  auto peer = sync_wait(tcp::connect(by.local_address())).value();
  if (!sync_wait(peer.write_all("ping"))) return false;
  std::array<char, 4> answer{};
  const result<std::size_t> got = sync_wait(peer.read_exactly(answer));
  return got && std::string_view(answer.data(), 4) == "ping";
}

constexpr std::array of_one_connection{ECONNABORTED, EPROTO, ENETDOWN, EHOSTUNREACH, ENETUNREACH, EOPNOTSUPP, EINTR};
constexpr std::array of_the_system{ENOBUFS, ENOMEM, EPERM};

}  // namespace

TEST_CASE("a server lives on when accept fails, whatever the error is (fault 43)") {
  const log_handler before = set_log_handler([](const char*) noexcept { ++notices; });
  notices = 0;
  {
    runtime rt({.workers = 1});
    auto server = tcp::serve(rt, "127.0.0.1:0", echo).value();
    CHECK(is_served(server));
    for (const int error : of_one_connection) {
      CAPTURE(error);
      fail_call(called::accept4, 1, error);
      CHECK(is_served(server));
      CHECK(calls_made() > 1);
    }
    CHECK(notices == 0);
    for (const int error : of_the_system) {
      CAPTURE(error);
      fail_call(called::accept4, 1, error);
      CHECK(is_served(server));
      CHECK(calls_made() > 1);
    }
    CHECK(notices >= 1);
    fail_call(called::count, 0, 0);
    CHECK(server.counts().failed == 0);
  }
  set_log_handler(before);
}

// There may be descriptors again when a connection waits.
TEST_CASE("a server that lacks descriptors tries once more before it refuses a connection (fault 43)") {
  const log_handler before = set_log_handler([](const char*) noexcept {});
  {
    runtime rt({.workers = 1});
    auto server = tcp::serve(rt, "127.0.0.1:0", echo).value();
    for (const int error : {EMFILE, ENFILE}) {
      fail_call(called::accept4, 1, error);
      CHECK(is_served(server));
      CHECK(calls_made() > 1);
    }
    fail_call(called::count, 0, 0);
    CHECK(server.counts().refused == 0);
  }
  set_log_handler(before);
}

TEST_CASE("an accept that does not wait passes over a connection that has ended, too (fault 43)") {
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  auto peer = sync_wait(tcp::connect(door.local_address())).value();
  for (const int error : of_one_connection) {
    CAPTURE(error);
    fail_call(called::accept4, 1, error);
    CHECK(door.try_accept().has_value());
    peer = sync_wait(tcp::connect(door.local_address())).value();
  }
  fail_call(called::accept4, 1, ENOMEM);
  CHECK(door.try_accept().error() == std::errc::not_enough_memory);
  fail_call(called::count, 0, 0);
}
