// Passed descriptors, for every kind that waits for I/O.
#pragma once
#include <hocket/io/pipe.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"

#include <array>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>

namespace hocket_test {

using namespace std::chrono_literals;

TEST_CASE_TEMPLATE("descriptors that are passed arrive with their bytes, and can be used", Kind, HOCKET_IO_KINDS) {
  auto [near, far] = hocket::make_unix_pair().value();
  auto [reader, writer] = hocket::make_pipe().value();
  hocket::event without;  // bytes have come without descriptors
  Kind world;
  auto receive = [&]() -> typename Kind::body {
    std::array<char, 16> buffer;
    std::array<hocket::unique_fd, 2> room;
    auto none = co_await hocket::within(1ms, far.receive_with_fds(buffer, room));
    CHECK(none.error_or({}) == std::errc::timed_out);
    auto sent = co_await near.write_all("first");
    CHECK(sent.has_value());
    auto got = co_await far.receive_with_fds(buffer, room);
    REQUIRE(got.has_value());
    CHECK(got->size == 5);
    CHECK(got->fds == 0);
    CHECK_FALSE(got->truncated);
    without.set();
    got = co_await far.receive_with_fds(buffer, room);
    REQUIRE(got.has_value());
    CHECK(std::string_view(buffer.data(), got->size) == "second");
    REQUIRE(got->fds == 1);
    CHECK_FALSE(got->truncated);
    CHECK_FALSE(static_cast<bool>(room[1]));
    CHECK((::fcntl(room[0].native_handle(), F_GETFD) & FD_CLOEXEC) != 0);
    auto theirs = hocket::stream::adopt(room[0].release());
    REQUIRE(theirs.has_value());
    auto put = co_await theirs->write_all("through the passed pipe");
    CHECK(put.has_value());
    theirs->close();
    got = co_await far.receive_with_fds(buffer, room);
    REQUIRE(got.has_value());
    CHECK(got->size == 0);  // the end
  };
  const int receiver = world.start(receive);
  auto pass = [&]() -> typename Kind::body {
    auto awaited = co_await without.wait();
    CHECK(awaited.has_value());
    const std::array numbers{writer.native_handle()};
    auto sent = co_await near.send_with_fds("second", numbers);
    CHECK(sent == std::size_t{6});
    writer.close();
    auto text = co_await hocket::read_all(reader);
    CHECK(text == "through the passed pipe");
    near.close();
  };
  const int passer = world.start(pass);
  world.finish();
  CHECK(world.ended(receiver) == fate::ended);
  CHECK(world.ended(passer) == fate::ended);
}

TEST_CASE_TEMPLATE("a long message is sent whole, its descriptors once", Kind, HOCKET_IO_KINDS) {
  auto [near, far] = hocket::make_unix_pair().value();
  const std::string much(1'000'000, 'm');
  Kind world;
  auto receive = [&]() -> typename Kind::body {
    std::vector<char> buffer(70'000);
    std::array<hocket::unique_fd, 4> room;
    std::size_t bytes = 0, descriptors = 0;
    for (;;) {
      auto got = co_await far.receive_with_fds(buffer, std::span(room).subspan(descriptors));
      REQUIRE(got.has_value());
      if (got->size == 0) break;
      bytes += got->size;
      descriptors += got->fds;
    }
    CHECK(bytes == much.size());
    CHECK(descriptors == 2);
  };
  auto send = [&]() -> typename Kind::body {
    const std::array numbers{0, near.native_handle()};
    auto sent = co_await near.send_with_fds(much, numbers);
    CHECK(sent == much.size());
    auto down = near.shutdown_write();
    CHECK(down.has_value());
  };
  const int receiver = world.start(receive);
  const int sender = world.start(send);
  world.finish();
  CHECK(world.ended(receiver) == fate::ended);
  CHECK(world.ended(sender) == fate::ended);
}

}  // namespace hocket_test
