// Every entry point of io and net with descriptors that it does not expect: numbers of nothing, closed objects, empty
// objects; and regular files, folders, epolls, devices, sockets in no state, descriptors of others. What is invalid is
// bad_file_descriptor everywhere; with the others each call ends: it has a result, or its deadline ends it.
#include <hocket/core/sync_wait.hpp>
#include <hocket/coro/timeout_task.hpp>
#include <hocket/io/buffered_reader.hpp>
#include <hocket/io/buffered_writer.hpp>
#include <hocket/io/copy.hpp>
#include <hocket/io/event_counter.hpp>
#include <hocket/io/file.hpp>
#include <hocket/io/pipe.hpp>
#include <hocket/io/poll_fds.hpp>
#include <hocket/io/process.hpp>
#include <hocket/io/read_all.hpp>
#include <hocket/io/send_file.hpp>
#include <hocket/io/standard_streams.hpp>
#include <hocket/io/unique_fd.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>
#include <hocket/net/unix_stream.hpp>
#include <hocket/time/within.hpp>

#include "support/children.hpp"
#include "support/death.hpp"
#include "support/tcp_pair.hpp"
#include "support/temporary_folder.hpp"

#include <array>
#include <csignal>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <functional>
#include <optional>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <vector>

using namespace hocket;
using namespace hocket_test;
using namespace std::chrono_literals;

namespace {

template <class T>
std::error_code error_of(const result<T>& cause) {
  return cause ? std::error_code() : cause.error();
}

// Nothing waits longer.
template <class Operation>
std::error_code ended(Operation&& operation) {
  return error_of(sync_wait(within(2ms, std::forward<Operation>(operation))));
}

std::array<char, 8> room{};
std::array<mutable_buffer, 2> rooms{std::span(room).first(4), std::span(room).last(4)};
constexpr std::string_view words = "words";
const std::array<const_buffer, 2> parts{words, words};

template <class Object>
struct named_call {
  const char* name;
  std::function<std::error_code(Object&)> make;
};

const std::vector<named_call<stream>>& stream_calls() {
  static const std::vector<named_call<stream>> all{
      {"read_some", [](stream& at) { return ended(at.read_some(room)); }},
      {"read_some of nothing", [](stream& at) { return ended(at.read_some(mutable_buffer())); }},
      {"read_some of parts", [](stream& at) { return ended(at.read_some(rooms)); }},
      {"read_exactly", [](stream& at) { return ended(at.read_exactly(room)); }},
      {"read_exactly of parts", [](stream& at) { return ended(at.read_exactly(rooms)); }},
      {"read_borrowed", [](stream& at) { return ended(at.read_borrowed()); }},
      {"read_idle", [](stream& at) { return ended(at.read_idle()); }},
      {"write_some", [](stream& at) { return ended(at.write_some(words)); }},
      {"write_some of nothing", [](stream& at) { return ended(at.write_some(std::string_view())); }},
      {"write_some of parts", [](stream& at) { return ended(at.write_some(parts)); }},
      {"write_all", [](stream& at) { return ended(at.write_all(words)); }},
      {"write_all of parts", [](stream& at) { return ended(at.write_all(parts)); }},
      {"readable", [](stream& at) { return ended(at.readable()); }},
      {"writable", [](stream& at) { return ended(at.writable()); }},
      {"closed", [](stream& at) { return ended(at.closed()); }},
      {"read_all", [](stream& at) { return ended(read_all(at, 1000)); }},
      {"buffered_reader",
       [](stream& at) {
         buffered_reader reader(at);
         return ended(reader.read_line());
       }},
      {"buffered_writer",
       [](stream& at) {
         buffered_writer writer(at);
         writer.append(words);
         return ended(writer.flush());
       }},
      {"copy from",
       [](stream& at) {
         auto pipe = make_pipe().value();
         return ended(copy(at, pipe.writer, 1000));
       }},
      {"copy to",
       [](stream& at) {
         auto pipe = make_pipe().value();
         sync_wait(pipe.writer.write_all(words)).value();
         return ended(copy(pipe.reader, at));
       }},
      {"send_file to", [](stream& at) {
         const unique_fd from(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
         return ended(send_file(at, from.native_handle(), 0, 5));
       }}};
  return all;
}

const std::vector<named_call<socket_stream>>& socket_calls() {
  static const std::vector<named_call<socket_stream>> all{
      {"peek", [](socket_stream& at) { return ended(at.peek(room)); }},
      {"peek at nothing", [](socket_stream& at) { return ended(at.peek({})); }},
      {"shutdown_read", [](socket_stream& at) { return error_of(at.shutdown_read()); }},
      {"shutdown_write", [](socket_stream& at) { return error_of(at.shutdown_write()); }}};
  return all;
}

const std::vector<named_call<tcp::stream>>& tcp_calls() {
  static const std::vector<named_call<tcp::stream>> all{
      {"set_no_delay", [](tcp::stream& at) { return error_of(at.set_no_delay(true)); }},
      {"set_keep_alive", [](tcp::stream& at) { return error_of(at.set_keep_alive({})); }},
      {"set_receive_buffer", [](tcp::stream& at) { return error_of(at.set_receive_buffer(4096)); }},
      {"set_send_buffer", [](tcp::stream& at) { return error_of(at.set_send_buffer(4096)); }},
      {"set_reset_on_close", [](tcp::stream& at) { return error_of(at.set_reset_on_close(false)); }}};
  return all;
}

const std::vector<named_call<unix_stream>>& unix_calls() {
  static const std::array fds{0};
  static std::array<unique_fd, 1> taken;
  static const std::vector<named_call<unix_stream>> all{
      {"send_with_fds", [](unix_stream& at) { return ended(at.send_with_fds(words, fds)); }},
      {"receive_with_fds", [](unix_stream& at) { return ended(at.receive_with_fds(room, taken)); }},
      {"credentials", [](unix_stream& at) { return error_of(at.credentials()); }}};
  return all;
}

const std::vector<named_call<udp::socket>>& udp_calls() {
  static const socket_address somewhere("127.0.0.1:9");
  static const std::vector<named_call<udp::socket>> all{
      {"receive", [](udp::socket& at) { return ended(at.receive(room)); }},
      {"send", [](udp::socket& at) { return ended(at.send(words)); }},
      {"send to an address", [](udp::socket& at) { return ended(at.send(words, somewhere)); }},
      {"send to a unix socket", [](udp::socket& at) { return ended(at.send(words, "unix:@hocket-nobody")); }},
      {"receive_batch",
       [](udp::socket& at) {
         std::array<udp::datagram, 2> batch{udp::datagram(room), udp::datagram(room)};
         return ended(at.receive_batch(batch));
       }},
      {"receive_batch of none", [](udp::socket& at) { return ended(at.receive_batch({})); }},
      {"send_batch",
       [](udp::socket& at) {
         std::array<udp::datagram, 2> batch{udp::datagram(words, somewhere), udp::datagram(words, somewhere)};
         return ended(at.send_batch(batch));
       }},
      {"send_batch of none", [](udp::socket& at) { return ended(at.send_batch({})); }},
      {"readable", [](udp::socket& at) { return ended(at.readable()); }}};
  return all;
}

const std::vector<named_call<tcp::listener>>& listener_calls() {
  static const std::vector<named_call<tcp::listener>> all{
      {"accept", [](tcp::listener& at) { return ended(at.accept()); }},
      {"try_accept", [](tcp::listener& at) { return error_of(at.try_accept()); }},
      {"readable", [](tcp::listener& at) { return ended(at.readable()); }}};
  return all;
}

const std::vector<named_call<file>>& file_calls() {
  static const std::vector<named_call<file>> all{
      {"read_at", [](file& at) { return ended(at.read_at(room, 0)); }},
      {"read_at of nothing", [](file& at) { return ended(at.read_at({}, 0)); }},
      {"write_at", [](file& at) { return ended(at.write_at(words, 0)); }},
      {"write_at of nothing", [](file& at) { return ended(at.write_at({}, 0)); }},
      {"append", [](file& at) { return ended(at.append(words)); }},
      {"size", [](file& at) { return ended(at.size()); }},
      {"resize", [](file& at) { return ended(at.resize(1)); }},
      {"sync", [](file& at) { return ended(at.sync()); }},
      {"sync_data", [](file& at) { return ended(at.sync_data()); }},
      {"read_all", [](file& at) { return ended(at.read_all(1000)); }}};
  return all;
}

const std::vector<named_call<event_counter>>& counter_calls() {
  static const std::vector<named_call<event_counter>> all{{"add", [](event_counter& at) { return error_of(at.add()); }},
                                                          {"take", [](event_counter& at) { return ended(at.take()); }}};
  return all;
}

// The calls at an object that has no descriptor.
template <class Object>
void check_all_bad(Object& none, const std::vector<named_call<Object>>& calls) {
  for (const auto& call : calls) {
    CAPTURE(call.name);
    CHECK(call.make(none) == std::errc::bad_file_descriptor);
  }
}

template <class Object>
void check_empty_and_closed(Object open, const std::vector<named_call<Object>>& calls) {
  Object empty;
  check_all_bad(empty, calls);
  open.close();
  check_all_bad(open, calls);
}

// The calls that take a number.
const std::vector<named_call<const int>>& number_calls() {
  static const std::vector<named_call<const int>> all{
      {"descriptor::adopt", [](const int& fd) { return error_of(descriptor::adopt(fd)); }},
      {"stream::adopt", [](const int& fd) { return error_of(stream::adopt(fd)); }},
      {"file::adopt", [](const int& fd) { return error_of(file::adopt(fd)); }},
      {"event_counter::adopt", [](const int& fd) { return error_of(event_counter::adopt(fd)); }},
      {"tcp::listener::adopt", [](const int& fd) { return error_of(tcp::listener::adopt(fd)); }},
      {"udp::socket::adopt", [](const int& fd) { return error_of(udp::socket::adopt(fd)); }},
      {"poll_fd", [](const int& fd) { return ended(poll_fd(fd, POLLIN)); }},
      {"send_file of",
       [](const int& fd) {
         auto ends = make_unix_pair().value();
         return ended(send_file(ends.near, fd, 0, 5));
       }},
      {"send_with_fds of", [](const int& fd) {
         auto ends = make_unix_pair().value();
         return ended(ends.near.send_with_fds(words, std::span(&fd, 1)));
       }}};
  return all;
}

// Objects that are no connection of bytes, each with the test as its owner. `make` makes a new one.
struct odd_descriptor {
  const char* name;
  std::function<int()> make;
};

std::vector<odd_descriptor> odd_descriptors(const std::string& file) {
  return {{"a regular file", [file] { return ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600); }},
          {"a file to read", [file] { return ::open(file.c_str(), O_RDONLY | O_CREAT | O_CLOEXEC, 0600); }},
          {"a file to write", [file] { return ::open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600); }},
          {"a path alone", [] { return ::open("/", O_PATH | O_CLOEXEC); }},
          {"a folder", [] { return ::open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC); }},
          {"an epoll", [] { return ::epoll_create1(EPOLL_CLOEXEC); }},
          {"/dev/zero", [] { return ::open("/dev/zero", O_RDWR | O_CLOEXEC); }},
          {"/dev/null", [] { return ::open("/dev/null", O_RDWR | O_CLOEXEC); }},
          {"/dev/full", [] { return ::open("/dev/full", O_RDWR | O_CLOEXEC); }},
          {"a timer", [] { return ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC); }},
          {"an eventfd", [] { return ::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }},
          {"a socket without a connection", [] { return ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0); }},
          {"a unix socket without a connection", [] { return ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0); }},
          {"a socket for datagrams", [] { return ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); }},
          {"a listener",
           [] {
             const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
             REQUIRE(::listen(fd, 1) == 0);
             return fd;
           }},
          {"a pipe to read",
           [] {
             std::array<int, 2> ends{};
             REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
             ::close(ends[1]);
             return ends[0];
           }},
          {"a pipe to write", [] {
             std::array<int, 2> ends{};
             REQUIRE(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) == 0);
             ::close(ends[0]);
             return ends[1];
           }}};
}

// Each call at each odd descriptor ends. What comes of it is the system's affair.
template <class Object, class Make>
void check_all_end(const std::string& file, const std::vector<named_call<Object>>& calls, Make make) {
  for (const odd_descriptor& odd : odd_descriptors(file)) {
    CAPTURE(odd.name);
    for (const auto& call : calls) {
      CAPTURE(call.name);
      const int fd = odd.make();
      REQUIRE(fd >= 0);
      std::optional<Object> at = make(fd);
      if (!at) {
        ::close(fd);
        continue;
      }
      static_cast<void>(call.make(*at));
      at->close();
      CHECK(::fcntl(fd, F_GETFD) == -1);
    }
  }
}

template <class Object>
std::optional<Object> over_descriptor(int fd) {
  auto adopted = descriptor::adopt(fd);
  if (!adopted) return std::nullopt;
  return Object(std::move(*adopted));
}

template <class Object>
std::optional<Object> by_adopt(int fd) {
  auto adopted = Object::adopt(fd);
  if (!adopted) return std::nullopt;
  return std::move(*adopted);
}

}  // namespace

TEST_CASE("each call at an object without a descriptor, or with a closed one, is bad_file_descriptor") {
  auto [near, far] = make_tcp_pair();
  check_empty_and_closed(stream(make_pipe().value().reader), stream_calls());
  check_empty_and_closed(socket_stream(std::move(far)), socket_calls());
  check_empty_and_closed(std::move(near), tcp_calls());
  check_empty_and_closed(make_unix_pair().value().near, unix_calls());
  check_empty_and_closed(udp::socket::bind("127.0.0.1:0").value(), udp_calls());
  check_empty_and_closed(tcp::listener::bind("127.0.0.1:0").value(), listener_calls());
  check_empty_and_closed(event_counter::make().value(), counter_calls());
  const temporary_folder folder;
  blocking_pool pool{blocking_pool_options{}};  // which ends with the test, and its threads, too
  file closed = sync_wait(file::open(pool, folder / "file", {.write = true, .create = true})).value();
  closed.close();
  check_all_bad(closed, file_calls());
  process none;
  CHECK(ended(none.wait()) == std::errc::bad_file_descriptor);
  CHECK(error_of(none.signal(SIGTERM)) == std::errc::bad_file_descriptor);
}

TEST_CASE("each call with the number of no descriptor is bad_file_descriptor") {
  const int closed = ::fcntl(0, F_DUPFD_CLOEXEC, 700);  // which no call makes again
  ::close(closed);
  for (const int number : {-1, closed, 1'000'000}) {
    CAPTURE(number);
    for (const auto& call : number_calls()) {
      CAPTURE(call.name);
      CHECK(call.make(number) == std::errc::bad_file_descriptor);
    }
    if (starts_no_children()) continue;
    CHECK(error_of(process::start({"true"}, {.in = process::use_fd(number)})) == std::errc::bad_file_descriptor);
    CHECK(error_of(process::start({"true"}, {.out = process::use_fd(number)})) == std::errc::bad_file_descriptor);
  }
  const child_end end = end_of_child([] {
    const int errors = ::fcntl(2, F_DUPFD_CLOEXEC, 3);
    for (const int number : {0, 1, 2}) ::close(number);
    const bool all_bad = standard_input().error_or({}) == std::errc::bad_file_descriptor &&
                         standard_output().error_or({}) == std::errc::bad_file_descriptor &&
                         standard_error().error_or({}) == std::errc::bad_file_descriptor;
    ::dup2(errors, 2);
    CHECK(all_bad);
  });
  INFO(end.errors);
  CHECK(end.returned);
}

TEST_CASE("each call at a descriptor of an odd kind ends") {
  const temporary_folder folder;
  const std::string name = folder / "file";
  check_all_end<stream>(name, stream_calls(), &over_descriptor<stream>);
  check_all_end<socket_stream>(name, socket_calls(), &over_descriptor<socket_stream>);
  check_all_end<tcp::stream>(name, tcp_calls(), &over_descriptor<tcp::stream>);
  check_all_end<unix_stream>(name, unix_calls(), &over_descriptor<unix_stream>);
  check_all_end<udp::socket>(name, udp_calls(), &by_adopt<udp::socket>);
  check_all_end<tcp::listener>(name, listener_calls(), &by_adopt<tcp::listener>);
  check_all_end<event_counter>(name, counter_calls(), &by_adopt<event_counter>);
  blocking_pool pool{blocking_pool_options{}};
  check_all_end<file>(name, file_calls(), [&pool](int fd) -> std::optional<file> {
    auto adopted = file::adopt(fd, &pool);
    if (!adopted) return std::nullopt;
    return std::move(*adopted);
  });
}

TEST_CASE("each call with the number of a descriptor of an odd kind ends") {
  const temporary_folder folder;
  for (const odd_descriptor& odd : odd_descriptors(folder / "file")) {
    CAPTURE(odd.name);
    for (const auto& call : number_calls()) {
      CAPTURE(call.name);
      const unique_fd fd(odd.make());
      const bool adopts = std::string_view(call.name).find("adopt") != std::string_view::npos;
      const int number = adopts ? ::fcntl(fd.native_handle(), F_DUPFD_CLOEXEC, 3) : fd.native_handle();
      const std::error_code error = call.make(number);
      if (adopts && error) ::close(number);  // it stayed the caller's
    }
  }
}

// A number that a descriptor of the library owns already, and one that an epoll of the library watches.
TEST_CASE("each call with the number of a descriptor that another object owns ends, and leaves it to its owner") {
  for (const auto& call : number_calls()) {
    if (std::string_view(call.name).find("adopt") != std::string_view::npos) continue;
    CAPTURE(call.name);
    auto [near, far] = make_unix_pair().value();
    CHECK(ended(near.read_some(room)) == std::errc::timed_out);
    static_cast<void>(call.make(near.native_handle()));
    CHECK(sync_wait(far.write_all("x")) == std::size_t{1});
    CHECK(sync_wait(near.read_some(room)) == std::size_t{1});
  }
}
