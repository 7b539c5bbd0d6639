// A socket that a message has brought may have a time limit that this process has not set: its waits end by it.
#include "alone.hpp"
#include "blocking.hpp"

#include <cstdlib>
#include <cstring>
#include <support/children.hpp>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>

using namespace hooked_tests;

namespace {

constexpr auto stream_ends = two_ends::kind::stream;

// A message with one byte and one descriptor.
class passed_descriptor {
 public:
  passed_descriptor() {
    message_.msg_hdr.msg_iov = &part_;
    message_.msg_hdr.msg_iovlen = 1;
    message_.msg_hdr.msg_control = control_.data();
    message_.msg_hdr.msg_controllen = control_.size();
  }
  passed_descriptor(const passed_descriptor&) = delete;
  passed_descriptor& operator=(const passed_descriptor&) = delete;

  void send(int to, int fd) {
    cmsghdr* const head = CMSG_FIRSTHDR(&message_.msg_hdr);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
    REQUIRE(::sendmsg(to, &message_.msg_hdr, 0) == 1);
  }
  mmsghdr& message() { return message_; }
  int number() const {
    int fd = -1;
    const cmsghdr* const head = CMSG_FIRSTHDR(&message_.msg_hdr);
    REQUIRE(head);
    std::memcpy(&fd, CMSG_DATA(head), sizeof fd);
    return fd;
  }

 private:
  char byte_ = 'x';
  iovec part_{&byte_, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control_{};
  mmsghdr message_{};
};

struct receiving {
  const char* name;
  ssize_t (*call)(int fd, mmsghdr& into);
};
constexpr receiving receivings[] = {
    {"recvmsg", [](int fd, mmsghdr& into) { return ::recvmsg(fd, &into.msg_hdr, 0); }},
    {"recvmsg at once", [](int fd, mmsghdr& into) { return ::recvmsg(fd, &into.msg_hdr, MSG_DONTWAIT); }},
    {"recvmmsg", [](int fd, mmsghdr& into) { return ssize_t{::recvmmsg(fd, &into, 1, 0, nullptr)}; }},
    {"recvmmsg at once",
     [](int fd, mmsghdr& into) { return ssize_t{::recvmmsg(fd, &into, 1, MSG_DONTWAIT, nullptr)}; }},
};

ssize_t receive_byte(int fd) {
  char byte = 0;
  return ::recv(fd, &byte, 1, 0);
}

}  // namespace

// The environment names the call, and whether a hooked fiber makes it.
TEST_CASE("alone: a limit arrives with a descriptor") {
  if (!is_alone()) return;
  const char* const variable = std::getenv("HOCKET_TEST_RECEIVING");
  REQUIRE(variable);
  const receiving& each = receivings[variable[0] - '0'];
  two_ends ends(stream_ends), passed(stream_ends);
  // The first wait asks the inherited sockets.
  in_fiber([&] { CHECK(hook::within(0ms, [&] { return receive_byte(ends.in()); }).error() == std::errc::timed_out); });
  const timeval limit{0, 1000};
  REQUIRE(::syscall(SYS_setsockopt, passed.in(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0);
  passed_descriptor outgoing, incoming;
  outgoing.send(ends.out(), passed.in());
  const auto receives = [&] { CHECK(each.call(ends.in(), incoming.message()) == 1); };
  if (variable[1] == 'f') in_fiber(receives);
  else receives();
  const int fd = incoming.number();
  in_fiber([&] {
    CHECK(hook::within(30s, [&] { return receive_byte(fd); }).value() == -1);
    CHECK(errno == EAGAIN);
  });
  ::close(fd);
}

TEST_CASE("each call that receives descriptors expects limits of their sockets, in a fiber and on a thread" *
          doctest::skip(hocket_test::starts_no_children())) {
  for (std::size_t i = 0; i < std::size(receivings); ++i)
    for (const char kind : {'f', 't'}) {
      CAPTURE(std::string(receivings[i].name));
      const std::array<char, 3> variable{static_cast<char>('0' + i), kind, '\0'};
      run_alone("alone: a limit arrives with a descriptor",
                [&] { ::setenv("HOCKET_TEST_RECEIVING", variable.data(), 1); });
    }
}
