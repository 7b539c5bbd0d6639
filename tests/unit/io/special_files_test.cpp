// What is no regular file: named pipes and standard streams as whole files, and terminals whose other side is closed.
#include <hocket/core/sync_wait.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/stream.hpp>
#include <hocket/io/unique_fd.hpp>
#include <hocket/time/within.hpp>

#include "support/numbers.hpp"
#include "support/temporary_folder.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>
#include <utility>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

// Number 0 or 1 is a copy of another, as long as this lives. In this process: a child of it could not start threads.
class replaced_number {
 public:
  replaced_number(int number, int source) : number_(number), saved_(::fcntl(number, F_DUPFD_CLOEXEC, 3)) {
    REQUIRE(::dup2(source, number) == number);
  }
  replaced_number(const replaced_number&) = delete;
  replaced_number& operator=(const replaced_number&) = delete;
  ~replaced_number() {
    if (saved_ < 0) ::close(number_);
    else ::dup2(saved_, number_);
    if (saved_ >= 0) ::close(saved_);
  }

 private:
  const int number_, saved_;
};

result<std::string> read_standard_input(int source) {
  const replaced_number input(0, source);
  return sync_wait(read_file("/dev/stdin"));
}
result<std::size_t> write_standard_output(int source, std::string_view words) {
  const replaced_number output(1, source);
  return sync_wait(write_file("/dev/stdout", words));
}

std::atomic<int> broken_pipes{0};
void count_broken_pipe(int) { ++broken_pipes; }

struct fifo {
  fifo() { REQUIRE(::mkfifo(path.c_str(), 0600) == 0); }
  temporary_folder folder;
  std::string path = folder / "fifo";
};

// By a thread: each side of a named pipe waits for the other to open it.
std::thread writer_of(const std::string& path, const std::string& text) {
  return std::thread([path, text] {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    ::pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    const unique_fd to(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    for (std::size_t put = 0; put < text.size();) {
      const ssize_t some = ::write(to.native_handle(), text.data() + put, text.size() - put);
      if (some <= 0) break;
      put += static_cast<std::size_t>(some);
    }
  });
}

// Reads up to `most` bytes, and then closes its side.
std::thread reader_of(const std::string& path, std::string& into, std::size_t most) {
  return std::thread([path, most, &into] {
    const unique_fd from(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    std::array<char, 4096> buffer{};
    while (into.size() < most) {
      const ssize_t returned = ::read(from.native_handle(), buffer.data(), std::min(buffer.size(), most - into.size()));
      if (returned <= 0) break;
      into.append(buffer.data(), static_cast<std::size_t>(returned));
    }
  });
}

struct terminal {
  terminal() {
    REQUIRE(master >= 0);
    REQUIRE(::grantpt(master) == 0);
    REQUIRE(::unlockpt(master) == 0);
    slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    REQUIRE(slave >= 0);
  }
  int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  int slave = -1;
};

// The side of the terminal's program has written and is closed.
stream hung_up(std::string_view words) {
  const terminal ends;
  REQUIRE(::write(ends.slave, words.data(), words.size()) == static_cast<ssize_t>(words.size()));
  ::close(ends.slave);
  return stream::adopt(ends.master).value();
}

}  // namespace

TEST_CASE("a named pipe is read as a whole file") {
  for (const std::size_t size : {std::size_t{0}, std::size_t{4}, std::size_t{4096}, std::size_t{300'000}}) {
    const fifo named;
    std::string text(size, 'x');
    for (std::size_t i = 0; i < size; ++i) text[i] = static_cast<char>('a' + i % 23);
    std::thread writer = writer_of(named.path, text);
    CHECK(sync_wait(read_file(named.path)) == text);
    writer.join();
  }
}

TEST_CASE("a named pipe that gives more than the limit is too large, though its writer keeps it open") {
  for (const std::size_t limit : {std::size_t{0}, std::size_t{4}, std::size_t{5000}}) {
    const fifo named;
    const unique_fd both(::open(named.path.c_str(), O_RDWR | O_CLOEXEC));
    const std::string text(limit + 1, 'x');
    REQUIRE(::write(both.native_handle(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    CHECK(sync_wait(read_file(named.path, limit)).error_or({}) == std::errc::file_too_large);
  }
}

TEST_CASE("a named pipe is written as a whole file, and appended to") {
  const fifo named;
  const std::string text(200'000, 'w');
  std::string read;
  std::thread reader = reader_of(named.path, read, ~std::size_t{0});
  CHECK(sync_wait(write_file(named.path, text)) == text.size());
  reader.join();
  CHECK(read == text);
  read.clear();
  reader = reader_of(named.path, read, ~std::size_t{0});
  {
    auto opened = sync_wait(file::open(named.path, {.read = false, .append = true})).value();
    CHECK(sync_wait(opened.append("one ")) == std::size_t{4});
    CHECK(sync_wait(opened.append("two")) == std::size_t{3});
  }
  reader.join();
  CHECK(read == "one two");
}

TEST_CASE("a whole write to a pipe whose reader goes is an error, and no signal") {
  broken_pipes = 0;
  const auto before = ::signal(SIGPIPE, &count_broken_pipe);
  const fifo named;
  const std::string text(300'000, 'w');
  std::string read;
  std::thread reader = reader_of(named.path, read, 10);
  CHECK(sync_wait(write_file(named.path, text)).error_or({}) == std::errc::broken_pipe);
  reader.join();
  read.clear();
  reader = reader_of(named.path, read, 10);
  auto opened = sync_wait(file::open(named.path, {.read = false, .append = true})).value();
  CHECK(sync_wait(opened.append(text)).error_or({}) == std::errc::broken_pipe);
  reader.join();
  ::signal(SIGPIPE, before);
  CHECK(broken_pipes == 0);
}

// The number blocks again because another that shares it asked for that.
TEST_CASE("a write of several buffers that blocks, and whose reader goes in the middle, is an error, and no signal") {
  broken_pipes = 0;
  const auto before = ::signal(SIGPIPE, &count_broken_pipe);
  const fifo named;
  std::string read;
  std::thread reader = reader_of(named.path, read, 10);
  stream to = stream::adopt(::open(named.path.c_str(), O_WRONLY | O_CLOEXEC)).value();
  REQUIRE(::fcntl(to.native_handle(), F_SETFL, 0) == 0);
  REQUIRE(::fcntl(to.native_handle(), F_SETPIPE_SZ, 4096) == 4096);
  const std::string half(150'000, 'w');
  const std::array<const_buffer, 2> parts{half, half};
  CHECK(sync_wait(to.write_all(parts)).error_or({}) == std::errc::broken_pipe);
  reader.join();
  ::signal(SIGPIPE, before);
  CHECK(broken_pipes == 0);
}

TEST_CASE("the standard input is read as a whole file: a pipe, a file, a terminal") {
  const temporary_folder folder;
  const std::string name = folder / "file";
  number_pipe pipe;
  REQUIRE(::write(pipe.out, "of a pipe", 9) == 9);
  ::close(std::exchange(pipe.out, -1));
  CHECK(read_standard_input(pipe.in) == "of a pipe");
  CHECK(sync_wait(write_file(name, "of a file")) == std::size_t{9});
  const unique_fd regular(::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  CHECK(read_standard_input(regular.native_handle()) == "of a file");
  const terminal ends;
  constexpr std::string_view line = "of a terminal\n\x04";
  REQUIRE(::write(ends.master, line.data(), line.size()) == static_cast<ssize_t>(line.size()));
  CHECK(read_standard_input(ends.slave) == "of a terminal\n");
  ::close(ends.slave);
  ::close(ends.master);
}

TEST_CASE("the standard output is written as a whole file: a pipe, a file") {
  const temporary_folder folder;
  const std::string name = folder / "file";
  const number_pipe pipe;
  CHECK(write_standard_output(pipe.out, "to a pipe") == std::size_t{9});
  std::array<char, 16> buffer{};
  CHECK(::read(pipe.in, buffer.data(), buffer.size()) == 9);
  CHECK(std::string_view(buffer.data(), 9) == "to a pipe");
  const unique_fd regular(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  CHECK(write_standard_output(regular.native_handle(), "to a file") == std::size_t{9});
  CHECK(sync_wait(read_file(name)) == "to a file");
}

TEST_CASE("devices without an end, and without room, are read and written as whole files within their limits") {
  CHECK(sync_wait(read_file("/dev/null")) == "");
  CHECK(sync_wait(read_file("/dev/zero", 10'000)).error_or({}) == std::errc::file_too_large);
  CHECK(sync_wait(write_file("/dev/null", "away")) == std::size_t{4});
  CHECK(sync_wait(write_file("/dev/full", "away")).error_or({}) == std::errc::no_space_on_device);
}

TEST_CASE("an adopted pipe is read as a whole file, whether it blocks or not") {
  for (const int flags : {0, O_NONBLOCK}) {
    std::array<int, 2> ends{};
    REQUIRE(::pipe2(ends.data(), O_CLOEXEC | flags) == 0);
    file from = file::adopt(ends[0]).value();
    std::thread writer([to = ends[1]] {
      for (const char letter : {'a', 'b', 'c'}) {
        if (::write(to, &letter, 1) != 1) break;
        std::this_thread::yield();
      }
      ::close(to);
    });
    CHECK(sync_wait(from.read_all()) == "abc");
    writer.join();
  }
}

TEST_CASE("a position in a pipe is an error that takes nothing") {
  auto [reader, writer] = make_pipe().value();
  CHECK(sync_wait(writer.write_all("kept")).has_value());
  const file as_file = file::adopt(::dup(reader.native_handle())).value();
  std::array<char, 4> buffer{};
  CHECK(sync_wait(as_file.read_at(buffer, 0)).error_or({}) == std::errc::invalid_seek);
  CHECK(sync_wait(reader.read_exactly(buffer)) == std::size_t{4});
  CHECK(std::string_view(buffer.data(), 4) == "kept");
}

TEST_CASE("a terminal whose other side is closed is at its end, for every read") {
  std::array<char, 16> buffer{};
  {
    stream from = hung_up("words");
    CHECK(sync_wait(from.read_some(buffer)) == std::size_t{5});
    for (int i = 0; i < 3; ++i) CHECK(sync_wait(from.read_some(buffer)) == std::size_t{0});
    const std::array<mutable_buffer, 2> parts{std::span(buffer).first(3), std::span(buffer).last(3)};
    CHECK(sync_wait(from.read_some(parts)) == std::size_t{0});
    CHECK(sync_wait(from.read_exactly(buffer)).error_or({}) == errc::end_of_stream);
    CHECK(sync_wait(from.read_exactly(parts)).error_or({}) == errc::end_of_stream);
    CHECK(sync_wait(from.read_borrowed()).value().empty());
    CHECK(sync_wait(from.read_idle()).value().empty());
    CHECK(sync_wait(from.closed()) == peer_end::closed);
    CHECK(sync_wait(read_all(from)) == "");
  }
  stream from = hung_up("all of it");
  CHECK(sync_wait(read_all(from)) == "all of it");
  stream lines = hung_up("a line\nrest");
  buffered_reader reader(lines);
  CHECK(sync_wait(reader.read_line()).value().value_or("") == "a line");
  CHECK(sync_wait(reader.read_line()).value().value_or("") == "rest");
  CHECK_FALSE(sync_wait(reader.read_line()).value().has_value());
}

TEST_CASE("a reader that waits at a terminal hears that its other side is closed") {
  const terminal ends;
  stream from = stream::adopt(ends.master).value();
  std::array<char, 16> buffer{};
  CHECK(sync_wait(within(1ms, from.read_some(buffer))).error_or({}) == std::errc::timed_out);
  std::thread closes([&] { ::close(ends.slave); });
  CHECK(sync_wait(from.read_some(buffer)) == std::size_t{0});
  closes.join();
}

TEST_CASE("a file of a terminal whose other side is closed is read to its end") {
  const terminal ends;
  REQUIRE(::write(ends.slave, "words", 5) == 5);
  ::close(ends.slave);
  const file from = file::adopt(ends.master).value();
  CHECK(sync_wait(from.read_all()) == "words");
}
