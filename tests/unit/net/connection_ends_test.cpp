// What a connection does at its edges: half-closed sides, empty buffers, deadlines that have passed, queues of
// listeners that are closed, many writers, and time limits that race with bytes.
#include <hocket/coro/spawn.hpp>
#include <hocket/io/copy.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/runtime/runtime.hpp>
#include <hocket/time/within.hpp>

#include "support/loopback.hpp"
#include "support/sockets.hpp"
#include "support/tcp_pair.hpp"
#include "support/waits.hpp"

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

task<bool> write_block(stream& to, char letter, std::size_t size) {
  const std::string block(size, letter);
  const result<std::size_t> put = co_await to.write_all(block);
  co_return put == size;
}

// Bytes that come, while every wait may be too short.
task<int> read_impatiently(stream& from, int count) {
  int right = 0;
  for (int tries = 0; right != count; ++tries) {
    char byte = 0;
    const auto limit = std::chrono::microseconds(tries % 40);
    const result<std::size_t> got = co_await within(limit, from.read_some(std::span(&byte, 1)));
    if (!got && got.error() == std::errc::timed_out) continue;
    if (!got || *got != 1 || byte != static_cast<char>(right)) break;
    ++right;
  }
  co_return right;
}

// One direction of a proxy.
task<std::size_t> carry(tcp::stream& from, tcp::stream& to) {
  const result<std::size_t> copied = co_await copy(from, to);
  static_cast<void>(to.shutdown_write());
  co_return copied.value_or(0);
}

}  // namespace

TEST_CASE("a side that is closed for writing still reads all that its peer sends") {
  auto [near, far] = make_tcp_pair();
  CHECK(near.shutdown_write().has_value());
  std::array<char, 8> buffer{};
  CHECK(sync_wait(far.read_some(buffer)) == std::size_t{0});
  CHECK(sync_wait(far.write_all("an answer")) == std::size_t{9});
  CHECK(far.shutdown_write().has_value());
  CHECK(sync_wait(read_all(near)) == "an answer");
  CHECK(sync_wait(near.write_all("x")).error() == std::errc::broken_pipe);
  static_cast<void>(near.shutdown_write());
  CHECK(sync_wait(near.read_some(buffer)) == std::size_t{0});
}

TEST_CASE("a side that is closed for reading ends its waiting read, and still writes") {
  loop lp;
  auto [near, far] = make_tcp_pair();
  auto all = spawn(lp, [&]() -> task<std::string> { co_return (co_await read_all(near)).value_or("an error"); });
  while (!waits(near)) lp.poll();
  CHECK(near.shutdown_read().has_value());
  lp.run_until(all);
  CHECK(sync_wait(all) == "");
  sync_wait(near.write_all("still")).value();
  std::array<char, 5> buffer{};
  CHECK(sync_wait(far.read_exactly(buffer)) == std::size_t{5});
}

TEST_CASE("empty buffers end at once, and take nothing") {
  auto [near, far] = make_tcp_pair();
  CHECK(sync_wait(far.read_some(std::span<const mutable_buffer>())) == std::size_t{0});
  CHECK(sync_wait(far.read_exactly(mutable_buffer())) == std::size_t{0});
  CHECK(sync_wait(near.write_all("")) == std::size_t{0});
  CHECK(sync_wait(near.write_some(std::span<const const_buffer>())) == std::size_t{0});
  sync_wait(near.write_all("x")).value();
  CHECK(sync_wait(far.readable()).has_value());
  CHECK(sync_wait(far.read_some(mutable_buffer())) == std::size_t{0});
  char byte = 0;
  CHECK(sync_wait(far.read_some(std::span(&byte, 1))) == std::size_t{1});
  CHECK(byte == 'x');
}

TEST_CASE("a read whose deadline has passed gives the bytes that are there, and none is an error") {
  auto [near, far] = make_tcp_pair();
  sync_wait(near.write_all("xy")).value();
  sync_wait(far.readable()).value();
  char byte = 0;
  CHECK(sync_wait(within(0ms, far.read_some(std::span(&byte, 1)))) == std::size_t{1});
  CHECK(sync_wait(within(-1h, far.read_some(std::span(&byte, 1)))) == std::size_t{1});
  CHECK(sync_wait(within(-1h, far.read_some(std::span(&byte, 1)))).error() == std::errc::timed_out);
  CHECK(sync_wait(within(duration::max(), near.write_all("z"))) == std::size_t{1});
  CHECK(sync_wait(within(duration::max(), far.read_some(std::span(&byte, 1)))) == std::size_t{1});
}

TEST_CASE("reads that time out beside the bytes that come lose none of them") {
  constexpr int count = 5000;
  runtime rt({.workers = 2});
  auto [near, far] = make_tcp_pair();
  auto right = spawn(rt, read_impatiently, std::ref(far), count);
  for (int i = 0; i < count; ++i) {
    const char byte = static_cast<char>(i);
    sync_wait(near.write_all(std::span(&byte, 1))).value();
  }
  CHECK(sync_wait(right) == count);
}

TEST_CASE("the messages of many writers to one stream are not mixed") {
  constexpr std::size_t size = 200'000;
  constexpr int writers = 16;
  runtime rt({.workers = 4});
  auto [near, far] = make_tcp_pair();
  std::vector<join_handle<bool>> all;
  for (int i = 0; i < writers; ++i)
    all.push_back(spawn(rt, write_block, std::ref(near), static_cast<char>('a' + i), size));
  std::string block(size, '\0');
  std::string order;
  for (int i = 0; i < writers; ++i) {
    CHECK(sync_wait(far.read_exactly(block)) == size);
    CHECK(block == std::string(size, block[0]));
    CHECK(order.find(block[0]) == std::string::npos);
    order += block[0];
  }
  for (auto& one : all) CHECK(sync_wait(one));
}

TEST_CASE("a connection whose client has sent and gone before the accept gives its bytes, and then the end") {
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  {
    auto near = sync_wait(tcp::connect(door.local_address())).value();
    sync_wait(near.write_all("and gone")).value();
  }
  auto far = sync_wait(door.accept()).value();
  CHECK(sync_wait(read_all(far)) == "and gone");
}

TEST_CASE("what waits at a listener that is closed is reset, TCP and unix") {
  for (const std::string& address : {std::string("127.0.0.1:0"), own_unix_address("closed-listener")}) {
    CAPTURE(address);
    auto door = tcp::listener::bind(address).value();
    auto near = sync_wait(tcp::connect(door.local_address())).value();
    door.close();
    char byte = 0;
    CHECK(sync_wait(near.read_some(std::span(&byte, 1))).error() == std::errc::connection_reset);
    CHECK(door.try_accept().error() == std::errc::bad_file_descriptor);
    CHECK(sync_wait(door.accept()).error() == std::errc::bad_file_descriptor);
  }
}

TEST_CASE("all that accept at a listener are told when it is closed") {
  runtime rt({.workers = 2});
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  auto accept = [&]() -> task<std::error_code> {
    const auto peer = co_await door.accept();
    co_return peer ? std::error_code() : peer.error();
  };
  std::vector<join_handle<std::error_code>> all;
  for (int i = 0; i < 10; ++i) all.push_back(spawn(rt, accept));
  block_until_waits(door);
  door.close();
  for (auto& one : all) {
    const std::error_code told = sync_wait(one);
    CHECK((told == std::errc::operation_canceled || told == std::errc::bad_file_descriptor));
  }
}

TEST_CASE("a proxy carries both directions, one beside the other that is full, and each end by itself") {
  loop lp;
  tcp_pair left = make_tcp_pair(), right = make_tcp_pair();
  auto to_right = spawn(lp, carry, std::ref(left.far), std::ref(right.near));
  auto to_left = spawn(lp, carry, std::ref(right.near), std::ref(left.far));
  auto floods = spawn(lp, write_block, std::ref(left.near), 'f', std::size_t{20'000'000});
  while (!waits(left.near)) lp.poll();
  auto answer = spawn(lp, [&]() -> task<std::string> {
    std::string words(5, ' ');
    static_cast<void>(co_await left.near.read_exactly(words));
    co_return words;
  });
  sync_wait(right.far.write_all("hello")).value();
  lp.run_until(answer);
  CHECK(sync_wait(answer) == "hello");
  CHECK(right.far.shutdown_write().has_value());
  lp.run_until(to_left);
  CHECK(sync_wait(to_left) == 5);
  auto rest = spawn(lp, [&]() -> task<std::size_t> {
    co_return (co_await read_all(right.far, std::size_t{1} << 25)).value_or("").size();
  });
  lp.run_until(floods);
  CHECK(sync_wait(floods));
  left.near.close();
  lp.run_until(rest);
  CHECK(sync_wait(rest) == 20'000'000);
  lp.run_until(to_right);
  CHECK(sync_wait(to_right) == 20'000'000);
}
