// FAULTS 40: a close from every thread, under an operation in every state. The operation ends with operation_canceled,
// the next one with bad_file_descriptor, and no descriptor is left open.
#include <hocket/coro/spawn.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/runtime/seam/worker_at.hpp>

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

enum class state {
  read_some,
  read_exactly,
  read_borrowed,
  read_all,
  readable,
  closed,
  write_all,
  gather,
  send_file,
  pipe_read,
  pipe_write,
  accept,
  receive,
  receive_batch,
  receive_passed,
  take_count,
  count
};

using a_file = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

// What can be waited at, and memory for the waits.
struct everything {
  tcp_pair tcp = make_tcp_pair();
  pipe_ends pipe = make_pipe().value();
  tcp::listener door = tcp::listener::bind("127.0.0.1:0").value();
  udp::socket datagrams = udp::socket::bind("127.0.0.1:0").value();
  unix_pair passing = make_unix_pair().value();
  event_counter counter = event_counter::make().value();
  a_file file{std::tmpfile(), &std::fclose};
  std::array<char, 64> buffer{};
  std::vector<char> much = std::vector<char>(20'000'000);

  descriptor& at(state which) {
    switch (which) {
      case state::pipe_read: return pipe.reader;
      case state::pipe_write: return pipe.writer;
      case state::accept: return door;
      case state::receive:
      case state::receive_batch: return datagrams;
      case state::receive_passed: return passing.near;
      case state::take_count: return counter;
      default: return tcp.near;
    }
  }
};

template <class T>
std::error_code error_in(const result<T>& how) {
  return how ? std::error_code() : how.error();
}

task<std::error_code> send_much(everything& all) {
  std::fwrite(all.much.data(), 1, all.much.size(), all.file.get());
  std::fflush(all.file.get());
  co_return error_in(co_await send_file(all.tcp.near, ::fileno(all.file.get()), 0, all.much.size()));
}

task<std::error_code> receive_batch(everything& all) {
  std::array<udp::datagram, 1> batch{udp::datagram(mutable_buffer(all.buffer))};
  co_return error_in(co_await all.datagrams.receive_batch(batch));
}

task<std::error_code> receive_passed(everything& all) {
  std::array<unique_fd, 1> numbers;
  co_return error_in(co_await all.passing.near.receive_with_fds(all.buffer, numbers));
}

task<std::error_code> gather(everything& all) {
  const std::array<const_buffer, 2> parts{"head", all.much};
  co_return error_in(co_await all.tcp.near.write_all(parts));
}

task<std::error_code> wait_in(everything& all, state which) {
  tcp::stream& near = all.tcp.near;
  switch (which) {
    case state::read_some: co_return error_in(co_await near.read_some(all.buffer));
    case state::read_exactly: co_return error_in(co_await near.read_exactly(all.buffer));
    case state::read_borrowed: co_return error_in(co_await near.read_borrowed());
    case state::read_all: co_return error_in(co_await read_all(near));
    case state::readable: co_return error_in(co_await near.readable());
    case state::closed: co_return error_in(co_await near.closed());
    case state::write_all: co_return error_in(co_await near.write_all(all.much));
    case state::gather: co_return co_await gather(all);
    case state::send_file: co_return co_await send_much(all);
    case state::pipe_read: co_return error_in(co_await all.pipe.reader.read_some(all.buffer));
    case state::pipe_write: co_return error_in(co_await all.pipe.writer.write_all(all.much));
    case state::accept: co_return error_in(co_await all.door.accept());
    case state::receive: co_return error_in(co_await all.datagrams.receive(all.buffer));
    case state::receive_batch: co_return co_await receive_batch(all);
    case state::receive_passed: co_return co_await receive_passed(all);
    default: co_return error_in(co_await all.counter.take());
  }
}

task<> close_waited(descriptor& one) {
  co_await until_waits(one);
  one.close();
}

// By another worker, by the worker of the operation, by a thread with a loop of its own, and by a plain thread.
constexpr int closers = 4;
void close_by(int closer, runtime& rt, descriptor& one) {
  if (closer < 2) {
    detail::worker_at place(rt, static_cast<std::size_t>(closer));
    return sync_wait(spawn(place, close_waited, std::ref(one)));
  }
  std::thread([&] {
    if (closer == 3) return block_until_waits(one), one.close();
    loop lp;
    auto closing = spawn(lp, close_waited, std::ref(one));
    lp.run_until(closing);
  }).join();
}

void close_in(state which, int closer, runtime& rt) {
  everything all;
  detail::worker_at place(rt, 1);
  auto waiter = spawn(place, wait_in, std::ref(all), which);
  close_by(closer, rt, all.at(which));
  CHECK(sync_wait(waiter) == std::errc::operation_canceled);
  CHECK(sync_wait(spawn(rt, wait_in, std::ref(all), which)) == std::errc::bad_file_descriptor);
}

}  // namespace

// A worker and a thread that waits have two numbers of their own from their first wait on.
TEST_CASE("a close by any thread ends an operation in any state (fault 40)") {
  runtime rt({.workers = 2});
  std::size_t before = 0;
  for (int pass = 0; pass < 4; ++pass) {
    for (int closer = 0; closer < closers; ++closer) {
      for (int i = 0; i < static_cast<int>(state::count); ++i) {
        CAPTURE(closer);
        CAPTURE(i);
        close_in(static_cast<state>(i), closer, rt);
      }
    }
    if (pass == 0) before = open_numbers();
  }
  CHECK(open_numbers() <= before + 2 * 3);  // a leak in a single state is twelve
}
