// Each system call fails once while a server is opened with several listeners: serve() gives the error, and nothing is
// left open. And the calls that a connection's end needs: none that are in vain.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/or_return.hpp>
#include <hocket/net/serve.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/echo.hpp"
#include "support/held_port.hpp"
#include "support/waits.hpp"
#include "unit/net/calls/failing_calls.hpp"

#include <array>
#include <cerrno>
#include <doctest/doctest.h>
#include <string>
#include <thread>
#include <utility>

using namespace hocket;
using namespace hocket_test;

namespace {

void wait_until_empty(const tcp::server& server) {
  while (server.connections() != 0) std::this_thread::yield();
}

task<result<void>> answer_unread(tcp::stream peer) {
  co_await or_return(peer.write_all("answer"));
  co_return {};
}

}  // namespace

TEST_CASE("a server that cannot open one of its listeners closes the others, and the address is free") {
  runtime rt({.workers = 3});
  const held_port held;
  const socket_address address = held.address();
  for (const auto& [which, error] : {std::pair(called::socket, EMFILE), std::pair(called::setsockopt, ENOMEM),
                                     std::pair(called::bind, EADDRINUSE), std::pair(called::listen, EADDRINUSE)}) {
    CAPTURE(call_names[static_cast<std::size_t>(which)]);
    for (int nth = 1;; ++nth) {
      CAPTURE(nth);
      const std::size_t before = open_numbers();
      fail_call(which, nth, error);
      const std::error_code failed = [&] {
        const auto server = tcp::serve(rt, address, echo);
        return server ? std::error_code{} : server.error();
      }();
      const int created = calls_made();
      fail_call(called::count, 0, 0);
      CHECK(open_numbers() == before);
      if (created < nth) {
        CHECK_FALSE(failed);
        CHECK(nth > 3);
        break;
      }
      CHECK(failed == std::error_code(error, std::system_category()));
      CHECK(tcp::serve(rt, address, echo).has_value());
    }
  }
}

TEST_CASE("a connection whose end was read is closed without a further call; another one shuts down writing") {
  runtime rt({.workers = 1});
  auto reads = tcp::serve(rt, "127.0.0.1:0", echo).value();
  auto answers = tcp::serve(rt, "127.0.0.1:0", answer_unread).value();
  fail_call(called::shutdown, 0, 0);
  sync_wait(tcp::connect(reads.local_address())).value().close();
  while (reads.counts().completed == 0) std::this_thread::yield();
  wait_until_empty(reads);
  CHECK(calls_made() == 0);
  sync_wait(tcp::connect(answers.local_address())).value().close();
  while (answers.counts().completed == 0) std::this_thread::yield();
  wait_until_empty(answers);
  CHECK(calls_made() == 1);
  fail_call(called::count, 0, 0);
}

// A peer that is gone is waited for in vain.
TEST_CASE("a connection that cannot shut down writing is closed at once") {
  runtime rt({.workers = 1});
  auto server = tcp::serve(rt, "127.0.0.1:0", answer_unread).value();
  fail_call(called::shutdown, 1, ENOTCONN);
  auto peer = sync_wait(tcp::connect(server.local_address())).value();
  while (server.counts().completed == 0) std::this_thread::yield();
  wait_until_empty(server);
  fail_call(called::count, 0, 0);
  std::string words(6, '\0');
  CHECK(sync_wait(peer.read_exactly(words)) == std::size_t{6});
}
