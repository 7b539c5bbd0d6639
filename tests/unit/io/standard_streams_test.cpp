// The standard streams. A child of the test has others in their place: pipes, a terminal, files, sockets.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/standard_streams.hpp>
#include <hocket/runtime/loop.hpp>
#include <hocket/time/within.hpp>

#include "support/death.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <thread>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

bool blocks(int number) { return (::fcntl(number, F_GETFL) & O_NONBLOCK) == 0; }

template <class Body>
void check_in_child(Body body) {
  const child_end end = end_of_child(body);
  INFO(end.errors);
  CHECK(end.how == "the body returned");
}

struct number_pair {
  int reader, writer;
};

number_pair pipe_of_numbers() {
  std::array<int, 2> ends{};
  REQUIRE(::pipe2(ends.data(), O_CLOEXEC) == 0);
  return {ends[0], ends[1]};
}

// The end of a new terminal that programs have.
number_pair terminal() {
  const int master = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(master >= 0);
  REQUIRE(::grantpt(master) == 0);
  REQUIRE(::unlockpt(master) == 0);
  const int slave = ::open(::ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
  REQUIRE(slave >= 0);
  return {slave, master};
}

std::string read_some_of(stream& from) {
  std::array<char, 64> buffer;
  const std::size_t size = sync_wait(from.read_some(buffer)).value();
  return {buffer.data(), size};
}

task<> read_late(stream& from, std::string& into) {
  std::array<char, 64> buffer;
  auto got = co_await from.read_some(buffer);
  into.assign(buffer.data(), got.value_or(0));
}

}  // namespace

TEST_CASE("pipes as standard streams are waited for, and stay as they are for others") {
  check_in_child([] {
    const number_pair input = pipe_of_numbers(), output = pipe_of_numbers();
    ::dup2(input.reader, 0);
    ::dup2(output.writer, 1);
    stream in = standard_input().value(), out = standard_output().value();
    loop lp;
    std::string text;
    auto reads = spawn(lp, read_late, std::ref(in), std::ref(text));
    lp.poll();
    CHECK(::write(input.writer, "words", 5) == 5);
    lp.run_until(reads);
    CHECK(text == "words");
    CHECK(sync_wait(out.write_all("answer")) == 6);
    std::array<char, 8> buffer;
    CHECK(::read(output.reader, buffer.data(), buffer.size()) == 6);
    for (const int number : {0, 1, input.reader, output.writer}) CHECK(blocks(number));
    in.close();
    out.close();
    CHECK(::fcntl(0, F_GETFD) == 0);
    CHECK(::fcntl(1, F_GETFD) == 0);
    CHECK(::write(1, "x", 1) == 1);
  });
}

TEST_CASE("a terminal is waited for, and stays as it is for others") {
  check_in_child([] {
    const number_pair ends = terminal();
    for (const int number : {0, 1, 2}) ::dup2(ends.reader, number);
    stream in = standard_input().value(), out = standard_output().value(), err = standard_error().value();
    CHECK(sync_wait(within(1ms, in.readable())).error_or({}) == std::errc::timed_out);
    CHECK(::write(ends.writer, "a line\n", 7) == 7);
    CHECK(read_some_of(in) == "a line\n");
    CHECK(sync_wait(out.write_all("o")) == 1);
    CHECK(sync_wait(err.write_all("e")) == 1);
    std::string seen;
    std::array<char, 64> buffer;
    while (seen.find("oe") == std::string::npos) {
      const ssize_t got = ::read(ends.writer, buffer.data(), buffer.size());
      REQUIRE(got > 0);
      seen.append(buffer.data(), static_cast<std::size_t>(got));
    }
    for (const int number : {0, 1, 2, ends.reader}) CHECK(blocks(number));
  });
}

TEST_CASE("a regular file as a standard stream never waits, and its position is shared") {
  temporary_folder folder;
  const std::string name = folder / "both";
  check_in_child([&] {
    const int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ::dup2(file, 1);
    stream out = standard_output().value();
    CHECK(::write(1, "one ", 4) == 4);
    CHECK(sync_wait(out.write_all("two ")) == 4);
    CHECK(::write(1, "three", 5) == 5);
    ::lseek(file, 0, SEEK_SET);
    ::dup2(file, 0);
    stream in = standard_input().value();
    char letter = 0;
    CHECK(::read(0, &letter, 1) == 1);
    loop lp;
    auto reads =
        spawn(lp, [](stream& from) -> task<result<std::string>> { co_return co_await read_all(from); }, std::ref(in));
    lp.run_until(reads);
    CHECK(sync_wait(reads) == "ne two three");
    CHECK(blocks(0));
  });
}

TEST_CASE("a socket as a standard stream is waited for, though it blocks for others") {
  check_in_child([] {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
    ::dup2(ends[0], 0);
    ::dup2(ends[0], 1);
    stream in = standard_input().value(), out = standard_output().value();
    std::array<char, 8> buffer;
    CHECK(sync_wait(within(1ms, in.read_some(buffer))).error_or({}) == std::errc::timed_out);
    const std::string much(10'000'000, 'm');
    CHECK(sync_wait(within(1ms, out.write_all(much))).error_or({}) == std::errc::timed_out);
    CHECK(::write(ends[1], "x", 1) == 1);
    CHECK(read_some_of(in) == "x");
    CHECK(blocks(0));
  });
}

TEST_CASE("/dev/null as a standard stream ends at once, and takes everything") {
  check_in_child([] {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    ::dup2(null, 0);
    ::dup2(null, 1);
    stream in = standard_input().value(), out = standard_output().value();
    CHECK(sync_wait(read_all(in)) == "");
    CHECK(sync_wait(out.write_all(std::string(100'000, 'n'))) == 100'000);
    loop lp;
    std::string text = "none";
    auto reads = spawn(lp, read_late, std::ref(in), std::ref(text));
    lp.run_until(reads);
    CHECK(text.empty());
  });
}

TEST_CASE("a standard stream without a number is an error, and one without a reader is a broken pipe") {
  check_in_child([] {
    ::signal(SIGPIPE, SIG_DFL);
    ::close(0);
    CHECK(standard_input().error_or({}) == std::errc::bad_file_descriptor);
    const number_pair output = pipe_of_numbers();
    ::dup2(output.writer, 1);
    ::close(output.reader);
    stream out = standard_output().value();  // a pipe without a reader is not opened once more
    CHECK(sync_wait(out.write_all("nobody")).error_or({}) == std::errc::broken_pipe);
  });
}

// The pipe blocks for others. A thread that it blocks is ended by the alarm.
TEST_CASE("no call at a stream that others share blocks its thread, with one buffer or with several") {
  check_in_child([] {
    ::alarm(30);
    using detail::descriptor_access, detail::descriptor_kind;
    const number_pair ends = pipe_of_numbers();
    stream in(descriptor_access::take_over(ends.reader, descriptor_kind::shared).value());
    stream out(descriptor_access::take_over(ends.writer, descriptor_kind::shared).value());
    std::array<char, 8> buffer{};
    const std::array<mutable_buffer, 2> rooms{std::span(buffer).first(3), std::span(buffer).last(3)};
    const std::string much(150'000, 's');
    const std::array<const_buffer, 3> parts{much, "", much};
    const auto timed_out = [](auto&& operation) {
      return sync_wait(within(1ms, std::move(operation))).error_or({}) == std::errc::timed_out;
    };
    CHECK(timed_out(in.read_some(buffer)));
    CHECK(timed_out(in.read_some(rooms)));
    CHECK(timed_out(in.read_exactly(rooms)));
    CHECK(timed_out(in.read_borrowed()));
    CHECK(timed_out(out.write_all(much)));
    CHECK(out.resume_after_partial_write() != 0);
    CHECK(timed_out(out.write_some("x")));
    CHECK(timed_out(out.write_some(parts)));
    std::array<char, 4096> drained{};
    CHECK(sync_wait(in.read_exactly(drained)) == drained.size());
    CHECK(timed_out(out.write_all(parts)));
    CHECK(out.resume_after_partial_write() != 0);
    CHECK(blocks(ends.reader));
    CHECK(blocks(ends.writer));
  });
}

TEST_CASE("what cannot be opened once more is asked before each call, and blocks no thread") {
  const number_pair ends = pipe_of_numbers();
  using detail::descriptor_access, detail::descriptor_kind;
  stream in(descriptor_access::take_over(ends.reader, descriptor_kind::shared).value());
  stream out(descriptor_access::take_over(ends.writer, descriptor_kind::shared).value());
  std::array<char, 8> buffer;
  CHECK(sync_wait(within(1ms, in.read_some(buffer))).error_or({}) == std::errc::timed_out);
  const std::string much(300'000, 's');
  CHECK(sync_wait(within(1ms, out.write_all(much))).error_or({}) == std::errc::timed_out);
  const std::size_t written = out.resume_after_partial_write();
  loop lp;
  auto rest = spawn(
      lp,
      [](stream& to, std::string what) -> task<> {
        auto put = co_await to.write_all(what);
        CHECK(put == what.size());
        to.close();
      },
      std::ref(out), much);
  auto all =
      spawn(lp, [](stream& from) -> task<result<std::string>> { co_return co_await read_all(from); }, std::ref(in));
  lp.run_until(all);
  CHECK(sync_wait(all).value().size() == written + much.size());
}
