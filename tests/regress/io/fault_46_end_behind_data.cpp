// FAULTS 46: the peer sends and closes, and the event tells of the end while there are bytes to read. Every byte is
// read before the end, whatever the stream, the reader's buffer, and the way in which the peer closes.
#include <hocket/coro/spawn.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/sockets.hpp"
#include "support/tcp_pair.hpp"
#include "support/waits.hpp"

#include <doctest/doctest.h>
#include <functional>
#include <string>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

// With a buffer of so many bytes; 0: what is lent.
task<std::string> read_to_the_end(stream& from, std::size_t room) {
  std::string all;
  std::vector<char> buffer(room);
  for (;;) {
    if (room == 0) {
      const result<borrowed_bytes> lent = co_await from.read_borrowed();
      if (!lent) co_return lent.error().message();
      if (lent->empty()) co_return all;
      all.append(reinterpret_cast<const char*>(lent->data()), lent->size());
    } else {
      const result<std::size_t> got = co_await from.read_some(buffer);
      if (!got) co_return got.error().message();
      if (*got == 0) co_return all;
      all.append(buffer.data(), *got);
    }
  }
}

// The peer's last bytes come while the reader waits, or before it asks.
std::string carried(stream& near, stream& far, std::size_t room, bool reader_first, std::string_view bytes,
                    const std::function<void()>& close) {
  loop lp;
  auto all = spawn(lp, read_to_the_end, std::ref(far), room);
  while (reader_first && !waits(far)) lp.poll();
  sync_wait(near.write_all(bytes)).value();
  close();
  lp.run_until(all);
  return sync_wait(all);
}

}  // namespace

TEST_CASE("all bytes are read before the end that came with them (fault 46)") {
  for (const std::size_t length : {std::size_t{1}, std::size_t{4096}, std::size_t{50'000}}) {
    std::string bytes(length, ' ');
    for (std::size_t i = 0; i < length; ++i) bytes[i] = static_cast<char>('a' + i % 23);
    for (const std::size_t room : {std::size_t{0}, std::size_t{1}, std::size_t{4096}, std::size_t{100'000}}) {
      for (const bool first : {false, true}) {
        CAPTURE(length);
        CAPTURE(room);
        CAPTURE(first);
        tcp_pair whole = make_tcp_pair(), half = make_tcp_pair();
        stream_pair unix_ends = connected(), pipe = piped();
        CHECK(carried(whole.near, whole.far, room, first, bytes, [&] { whole.near.close(); }) == bytes);
        CHECK(carried(half.near, half.far, room, first, bytes, [&] { half.near.shutdown_write().value(); }) == bytes);
        CHECK(carried(unix_ends.near, unix_ends.far, room, first, bytes, [&] { unix_ends.near.close(); }) == bytes);
        CHECK(carried(pipe.near, pipe.far, room, first, bytes, [&] { pipe.near.close(); }) == bytes);
      }
    }
  }
}

TEST_CASE("a reader of lines gets the last line, and the rest without an end, of a peer that has gone (fault 46)") {
  loop lp;
  tcp_pair tcp = make_tcp_pair();
  auto lines = spawn(lp, [&]() -> task<int> {
    buffered_reader reader(tcp.far);
    int count = 0;
    for (;;) {
      const auto line = co_await reader.read_line();
      if (!line || !*line) co_return count;
      ++count;
    }
  });
  while (!waits(tcp.far)) lp.poll();
  sync_wait(tcp.near.write_all("one\ntwo\nthree\n")).value();
  tcp.near.close();
  lp.run_until(lines);
  CHECK(sync_wait(lines) == 3);
}
