// The table "How each operation ends" of docs/io.md, row by row: the document is the source of what is expected here.
#include <hocket/coro/spawn.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/runtime/loop.hpp>

#include "support/tcp_pair.hpp"
#include "support/waits.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <doctest/doctest.h>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <sys/socket.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;

namespace {

using table = std::map<std::string, std::vector<std::string>>;

// The rows of the table under this heading, by the first cell.
table read_table(const std::string& heading) {
  std::ifstream page(HOCKET_TEST_DOCS "/io.md");
  REQUIRE(page);
  table rows;
  std::string line;
  while (std::getline(page, line) && line != heading) {
  }
  while (std::getline(page, line) && !line.starts_with("|")) {
  }
  for (; page && line.starts_with("|"); std::getline(page, line)) {
    std::vector<std::string> cells;
    for (std::size_t begin = 2; begin < line.size();) {
      const std::size_t end = line.find(" |", begin);
      if (end == std::string::npos) break;
      cells.push_back(line.substr(begin, end - begin));
      begin = end + 3;
    }
    if (cells.size() > 1) rows[cells.front()] = {cells.begin() + 1, cells.end()};
  }
  return rows;
}

// As in the cells: the std::errc, or the errc if no other error of hocket equals that.
std::string name_of(std::error_code error) {
  if (error == errc::cancelled) return "`errc::cancelled`";
  if (error == errc::end_of_stream) return "`errc::end_of_stream`";
  if (error == errc::deadline_exceeded) return "`errc::deadline_exceeded`";
  if (error == std::errc::connection_reset) return "`connection_reset`";
  if (error == std::errc::broken_pipe) return "`broken_pipe`";
  if (error == std::errc::bad_file_descriptor) return "`bad_file_descriptor`";
  return error.message();
}

std::string text_of(const result<void>& ended) { return ended ? "granted" : name_of(ended.error()); }
std::string text_of(const result<std::size_t>& ended) {
  return ended ? std::to_string(*ended) : name_of(ended.error());
}
std::string text_of(const result<peer_end>& ended) {
  if (!ended) return name_of(ended.error());
  return *ended == peer_end::closed ? "`peer_end::closed`" : "`peer_end::half_closed`";
}
std::string text_of(const result<borrowed_bytes>& ended) {
  if (!ended) return name_of(ended.error());
  return ended->empty() ? "empty" : "bytes";
}
std::string text_of(const result<std::string>& ended) { return ended ? "the bytes" : name_of(ended.error()); }
std::string text_of(const result<std::optional<std::string_view>>& ended) {
  if (!ended) return name_of(ended.error());
  return *ended ? "a line" : "`std::nullopt`";
}

using file_of_test = std::unique_ptr<std::FILE, int (*)(std::FILE*)>;

struct ends {
  tcp_pair tcp = make_tcp_pair();
  std::string much = std::string(20'000'000, 'm');
  file_of_test file{std::tmpfile(), &std::fclose};
  ends() {
    REQUIRE(std::fwrite(much.data(), 1, much.size(), file.get()) == much.size());
    REQUIRE(std::fflush(file.get()) == 0);
  }
};

// Sends what the peer, which reads nothing, has room for. False: the connection has ended.
bool fill(const stream& to, const std::string& bytes) {
  while (::send(to.native_handle(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) > 0) {
  }
  return errno == EAGAIN;
}

using operation_of_row = task<std::string> (*)(ends& at);

task<std::string> read_some(ends& at) {
  std::array<char, 64> buffer{};
  co_return text_of(co_await at.tcp.near.read_some(buffer));
}
task<std::string> read_exactly(ends& at) {
  std::array<char, 64> buffer{};
  co_return text_of(co_await at.tcp.near.read_exactly(buffer));
}
task<std::string> read_borrowed(ends& at) { co_return text_of(co_await at.tcp.near.read_borrowed()); }
task<std::string> read_idle(ends& at) { co_return text_of(co_await at.tcp.near.read_idle()); }
task<std::string> read_to_end(ends& at) { co_return text_of(co_await read_all(at.tcp.near)); }
task<std::string> read_line(ends& at) {
  buffered_reader reader(at.tcp.near);
  co_return text_of(co_await reader.read_line());
}
task<std::string> reader_exactly(ends& at) {
  buffered_reader reader(at.tcp.near);
  const auto bytes = co_await reader.read_exactly(5);
  co_return bytes ? "bytes" : name_of(bytes.error());
}
task<std::string> wait_for_message(ends& at) {
  buffered_reader reader(at.tcp.near);
  const auto more = co_await reader.wait_for_message();
  co_return more ? (*more ? "`true`" : "`false`") : name_of(more.error());
}
task<std::string> write_some(ends& at) {
  for (;;) {
    const auto written = co_await at.tcp.near.write_some(at.much);
    if (!written) co_return text_of(written);
  }
}
task<std::string> write_all(ends& at) { co_return text_of(co_await at.tcp.near.write_all(at.much)); }
task<std::string> send_whole_file(ends& at) {
  co_return text_of(co_await send_file(at.tcp.near, ::fileno(at.file.get()), 0, at.much.size()));
}
task<std::string> readable(ends& at) { co_return text_of(co_await at.tcp.near.readable()); }
task<std::string> closed(ends& at) { co_return text_of(co_await at.tcp.near.closed()); }
task<std::string> writable(ends& at) {
  for (;;) {
    const auto room = co_await at.tcp.near.writable();
    if (!room || !fill(at.tcp.near, at.much)) co_return text_of(room);
  }
}

const std::map<std::string, operation_of_row> operations{
    {"`read_some`", &read_some},
    {"`read_exactly`", &read_exactly},
    {"`read_borrowed`", &read_borrowed},
    {"`read_idle`", &read_idle},
    {"`read_all`", &read_to_end},
    {"`buffered_reader::read_line`, `read_until`", &read_line},
    {"`buffered_reader::read_exactly`", &reader_exactly},
    {"`buffered_reader::wait_for_message`", &wait_for_message},
    {"`write_some`", &write_some},
    {"`write_all`", &write_all},
    {"`send_file`", &send_whole_file},
    {"`readable`", &readable},
    {"`writable`", &writable},
    {"`closed`", &closed},
};

// Lets the operation wait, ends it, and returns what its await has given.
template <class End>
std::string ended_by(operation_of_row operation, End end) {
  loop lp;
  ends at;
  auto waiting = spawn(lp, operation, std::ref(at));
  while (!waits(at.tcp.near)) lp.poll();
  end(at, waiting);
  while (!waiting.done()) lp.poll();
  const auto text = sync_wait(waiting.join());
  return text ? *text : "killed: " + name_of(text.error());
}

void reset(tcp::stream& peer) {
  peer.set_reset_on_close(true).value();
  peer.close();
}

}  // namespace

TEST_CASE("each operation ends as the table in docs/io.md says") {
  const table rows = read_table("## How each operation ends");
  CHECK(rows.size() >= operations.size());
  for (const auto& [row, operation] : operations) {
    CAPTURE(row);
    REQUIRE(rows.contains(row));
    const std::vector<std::string>& cells = rows.at(row);
    REQUIRE(cells.size() == 3);
    CHECK(ended_by(operation, [](ends& at, auto&) { at.tcp.far.close(); }) == cells[0]);
    CHECK(ended_by(operation, [](ends& at, auto&) { reset(at.tcp.far); }) == cells[1]);
    CHECK(ended_by(operation, [](ends& at, auto&) { at.tcp.near.close(); }) == cells[2]);
  }
}

TEST_CASE("each operation ends with the error of a cancel, and not at all if it is killed") {
  for (const auto& [row, operation] : operations) {
    CAPTURE(row);
    CHECK(ended_by(operation, [](ends&, auto& waiting) { waiting.cancel(); }) == "`errc::cancelled`");
    const std::string killed = ended_by(operation, [](ends&, auto& waiting) { waiting.kill(); });
    CHECK(killed.starts_with("killed"));
  }
}

TEST_CASE("each operation of a closed stream is a bad file descriptor") {
  for (const auto& [row, operation] : operations) {
    CAPTURE(row);
    loop lp;
    ends at;
    at.tcp.near.close();
    auto waiting = spawn(lp, operation, std::ref(at));
    lp.run_until(waiting);
    CHECK(sync_wait(waiting) == "`bad_file_descriptor`");
  }
}
