// use_hocket and asio_home, with fibers: ordinary functions that wait for Asio.
#include <hocket/asio/asio_home.hpp>
#include <hocket/asio/use_hocket.hpp>
#include <hocket/hocket.hpp>

#include "pair.hpp"
#include "support/death.hpp"

#include <array>
#include <doctest/doctest.h>
#include <memory>
#include <string>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

std::string read_some(stream& from) {
  std::array<char, 8> room{};
  auto size = await(from.async_read_some(net::buffer(room), use_hocket));
  return size ? std::string(room.data(), *size) : size.error().message();
}

int echo(stream& peer, int times) {
  std::array<char, 8> room{};
  int done = 0;
  for (; done < times; ++done) {
    auto size = await(within(10s, peer.async_read_some(net::buffer(room), use_hocket)));
    if (!size) break;
    auto written = await(net::async_write(peer, net::buffer(room.data(), *size), use_hocket));
    if (!written) break;
  }
  return done;
}

int ask(stream& peer, int times) {
  int sum = 0;
  for (int i = 0; i < times; ++i) {
    char digit = static_cast<char>('0' + i % 10), back = 0;
    static_cast<void>(await(net::async_write(peer, net::buffer(&digit, 1), use_hocket)));
    static_cast<void>(await(net::async_read(peer, net::buffer(&back, 1), use_hocket)));
    sum += digit == back;
  }
  return sum;
}

}  // namespace

TEST_CASE("a fiber reads, late reads are timed out, cancelled ones canceled") {
  net::io_context host;
  connected pair(host);
  asio_home home(host);
  auto all = spawn(home, [&] {
    std::array<char, 8> room{};
    auto late = await(within(1ms, pair.near.async_read_some(net::buffer(room), use_hocket)));
    CHECK(late.error() == std::errc::timed_out);
    pair.send("now");
    CHECK(read_some(pair.near) == "now");
    auto cancelled = spawn([&] { return await(pair.near.async_read_some(net::buffer(room), use_hocket)).error(); });
    await(yield());
    cancelled.cancel();
    CHECK(await(cancelled) == std::errc::operation_canceled);
  });
  host.run();
  CHECK(all.done());
}

TEST_CASE("two fibers talk through sockets of one io_context") {
  net::io_context host;
  connected pair(host);
  asio_home home(host);
  auto server = spawn(home, echo, std::ref(pair.near), 300);
  auto client = spawn(home, ask, std::ref(pair.far), 300);
  host.run();
  CHECK(sync_wait(server) == 300);
  CHECK(sync_wait(client) == 300);
}

TEST_CASE("a fiber unwinds when its home is destroyed, after its operation") {
  net::io_context host;
  connected pair(host);
  bool is_destroyed = false;
  {
    asio_home home(host);
    spawn(home, [&] {
      struct witness {
        bool& is_destroyed;
        ~witness() { is_destroyed = true; }
      } local{is_destroyed};
      read_some(pair.near);
    });
    host.poll();
  }
  CHECK(is_destroyed);
}

TEST_CASE("or_throw throws what the operation ended with") {
  net::io_context host;
  connected pair(host);
  pair.far.close();
  asio_home home(host);
  auto all = spawn(home, [&] {
    std::array<char, 8> room{};
    CHECK_THROWS_AS(await(or_throw(pair.near.async_read_some(net::buffer(room), use_hocket))), std::system_error);
  });
  host.run();
  CHECK(all.done());
}

TEST_CASE("on a copied stack a buffer must not be a local") {
  net::io_context host;
  connected pair(host);
  pair.send("there");
  asio_home home(host);
  auto room = std::make_unique<std::array<char, 8>>();
  auto reads = spawn(home, {.stack = stack_kind::copied}, [&pair, room = room.get()] {
    return await(pair.near.async_read_some(net::buffer(*room), use_hocket)).value();
  });
  host.run();
  CHECK(sync_wait(std::move(reads)) == 5);
  auto reads_into_local = [] {
    net::io_context other;
    connected others(other);
    asio_home home_of_child(other);
    spawn(home_of_child, {.stack = stack_kind::copied}, [&others] {
      const auto local = net::buffer(__builtin_frame_address(0), 1);  // AddressSanitizer has true locals elsewhere
      static_cast<void>(await(others.near.async_read_some(local, use_hocket)));
    });
    other.poll();
  };
  if (!detail::machine::fibers_are_threads) expect_fatal(reads_into_local, "copied");  // a thread's locals stay
}
