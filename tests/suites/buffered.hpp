// Buffered readers and writers, and copies: for every kind that waits for I/O.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/core/yield.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/buffered_writer.hpp>
#include <hocket/io/copy.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/io/timeout_stream.hpp>
#include <hocket/sync/event.hpp>
#include <hocket/time/within.hpp>

#include "suites/io_kinds.hpp"
#include "support/sockets.hpp"

#include <array>
#include <doctest/doctest.h>
#include <string>

namespace hocket_test {

using namespace std::chrono_literals;

static_assert(hocket::byte_stream<hocket::stream>);
static_assert(hocket::lending_source<hocket::stream>);
static_assert(hocket::lending_source<hocket::timeout_stream<hocket::stream>>);
static_assert(hocket::byte_source<hocket::buffered_reader<hocket::stream>>);

// A stream that does not lend.
struct plain_stream {
  hocket::stream& of;
  auto read_some(hocket::mutable_buffer into) { return of.read_some(into); }
  auto write_all(hocket::const_buffer from) { return of.write_all(from); }
};
static_assert(hocket::byte_stream<plain_stream>);
static_assert(!hocket::lending_source<plain_stream>);

// One byte at a time.
template <class Kind>
auto dribble(hocket::stream& to, std::string text) {
  return [&to, text = std::move(text)]() -> typename Kind::body {
    for (const char& letter : text) {
      auto sent = co_await to.write_all(std::span(&letter, 1));
      CHECK(sent.has_value());
      co_await hocket::yield();
    }
    to.close();
  };
}

TEST_CASE_TEMPLATE("lines are read whole, however they come", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    hocket::buffered_reader reader(far);
    std::string all;
    for (;;) {
      auto line = co_await reader.read_line();
      REQUIRE(line.has_value());
      if (!*line) break;
      all += '[' + std::string(**line) + ']';
    }
    CHECK(all == "[one][][two\rthree][last]");
    CHECK(reader.unread().empty());
  };
  const int reader = world.start(read);
  auto write = dribble<Kind>(near, "one\r\n\ntwo\rthree\nlast");
  world.start(write);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("a message has a delimiter, a counted body, and the next one behind it", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    plain_stream plain{far};
    hocket::buffered_reader reader(plain);
    for (int i = 0; i < 50; ++i) {
      std::string delimiter = "\r\n\r\n";
      auto reading = reader.read_until(delimiter);
      delimiter = "used again";
      auto head = co_await std::move(reading);
      REQUIRE(head.has_value());
      REQUIRE(head->has_value());
      const std::size_t length = std::stoul(std::string(**head));
      auto body = co_await reader.read_exactly(length);
      REQUIRE(body.has_value());
      CHECK(*body == std::string(length, 'b'));
    }
    auto end = co_await reader.read_until("\r\n\r\n");
    REQUIRE(end.has_value());
    CHECK_FALSE(end->has_value());
  };
  auto write = [&]() -> typename Kind::body {
    hocket::buffered_writer writer(near, 3000);
    for (std::size_t i = 0; i < 50; ++i) {
      writer.append(std::to_string(i * i * 20));
      writer.append("\r\n\r\n");
      auto sent = co_await writer.write(std::string(i * i * 20, 'b'));
      CHECK(sent.has_value());
      CHECK(writer.size() < 3000);
    }
    auto sent = co_await writer.flush();
    CHECK(sent.has_value());
    CHECK(writer.size() == 0);
    near.close();
  };
  const int reader = world.start(read);
  world.start(write);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("a reader tells of an end in the middle, and of a message without an end", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  auto [other, end] = net.connected();
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    hocket::buffered_reader reader(far);
    auto cut = co_await reader.read_until(";");
    REQUIRE_FALSE(cut.has_value());
    CHECK(cut.error() == hocket::errc::end_of_stream);
    CHECK(reader.unread() == "no end");
    auto body = co_await reader.read_exactly(7);
    REQUIRE_FALSE(body.has_value());
    CHECK(body.error() == hocket::errc::end_of_stream);
    reader.skip(3);
    CHECK(reader.unread() == "end");
    std::array<char, 8> room{};
    auto rest = co_await reader.read_some(room);
    CHECK(rest == std::size_t{3});
    rest = co_await reader.read_some(room);
    CHECK(rest == std::size_t{0});

    hocket::buffered_reader small(end, 100);
    auto long_one = co_await small.read_line();
    REQUIRE_FALSE(long_one.has_value());
    CHECK(long_one.error() == std::errc::message_size);
    body = co_await small.read_exactly(101);
    REQUIRE_FALSE(body.has_value());
    CHECK(body.error() == std::errc::message_size);
  };
  auto write = [&]() -> typename Kind::body {
    auto sent = co_await near.write_all("no end");
    CHECK(sent.has_value());
    near.close();
    const std::string much(5000, 'x');
    sent = co_await other.write_all(much + "\n");
    CHECK(sent.has_value());
  };
  const int reader = world.start(read);
  world.start(write);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

TEST_CASE_TEMPLATE("what was read stays for the next read, if a deadline ends the first", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, far] = net.connected();
  Kind world(net);
  auto read = [&]() -> typename Kind::body {
    hocket::timeout_stream slow(far, 5ms);
    hocket::buffered_reader reader(slow);
    auto sent = co_await near.write_all("first half, ");
    CHECK(sent.has_value());
    auto late = co_await reader.read_line();
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error() == std::errc::timed_out);
    slow.set_timeout(1h);
    slow.set_deadline(hocket::time_point::min());
    late = co_await reader.read_line();
    REQUIRE_FALSE(late.has_value());
    CHECK(late.error() == std::errc::timed_out);
    slow.set_deadline(hocket::time_point::max());
    sent = co_await near.write_all("second half\n");
    CHECK(sent.has_value());
    auto line = co_await reader.read_line();
    REQUIRE(line.has_value());
    CHECK(line->value_or("") == "first half, second half");
  };
  const int reader = world.start(read);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

static_assert(hocket::collecting_sink<hocket::buffered_writer<hocket::stream>>);
static_assert(!hocket::collecting_sink<hocket::stream> && !hocket::byte_sink<hocket::buffered_writer<hocket::stream>>);

// The reader would wait for ever if the writer kept its bytes until there are enough. A source that lends and one that
// does not, without a limit and with one.
TEST_CASE_TEMPLATE("a copy to a writer leaves no byte there while its source is silent", Kind, HOCKET_IO_KINDS) {
  for (const bool lends : {true, false}) {
    for (const bool has_limit : {false, true}) {
      typename Kind::wires net;
      auto [near, in] = net.connected();
      auto [out, far] = net.connected();
      Kind world(net);
      auto carry = [&]() -> typename Kind::body {
        hocket::buffered_writer writer(out);
        plain_stream plain{in};
        hocket::result<std::size_t> copied;
        if (lends && has_limit) copied = co_await hocket::copy(in, writer, 1000);
        else if (lends) copied = co_await hocket::copy(in, writer);
        else if (has_limit) copied = co_await hocket::copy(plain, writer, 1000);
        else copied = co_await hocket::copy(plain, writer);
        CHECK(copied == std::size_t{60});
        CHECK(writer.size() == 0);
        out.close();
      };
      auto converse = [&]() -> typename Kind::body {
        std::array<char, 6> answer{};
        for (int i = 0; i < 10; ++i) {
          auto sent = co_await near.write_all("a word");
          CHECK(sent.has_value());
          auto read = co_await far.read_exactly(answer);
          CHECK(read == answer.size());
        }
        near.close();
        auto end = co_await far.read_some(answer);
        CHECK(end == std::size_t{0});
      };
      const int carrier = world.start(carry);
      const int partner = world.start(converse);
      world.finish();
      CHECK(world.ended(carrier) == fate::ended);
      CHECK(world.ended(partner) == fate::ended);
    }
  }
}

struct letters {
  int rest = 100;
  hocket::task<hocket::result<std::size_t>> read_some(hocket::mutable_buffer into) {
    if (rest == 0) co_return std::size_t{0};
    --rest;
    *reinterpret_cast<char*>(into.data()) = 'l';
    co_return std::size_t{1};
  }
};
struct counting_sink {
  int writes = 0;
  std::size_t bytes = 0;
  hocket::task<hocket::result<std::size_t>> write_all(hocket::const_buffer from) {
    ++writes;
    bytes += from.size();
    co_return from.size();
  }
};

// While its source gives bytes, the writer collects them: far fewer writes than pieces.
TEST_CASE("a copy to a writer is flushed when it has enough, and at the end") {
  letters source;
  counting_sink sink;
  hocket::buffered_writer writer(sink, 30);
  CHECK(hocket::sync_wait(hocket::copy(source, writer)) == std::size_t{100});
  CHECK(sink.bytes == 100);
  CHECK(sink.writes == 4);
  CHECK(writer.size() == 0);
  source.rest = 100;
  CHECK(hocket::sync_wait(hocket::copy(source, writer, 31)) == std::size_t{31});
  CHECK(sink.writes == 6);
  CHECK(source.rest == 69);
}

TEST_CASE_TEMPLATE("a copy carries everything, and at most what it is told", Kind, HOCKET_IO_KINDS) {
  typename Kind::wires net;
  auto [near, in] = net.connected();
  auto [out, far] = net.connected(4096);
  Kind world(net);
  const std::string much(400'000, 'c');
  auto carry = [&]() -> typename Kind::body {
    auto some = co_await hocket::copy(in, out, 1000);
    CHECK(some == std::size_t{1000});
    auto rest = co_await hocket::copy(in, out);
    CHECK(rest == much.size() - 1000);
    out.close();
  };
  auto write = [&]() -> typename Kind::body {
    auto sent = co_await near.write_all(much);
    CHECK(sent == much.size());
    near.close();
  };
  auto read = [&]() -> typename Kind::body {
    hocket::buffered_reader reader(far, much.size());
    auto all = co_await reader.read_exactly(much.size());
    REQUIRE(all.has_value());
    CHECK(*all == much);
  };
  const int reader = world.start(read);
  world.start(carry);
  world.start(write);
  world.finish();
  CHECK(world.ended(reader) == fate::ended);
}

}  // namespace hocket_test
