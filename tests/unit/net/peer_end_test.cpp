// What closed() reports of the other side: every kind of connection, every end by the peer, every shutdown by oneself.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/tcp_pair.hpp"

#include <array>
#include <doctest/doctest.h>
#include <optional>
#include <sys/socket.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

enum class act { none, shut_read, shut_write, shut_both, close, reset };
constexpr std::array own_acts{act::none, act::shut_read, act::shut_write, act::shut_both};

struct ends {
  socket_stream near, far;
};

ends make_tcp() {
  auto [near, far] = make_tcp_pair();
  return {std::move(near), std::move(far)};
}
ends make_unix() {
  auto [near, far] = make_unix_pair().value();
  return {std::move(near), std::move(far)};
}

void do_to(socket_stream& current, act operation) {
  if (operation == act::shut_read || operation == act::shut_both) CHECK(current.shutdown_read().has_value());
  if (operation == act::shut_write || operation == act::shut_both) CHECK(current.shutdown_write().has_value());
  if (operation == act::reset) {
    const linger reset{1, 0};
    REQUIRE(::setsockopt(current.native_handle(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset) == 0);
  }
  if (operation == act::close || operation == act::reset) current.close();
}

using expected = std::optional<peer_end>;  // empty: the wait goes on
constexpr expected waits = std::nullopt, half_closed = peer_end::half_closed, closed = peer_end::closed;

struct row {
  act peer;
  std::array<expected, own_acts.size()> ends;  // for each act of one's own
};

// Nothing of a shutdown for reading goes through a TCP connection.
constexpr std::array tcp_rows{row{act::none, {waits, waits, waits, waits}},
                              row{act::shut_read, {waits, waits, waits, waits}},
                              row{act::shut_write, {half_closed, half_closed, closed, closed}},
                              row{act::shut_both, {half_closed, half_closed, closed, closed}},
                              row{act::close, {half_closed, half_closed, closed, closed}},
                              row{act::reset, {closed, closed, closed, closed}}};

// A unix socket does not report a shutdown of its peer from its own.
constexpr std::array unix_rows{
    row{act::none, {waits, waits, waits, waits}}, row{act::shut_read, {waits, closed, waits, waits}},
    row{act::shut_write, {half_closed, waits, closed, waits}}, row{act::shut_both, {closed, closed, closed, waits}},
    row{act::close, {closed, closed, closed, waits}}};

void check_late(socket_stream& near, expected end) {
  const auto reported = sync_wait(within(end ? 1h : 1ms, near.closed()));
  if (end) CHECK(reported == *end);
  else CHECK(reported.error_or({}) == std::errc::timed_out);
}

// Waits first. What waits on still does after the loop has nothing more to do.
void check_early(socket_stream& near, socket_stream& far, act own, act peer, expected end) {
  loop lp;
  expected reported = waits;
  auto waiting = spawn(
      lp,
      [](socket_stream& at, expected& into) -> task<> {
        auto returned = co_await at.closed();
        if (returned) into = *returned;
      },
      std::ref(near), std::ref(reported));
  lp.poll();
  do_to(near, own);
  for (int i = 0; i < 4; ++i) lp.poll();
  CHECK(reported == waits);
  do_to(far, peer);
  if (end) lp.run_until(waiting);
  for (int i = 0; i < 4; ++i) lp.poll();
  CHECK(reported == end);
}

template <class Rows>
void check_all(ends (*make)(), const Rows& rows) {
  for (const row& current : rows) {
    for (std::size_t i = 0; i != own_acts.size(); ++i) {
      CAPTURE(static_cast<int>(current.peer));
      CAPTURE(static_cast<int>(own_acts[i]));
      {
        auto [near, far] = make();
        do_to(near, own_acts[i]);
        check_late(near, waits);
        do_to(far, current.peer);
        check_late(near, current.ends[i]);
      }
      auto [near, far] = make();
      check_early(near, far, own_acts[i], current.peer, current.ends[i]);
    }
  }
}

}  // namespace

TEST_CASE("the end of a TCP peer is told apart, and no shutdown by oneself is taken for it") {
  check_all(&make_tcp, tcp_rows);
}

TEST_CASE("the end of a unix peer is told apart, and no shutdown by oneself is taken for it") {
  check_all(&make_unix, unix_rows);
}

TEST_CASE("bytes that are not read do not hide the end of a peer, nor which it is") {
  for (ends (*make)() : {&make_tcp, &make_unix}) {
    auto [near, far] = make();
    CHECK(sync_wait(far.write_all("unread")).has_value());
    CHECK(far.shutdown_write().has_value());
    check_late(near, half_closed);
    CHECK(near.shutdown_write().has_value());
    check_late(near, closed);
    std::array<char, 6> buffer{};
    CHECK(sync_wait(near.read_exactly(buffer)) == std::size_t{6});
  }
}

TEST_CASE("a pipe whose other end is closed is over, on both of its sides") {
  for (const bool reads : {false, true}) {
    auto [reader, writer] = make_pipe().value();
    stream& near = reads ? reader : writer;
    stream& far = reads ? writer : reader;
    CHECK(sync_wait(within(1ms, near.closed())).error_or({}) == std::errc::timed_out);
    far.close();
    CHECK(sync_wait(near.closed()) == peer_end::closed);
  }
}

TEST_CASE("a descriptor in the place of a socket that was shut down hears the end of its own peer") {
  for (int i = 0; i < 3; ++i) {
    {
      auto [near, far] = make_unix();
      do_to(near, act::shut_both);
      do_to(far, act::shut_both);
    }
    auto [near, far] = make_unix();
    do_to(far, act::shut_write);
    check_late(near, half_closed);
    do_to(near, act::shut_write);
    check_late(far, closed);
  }
}
