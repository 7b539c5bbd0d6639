// Every entry point with descriptors of a kind that it does not expect: files, folders, epolls, devices, sockets in no
// state, descriptors of others. Each call ends: it has a result, or its deadline ends it.
#include "support/temporary_folder.hpp"
#include "unit/net/entry_points.hpp"

#include <doctest/doctest.h>
#include <optional>
#include <string>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

using namespace hocket;
using namespace hocket_test;

namespace {

// What is no connection of bytes, each with the test as its owner. `make` makes a new one.
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

TEST_CASE("each call at a descriptor of an odd kind ends") {
  const short_waits until_the_end;
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
  const short_waits until_the_end;
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
  const short_waits until_the_end;
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
