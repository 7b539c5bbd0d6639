// FAULTS 51: the peer resets the connection while an operation waits, in every state. Reads and writes give
// connection_reset or broken_pipe; waits for readiness end; the next operations fail, too, and nothing hangs.
#include <hocket/coro/spawn.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>

#include "support/tcp_pair.hpp"
#include "support/waits.hpp"

#include <array>
#include <cstdio>
#include <doctest/doctest.h>
#include <memory>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

template <class T>
std::error_code error_in(const result<T>& ended) {
  return ended ? std::error_code() : ended.error();
}

task<std::error_code> send_much(stream& to) {
  const std::vector<char> much(20'000'000);
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), &std::fclose);
  std::fwrite(much.data(), 1, much.size(), file.get());
  std::fflush(file.get());
  co_return error_in(co_await send_file(to, ::fileno(file.get()), 0, much.size()));
}

task<std::error_code> read_lines(stream& from) {
  buffered_reader reader(from);
  co_return error_in(co_await reader.read_line());
}

task<std::error_code> write_much(stream& to) {
  const std::vector<char> much(20'000'000);
  co_return error_in(co_await to.write_all(much));
}

enum class state {
  read_some,
  read_exactly,
  read_borrowed,
  read_all,
  line,
  write_all,
  send_file,
  readable,
  closed,
  count
};

task<std::error_code> wait_in(stream& at, state which) {
  std::array<char, 64> buffer;
  switch (which) {
    case state::read_some: co_return error_in(co_await at.read_some(buffer));
    case state::read_exactly: co_return error_in(co_await at.read_exactly(buffer));
    case state::read_borrowed: co_return error_in(co_await at.read_borrowed());
    case state::read_all: co_return error_in(co_await read_all(at));
    case state::line: co_return co_await read_lines(at);
    case state::write_all: co_return co_await write_much(at);
    case state::send_file: co_return co_await send_much(at);
    case state::readable: co_return error_in(co_await at.readable());
    default: co_return error_in(co_await at.closed());
  }
}

bool is_gone(const std::error_code& error) {
  return error == std::errc::connection_reset || error == std::errc::broken_pipe;
}

void reset(tcp::stream& one) {
  one.set_reset_on_close(true).value();
  one.close();
}

template <class Place, class Wait>
void reset_in(Place& where, state which, Wait wait) {
  tcp_pair tcp = make_tcp_pair();
  auto waiter = spawn(where, wait_in, std::ref(tcp.near), which);
  wait([&] { return waits(tcp.near); });
  reset(tcp.far);
  wait([&] { return waiter.done(); });
  const std::error_code told = sync_wait(waiter);
  if (which == state::readable || which == state::closed) CHECK_FALSE(told);
  else CHECK(is_gone(told));
  std::array<char, 8> buffer;
  const result<std::size_t> later = sync_wait(tcp.near.read_some(buffer));
  CHECK((later == std::size_t{0} || is_gone(error_in(later))));  // the system reports the error once
  CHECK(is_gone(error_in(sync_wait(tcp.near.write_all("x")))));
}

}  // namespace

TEST_CASE("a reset ends an operation in any state (fault 51)") {
  loop lp;
  runtime rt({.workers = 2});
  for (int i = 0; i < static_cast<int>(state::count); ++i) {
    CAPTURE(i);
    reset_in(lp, static_cast<state>(i), [&](auto holds) {
      while (!holds()) lp.poll();
    });
    reset_in(rt, static_cast<state>(i), [](auto holds) {
      while (!holds()) std::this_thread::yield();
    });
  }
}

TEST_CASE("a connection that is reset before it is accepted is accepted, and its operations fail (fault 51)") {
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  auto gone = sync_wait(tcp::connect(door.local_address())).value();
  auto stays = sync_wait(tcp::connect(door.local_address())).value();
  const socket_address address_of_gone = gone.local_address();
  reset(gone);
  auto first = sync_wait(door.accept()).value();
  std::array<char, 8> buffer;
  CHECK(is_gone(error_in(sync_wait(first.read_some(buffer)))));
  CHECK(first.peer_address() == address_of_gone);
  auto second = sync_wait(door.accept()).value();
  sync_wait(stays.write_all("x")).value();
  CHECK(sync_wait(second.read_some(buffer)) == std::size_t{1});
}

TEST_CASE("a connection is reset while both directions wait, and both are told (fault 51)") {
  runtime rt({.workers = 2});
  for (int i = 0; i < 50; ++i) {
    tcp_pair tcp = make_tcp_pair();
    auto reader = spawn(rt, wait_in, std::ref(tcp.near), state::read_some);
    auto writer = spawn(rt, wait_in, std::ref(tcp.near), state::write_all);
    const detail::open_descriptor& at = detail::descriptor_access::record_of(tcp.near);
    while (at.in.waiting() == 0 || at.out.waiting() == 0) std::this_thread::yield();
    reset(tcp.far);
    const std::error_code read = sync_wait(reader), written = sync_wait(writer);
    CHECK((is_gone(written) || is_gone(read)));
    CHECK((!read || is_gone(read)));  // the system gives the error to one of the two, to the other the end
    CHECK(is_gone(written));
  }
}
