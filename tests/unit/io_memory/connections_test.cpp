// Listeners and connects in memory: time, refusals, queues, ends, options.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/io_memory/memory_network.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include <array>
#include <doctest/doctest.h>
#include <functional>
#include <optional>
#include <string>

using namespace hocket;
using namespace std::chrono_literals;

namespace {

struct town {
  manual_clock time{time_point(1h)};
  loop lp{{.clock = &time}};
  memory_network net{{.clock = &time, .min_latency = 5ms, .max_latency = 5ms}};
  tcp::listener door = net.listen("10.0.0.1:80", {.backlog = 0}).value();

  template <class T>
  T run(join_handle<T> handle) {
    lp.run_until(handle);
    return sync_wait(handle);
  }
};

task<result<tcp::stream>> call(memory_network& net, socket_address to) { co_return co_await net.connect(to); }
task<result<tcp::stream>> accept(tcp::listener& door) { co_return co_await door.accept(); }

task<result<std::size_t>> send_a_byte(stream& to) { co_return co_await send_file(to, 0, 0, 1); }

task<result<std::string>> read_to_end(tcp::stream& from) {
  std::string all;
  std::array<char, 8> room;
  for (;;) {
    auto returned = co_await from.read_some(room);
    if (!returned) co_return failure(returned.error());
    if (*returned == 0) co_return all;
    all.append(room.data(), *returned);
  }
}

task<result<std::size_t>> write_words(tcp::stream& to, std::string_view words) {
  co_return co_await to.write_all(words);
}

struct ends {
  tcp::stream near, far;
};

ends connected(town& on) {
  auto caller = spawn(on.lp, call, std::ref(on.net), socket_address("10.0.0.1:80"));
  auto far = on.run(spawn(on.lp, accept, std::ref(on.door)));
  return {on.run(std::move(caller)).value(), std::move(far).value()};
}

}  // namespace

TEST_CASE("a connect takes the way to the listener and back, and both ends know their addresses") {
  town on;
  const time_point before = on.time.now();
  auto caller = spawn(on.lp, call, std::ref(on.net), socket_address("10.0.0.1:80"));
  tcp::stream far = on.run(spawn(on.lp, accept, std::ref(on.door))).value();
  CHECK(on.time.now() == before + 5ms);
  tcp::stream near = on.run(std::move(caller)).value();
  CHECK(on.time.now() == before + 10ms);
  CHECK(near.peer_address() == "10.0.0.1:80");
  CHECK(far.local_address() == "10.0.0.1:80");
  CHECK(far.peer_address() == near.local_address());
  CHECK(near.local_address().port() >= 49152);
  CHECK(near.native_handle() == -1);
}

TEST_CASE("a connect to nobody, or to a listener that is closed meanwhile, is refused") {
  town on;
  const socket_address nobody("10.0.0.7:80"), door("10.0.0.1:80");
  CHECK(on.run(spawn(on.lp, call, std::ref(on.net), nobody)).error() == std::errc::connection_refused);
  auto caller = spawn(on.lp, call, std::ref(on.net), door);
  on.lp.run_for(1ms);
  on.door.close();
  CHECK(on.run(std::move(caller)).error() == std::errc::connection_refused);
  CHECK(on.run(spawn(on.lp, call, std::ref(on.net), door)).error() == std::errc::connection_refused);
  CHECK(on.net.listen(door).has_value());
}

TEST_CASE("a caller that was not accepted is reset when its listener is closed") {
  town on;
  tcp::stream near = on.run(spawn(on.lp, call, std::ref(on.net), socket_address("10.0.0.1:80"))).value();
  auto reported = spawn(on.lp, read_to_end, std::ref(near));
  on.lp.run_for(1ms);
  on.door.close();
  CHECK(on.run(std::move(reported)).error() == std::errc::connection_reset);
}

TEST_CASE("a connect to a full listener is tried again, after one second and after two more") {
  town on;
  tcp::stream first = on.run(spawn(on.lp, call, std::ref(on.net), socket_address("10.0.0.1:80"))).value();
  const time_point before = on.time.now();
  auto second = spawn(on.lp, call, std::ref(on.net), socket_address("10.0.0.1:80"));
  on.lp.run_for(1500ms);
  CHECK_FALSE(second.done());
  CHECK(on.door.try_accept().has_value());
  CHECK(on.door.try_accept().error() == std::errc::resource_unavailable_try_again);
  CHECK(on.run(std::move(second)).has_value());
  CHECK(on.time.now() == before + 3s + 10ms);
}

TEST_CASE("each direction is shut down by itself") {
  town on;
  auto [near, far] = connected(on);
  CHECK(on.run(spawn(on.lp, write_words, std::ref(near), "all of it")).has_value());
  CHECK(near.shutdown_write().has_value());
  CHECK(on.run(spawn(on.lp, read_to_end, std::ref(far))).value() == "all of it");
  CHECK(on.run(spawn(on.lp, write_words, std::ref(near), "more")).error() == std::errc::broken_pipe);
  CHECK(on.run(spawn(on.lp, write_words, std::ref(far), "an answer")).has_value());
  far.close();
  CHECK(on.run(spawn(on.lp, read_to_end, std::ref(near))).value() == "an answer");
  auto [reader, writer] = connected(on);
  auto read = spawn(on.lp, read_to_end, std::ref(reader));
  on.lp.run_for(1ms);
  CHECK(reader.shutdown_read().has_value());
  CHECK(on.run(std::move(read)).value().empty());
}

TEST_CASE("a direction is ready to write while the other end has room for a byte, and not when it is full") {
  manual_clock time{time_point(1h)};
  loop lp({.clock = &time});
  memory_network net({.clock = &time, .buffer_size = 4});
  auto [near, far] = net.make_pair();
  auto fills = [](tcp::stream& to, tcp::stream& from) -> task<> {
    std::array<char, 1> byte{};
    for (int round = 0; round != 3; ++round) {
      for (int written = round == 0 ? 0 : 3; written != 4; ++written) {
        auto ready = co_await within(1ms, to.writable());
        CHECK(ready.has_value());
        auto put = co_await to.write_some("x");
        CHECK(put == std::size_t{1});
      }
      auto full = co_await within(1ms, to.writable());
      CHECK(full.error_or({}) == std::errc::timed_out);
      auto taken = co_await from.read_some(byte);
      CHECK(taken == std::size_t{1});
    }
    CHECK(from.shutdown_write().has_value());  // the end of what comes makes no room for what goes
    auto put = co_await to.write_some("x");
    CHECK(put == std::size_t{1});
    auto full = co_await within(1ms, to.writable());
    CHECK(full.error_or({}) == std::errc::timed_out);
    from.close();
    auto ended = co_await to.writable();
    CHECK(ended.has_value());
    put = co_await to.write_some("x");
    CHECK(put.error_or({}) == std::errc::broken_pipe);
  };
  auto done = spawn(lp, fills, std::ref(near), std::ref(far));
  lp.run_until(done);
  CHECK(done.done());
}

TEST_CASE("options that make no difference are taken, and what needs the kernel is refused") {
  town on;
  auto [near, far] = connected(on);
  CHECK(near.set_no_delay(false).has_value());
  CHECK(near.set_keep_alive({}).has_value());
  CHECK(near.set_receive_buffer(8192).has_value());
  CHECK(on.door.local_address() == "10.0.0.1:80");
  unix_stream as_unix(std::move(near));
  CHECK(as_unix.credentials().error() == std::errc::not_supported);
  CHECK(on.run(spawn(on.lp, send_a_byte, std::ref<stream>(far))).error() == std::errc::not_supported);
  as_unix.close();
  CHECK(as_unix.shutdown_write().error() == std::errc::bad_file_descriptor);
}

TEST_CASE("listeners share an address if all of them say so, and a host of its own comes before any host") {
  town on;
  CHECK(on.net.listen("10.0.0.1:80").error() == std::errc::address_in_use);
  CHECK(on.net.listen("10.0.0.1:80", {.reuse_port = true}).error() == std::errc::address_in_use);
  auto any = on.net.listen("[::]:80").value();
  auto first = on.net.listen("10.0.0.2:80", {.reuse_port = true}).value();
  auto second = on.net.listen("10.0.0.2:80", {.reuse_port = true}).value();
  const auto goes_to = [&](const char* address, tcp::listener& door) {
    auto peer = on.run(spawn(on.lp, call, std::ref(on.net), socket_address(address)));
    return peer && door.try_accept().has_value();
  };
  CHECK(goes_to("10.0.0.1:80", on.door));
  CHECK(goes_to("10.0.0.9:80", any));
  CHECK(goes_to("[fd00::1]:80", any));
  int at_first = 0;
  for (int i = 0; i < 20; ++i) at_first += goes_to("10.0.0.2:80", first) ? 1 : 0;
  CHECK(at_first > 0);
  CHECK(at_first < 20);
  CHECK(second.try_accept().has_value());
}

TEST_CASE("a network may end before its listeners and connections") {
  manual_clock time{time_point(1h)};
  loop lp({.clock = &time});
  std::optional<memory_network> net(std::in_place, memory_options{.clock = &time});
  auto door = net->listen("10.0.0.1:80").value();
  auto caller = spawn(lp, call, std::ref(*net), socket_address("10.0.0.1:80"));
  lp.run_until(caller);
  net.reset();
  auto taken = spawn(lp, accept, std::ref(door));
  lp.run_until(taken);
  CHECK(sync_wait(taken).has_value());
}
