// What TCP alone has: ends that come with bytes, urgent data, short reads that tell that a stream is drained.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/runtime/loop.hpp>

#include <array>
#include <doctest/doctest.h>
#include <string>
#include <sys/socket.h>

using namespace hocket;

namespace {

struct connection {
  tcp::stream near, far;
};

connection make_connection() {
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  auto near = sync_wait(tcp::connect(door.local_address())).value();
  return {std::move(near), sync_wait(door.accept()).value()};
}

task<std::string> read_to_the_end(tcp::stream& from) {
  std::string all;
  std::array<char, 64> buffer;
  for (;;) {
    auto got = co_await from.read_some(buffer);
    if (!got) co_return got.error().message();
    if (*got == 0) co_return all;
    all.append(buffer.data(), *got);
  }
}

}  // namespace

TEST_CASE("the end of a stream that comes with its last bytes is told (fault 46)") {
  auto [near, far] = make_connection();
  loop lp;
  auto all = spawn(lp, read_to_the_end, std::ref(far));
  lp.poll();
  sync_wait(near.write_all("the last bytes")).value();
  near.close();
  lp.run_until(all);
  CHECK(sync_wait(all) == "the last bytes");
}

TEST_CASE("a read that stops at the mark of urgent data is followed by the rest") {
  auto [near, far] = make_connection();
  loop lp;
  auto all = spawn(lp, read_to_the_end, std::ref(far));
  lp.poll();
  sync_wait(near.write_all("before")).value();
  REQUIRE(::send(near.native_handle(), "!", 1, MSG_OOB) == 1);
  sync_wait(near.write_all("after")).value();
  for (int i = 0; i < 100; ++i) lp.poll();
  near.close();
  lp.run_until(all);
  CHECK(sync_wait(all) == "beforeafter");
}

TEST_CASE("options of a connection are set, and refused when it is closed") {
  auto [near, far] = make_connection();
  CHECK(near.set_no_delay(false).has_value());
  CHECK(near.set_keep_alive({}).has_value());
  CHECK(near.set_receive_buffer(8192).has_value());
  CHECK(near.set_send_buffer(8192).has_value());
  CHECK(near.local_address() == far.peer_address());
  near.close();
  CHECK(near.set_no_delay(true).error() == std::errc::bad_file_descriptor);
  CHECK(near.shutdown_write().error() == std::errc::bad_file_descriptor);
  CHECK_FALSE(near.local_address().is_valid());
}

TEST_CASE("what waits to be accepted is accepted without a wait, and then nothing does") {
  auto door = tcp::listener::bind("127.0.0.1:0").value();
  CHECK(door.try_accept().error() == std::errc::resource_unavailable_try_again);
  auto near = sync_wait(tcp::connect(door.local_address())).value();
  CHECK(door.try_accept().has_value());
  CHECK(door.try_accept().error() == std::errc::resource_unavailable_try_again);
}
