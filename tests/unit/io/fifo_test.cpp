// Named pipes: writers come and go, and the reader's number stays.
#include <hocket/coro/spawn.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/temporary_folder.hpp"
#include "support/waits.hpp"

#include <array>
#include <cerrno>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

class fifo {
 public:
  fifo() { REQUIRE(::mkfifo(path_.c_str(), 0600) == 0); }
  int number(int flags) const { return ::open(path_.c_str(), flags | O_NONBLOCK | O_CLOEXEC); }
  stream open(int flags) const { return stream::adopt(number(flags)).value(); }
  void write_and_close(std::string_view words) const {
    stream writer = open(O_WRONLY);
    sync_wait(writer.write_all(words)).value();
  }

 private:
  temporary_folder folder_;
  std::string path_ = folder_ / "fifo";
};

task<std::string> read_text(stream& from, std::size_t size) {
  std::string text(size, '\0');
  const result<std::size_t> got = co_await from.read_exactly(text);
  co_return got ? text : got.error().message();
}

}  // namespace

TEST_CASE("a reader that is a writer, too, waits through the ends of all writers") {
  const fifo named;
  stream reader = named.open(O_RDWR);
  loop lp;
  for (int i = 0; i < 3; ++i) {
    auto text = spawn(lp, read_text, std::ref(reader), std::size_t{8});
    while (!waits(reader)) lp.poll();
    named.write_and_close("one ");
    for (int k = 0; k < 10; ++k) lp.poll();
    CHECK_FALSE(text.done());
    named.write_and_close("two ");
    lp.run_until(text);
    CHECK(sync_wait(text) == "one two ");
  }
}

TEST_CASE("a reader is told of the end of the last writer, and reads what the next one writes") {
  const fifo named;
  CHECK(named.number(O_WRONLY) == -1);
  CHECK(errno == ENXIO);
  stream reader = named.open(O_RDONLY);
  loop lp;
  std::array<char, 8> buffer{};
  for (int i = 0; i < 3; ++i) {
    named.write_and_close("words");
    CHECK(sync_wait(read_all(reader)) == "words");
    CHECK(sync_wait(reader.read_some(buffer)) == std::size_t{0});
    stream writer = named.open(O_WRONLY);
    CHECK(sync_wait(within(0ms, reader.read_some(buffer))).error() == std::errc::timed_out);
    auto late = spawn(lp, read_text, std::ref(reader), std::size_t{4});
    while (!waits(reader)) lp.poll();
    sync_wait(writer.write_all("late")).value();
    lp.run_until(late);
    CHECK(sync_wait(late) == "late");
    writer.close();
    CHECK(sync_wait(reader.read_some(buffer)) == std::size_t{0});
  }
}

TEST_CASE("a writer whose reader has gone writes on when another reader comes") {
  const fifo named;
  stream reader = named.open(O_RDONLY);
  stream writer = named.open(O_WRONLY);
  for (int i = 0; i < 3; ++i) {
    sync_wait(writer.write_all("words")).value();
    CHECK(sync_wait(read_text(reader, 5)) == "words");
    reader.close();
    CHECK(sync_wait(writer.write_all("x")).error() == std::errc::broken_pipe);
    CHECK(sync_wait(writer.writable()).has_value());
    reader = named.open(O_RDONLY);
  }
}
