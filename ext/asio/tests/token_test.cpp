// use_hocket, in tasks.
#include <hocket/asio/asio_home.hpp>
#include <hocket/asio/use_hocket.hpp>
#include <hocket/stackless.hpp>

#include "pair.hpp"

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

using bytes = std::array<char, 8>;

task<std::string> read_some(stream& from) {
  bytes room{};
  auto size = co_await from.async_read_some(net::buffer(room), use_hocket);
  co_return size ? std::string(room.data(), *size) : size.error().message();
}

task<std::error_code> read_until(stream& from, bytes& room, duration limit) {
  auto size = co_await within(limit, from.async_read_some(net::buffer(room), use_hocket));
  co_return size ? std::error_code{} : size.error();
}

// Runs the io_context until the coroutine has ended.
template <class T>
T finish(net::io_context& host, join_handle<T>& handle) {
  host.run();
  host.restart();
  REQUIRE(handle.done());
  return sync_wait(handle);
}

// Asynchronous operations of a program's own, in the three forms of a signature.
template <class Signature, class Begin, class... Args>
auto begin_own(Begin begin, Args&&... args) {
  return net::async_initiate<const use_hocket_t&, Signature>(std::move(begin), use_hocket, std::forward<Args>(args)...);
}

}  // namespace

TEST_CASE("a read gives its bytes as a value, and its failure as an error") {
  net::io_context host;
  connected pair(host);
  asio_home home(host);
  auto read = spawn(home, read_some, std::ref(pair.near));
  pair.send("hello");
  CHECK(finish(host, read) == "hello");

  pair.far.close();
  auto end = spawn(home, read_some, std::ref(pair.near));
  CHECK(finish(host, end) == make_error_code(net::error::eof).message());
}

TEST_CASE("a deadline ends a read as timed_out, when the operation has ended") {
  net::io_context host;
  connected pair(host);
  asio_home home(host);
  bytes room;
  auto late = spawn(home, read_until, std::ref(pair.near), std::ref(room), duration(1ms));
  CHECK(finish(host, late) == std::errc::timed_out);
  // The operation is gone: what comes now is for the next.
  pair.send("next");
  auto read = spawn(home, read_some, std::ref(pair.near));
  CHECK(finish(host, read) == "next");
}

TEST_CASE("a cancellation ends a read as operation_canceled, also one that came before it") {
  net::io_context host;
  connected pair(host);
  asio_home home(host);
  bytes room;
  auto begun = spawn(home, read_until, std::ref(pair.near), std::ref(room), duration::max());
  host.poll();
  CHECK_FALSE(begun.done());
  begun.cancel();
  CHECK(finish(host, begun) == std::errc::operation_canceled);
  auto early = spawn(home, read_until, std::ref(pair.near), std::ref(room), duration::max());
  early.cancel();
  CHECK(finish(host, early) == std::errc::operation_canceled);
}

TEST_CASE("bytes that were read before the cancellation arrived are not lost") {
  net::io_context host;
  connected pair(host);
  asio_home home(host);
  auto read = spawn(home, read_some, std::ref(pair.near));
  host.poll();
  pair.send("kept");
  // The read completes before the handler that cancels it, which is posted behind.
  net::post(host, [&] { read.cancel(); });
  CHECK(finish(host, read) == "kept");
}

TEST_CASE("an operation that other code cancels ends as cancelled") {
  net::io_context host;
  connected pair(host);
  asio_home home(host);
  bytes room;
  auto read = spawn(home, read_until, std::ref(pair.near), std::ref(room), duration::max());
  host.poll();
  pair.near.cancel();
  CHECK(finish(host, read) == std::errc::operation_canceled);
}

TEST_CASE("a composed operation and its cancellation") {
  net::io_context host;
  connected pair(host);
  asio_home home(host);
  auto read_all = [&]() -> task<std::error_code> {
    bytes room{};
    auto first = co_await net::async_read(pair.near, net::buffer(room), use_hocket);
    CHECK(first.value() == room.size());
    auto second = co_await within(1ms, net::async_read(pair.near, net::buffer(room), use_hocket));
    co_return second ? std::error_code{} : second.error();
  };
  auto read = spawn(home, read_all);
  pair.send("12345678");
  pair.send("123");
  CHECK(finish(host, read) == std::errc::timed_out);
}

TEST_CASE("kill unwinds a coroutine when its operation has completed") {
  net::io_context host;
  connected pair(host);
  asio_home home(host);
  bool is_destroyed = false;
  auto wait = [&]() -> task<> {
    struct witness {
      bool& is_destroyed;
      ~witness() { is_destroyed = true; }
    } local{is_destroyed};
    bytes room;
    static_cast<void>(co_await pair.near.async_read_some(net::buffer(room), use_hocket));
  };
  auto killed = spawn(home, wait);
  host.poll();
  killed.kill();
  CHECK_FALSE(is_destroyed);
  host.run();
  CHECK(is_destroyed);
}

TEST_CASE("several values are a tuple, none is void, an exception is thrown") {
  net::io_context host;
  asio_home home(host);
  auto all = [&]() -> task<int> {
    auto both = co_await begin_own<void(boost::system::error_code, int, std::string)>(
        [&](auto handler) { net::post(host, [h = std::move(handler)]() mutable { h({}, 2, std::string("two")); }); });
    CHECK(both.value() == std::tuple(2, std::string("two")));
    auto none = co_await begin_own<void()>([&](auto handler) { net::post(host, std::move(handler)); });
    CHECK(none.has_value());
    auto pointer = co_await begin_own<void(std::unique_ptr<int>)>(
        [&](auto handler) { net::post(host, [h = std::move(handler)]() mutable { h(std::make_unique<int>(7)); }); });
    auto thrower = begin_own<void(std::exception_ptr)>([&](auto handler) {
      net::post(host, [h = std::move(handler)]() mutable { h(std::make_exception_ptr(std::runtime_error("boom"))); });
    });
    CHECK_THROWS_WITH(static_cast<void>(co_await std::move(thrower)), "boom");
    co_return pointer ? **pointer : 0;
  };
  auto done = spawn(home, all);
  CHECK(finish(host, done) == 7);
}

TEST_CASE("an initiation that throws makes the await throw; one that drops its handler, or calls it at once, ends") {
  net::io_context host;
  asio_home home(host);
  auto all = [&]() -> task<int> {
    auto refused = begin_own<void(int)>([](auto) { throw std::runtime_error("refused"); });
    CHECK_THROWS_WITH(static_cast<void>(co_await std::move(refused)), "refused");
    auto dropped = co_await begin_own<void(int)>([](auto) {});
    CHECK(dropped.error() == std::errc::operation_canceled);
    auto at_once = co_await begin_own<void(int)>([](auto handler) { std::move(handler)(1); });
    co_return at_once ? *at_once : 0;
  };
  auto done = spawn(home, all);
  CHECK(finish(host, done) == 1);
}

TEST_CASE("an operation without an associated executor is waited for, whatever the deadline") {
  net::io_context host;
  asio_home home(host);
  net::steady_timer gate(host, net::steady_timer::time_point::max());
  auto wait = [&]() -> task<int> {
    auto own =
        begin_own<void(int)>([&](auto handler) { gate.async_wait([h = std::move(handler)](auto) mutable { h(3); }); });
    auto value = co_await within(0s, std::move(own));
    co_return value ? *value : 0;
  };
  auto done = spawn(home, wait);
  host.poll();
  CHECK_FALSE(done.done());
  gate.cancel();
  CHECK(finish(host, done) == 3);
}

TEST_CASE("an operation may be discarded unbegun") {
  net::io_context host;
  connected pair(host);
  bytes room;
  std::move(pair.near.async_read_some(net::buffer(room), use_hocket)).discard();
  CHECK(host.poll() == 0);
}

TEST_CASE("a coroutine of another loop, and a plain thread, wait for an io_context that a thread runs") {
  net::io_context host;
  connected pair(host);
  auto work = net::make_work_guard(host);
  std::thread runs([&] { host.run(); });
  pair.send("loop");
  CHECK(run(read_some, std::ref(pair.near)) == "loop");
  bytes room;
  for (int i = 0; i < 200; ++i) {
    CHECK(run(read_until, std::ref(pair.near), std::ref(room), duration(50us)) == std::errc::timed_out);
  }
  pair.send("self");
  auto size = sync_wait(pair.near.async_read_some(net::buffer(room), use_hocket));
  CHECK(size.value() == 4);
  work.reset();
  runs.join();
}

TEST_CASE("an io_context that is destroyed ends the waits of other loops") {
  loop lp;
  auto host = std::make_unique<net::io_context>();
  std::error_code ended;
  auto never = std::make_unique<net::steady_timer>(*host, net::steady_timer::time_point::max());
  auto wait = [&]() -> task<> { ended = (co_await never->async_wait(use_hocket)).error(); };
  spawn(lp, wait);
  lp.poll();
  never.reset();  // its handler stands in line, and is destroyed there
  host.reset();
  lp.run();
  CHECK(ended == std::errc::operation_canceled);
}
