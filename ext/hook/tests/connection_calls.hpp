// Every hooked call that transfers at a connection, and every call that polls it.
#pragma once
#include "connections.hpp"

#include <marked_sockets.hpp>
#include <poll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/sendfile.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <thread>

namespace hooked_tests {

inline std::array<char, 1 << 20> buffer;

inline iovec whole() { return {buffer.data(), buffer.size()}; }

// Descriptors that transfers need beside the connection.
struct others {
  others() { REQUIRE(::ftruncate(file, buffer.size()) == 0); }
  others(const others&) = delete;
  others& operator=(const others&) = delete;
  ~others() { ::close(file); }
  const int file = ::memfd_create("file", MFD_CLOEXEC);
  two_ends empty{two_ends::kind::pipe}, filled{two_ends::kind::pipe};
};

// A transfer at a connection. It waits if nothing has arrived, or if there is no buffer.
struct transfer {
  const char* name;
  bool is_of_input;
  ssize_t (*call)(int connection, const others& beside);
};

inline ssize_t receive_message(int fd, int flags) {
  iovec part = whole();
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return ::recvmsg(fd, &message, flags);
}
inline ssize_t send_message(int fd) {
  iovec part = whole();
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  return ::sendmsg(fd, &message, MSG_NOSIGNAL);
}
template <class Call>
ssize_t batch(Call call) {
  iovec part = whole();
  mmsghdr message{};
  message.msg_hdr.msg_iov = &part;
  message.msg_hdr.msg_iovlen = 1;
  return call(&message);
}

inline const transfer transfers[] = {
    {"read", true, [](int fd, const others&) { return ::read(fd, buffer.data(), 1); }},
    {"readv", true,
     [](int fd, const others&) {
       const iovec part = whole();
       return ::readv(fd, &part, 1);
     }},
    {"preadv2", true,
     [](int fd, const others&) {
       const iovec part = whole();
       return ::preadv2(fd, &part, 1, -1, 0);
     }},
    {"recv", true, [](int fd, const others&) { return ::recv(fd, buffer.data(), 1, 0); }},
    {"recv, peek", true, [](int fd, const others&) { return ::recv(fd, buffer.data(), 1, MSG_PEEK); }},
    {"recv, all", true, [](int fd, const others&) { return ::recv(fd, buffer.data(), 9, MSG_WAITALL); }},
    {"recvfrom", true, [](int fd, const others&) { return ::recvfrom(fd, buffer.data(), 1, 0, nullptr, nullptr); }},
    {"recvmsg", true, [](int fd, const others&) { return receive_message(fd, 0); }},
    {"recvmsg, all", true, [](int fd, const others&) { return receive_message(fd, MSG_WAITALL); }},
    {"recvmmsg", true,
     [](int fd, const others&) { return batch([&](mmsghdr* all) { return ::recvmmsg(fd, all, 1, 0, nullptr); }); }},
    {"splice from", true,
     [](int fd, const others& to) { return ::splice(fd, nullptr, to.empty.out(), nullptr, 1, 0); }},
    {"write", false, [](int fd, const others&) { return ::write(fd, buffer.data(), buffer.size()); }},
    {"writev", false,
     [](int fd, const others&) {
       const iovec part = whole();
       return ::writev(fd, &part, 1);
     }},
    {"pwritev2", false,
     [](int fd, const others&) {
       const iovec part = whole();
       return ::pwritev2(fd, &part, 1, -1, 0);
     }},
    {"send", false, [](int fd, const others&) { return ::send(fd, buffer.data(), buffer.size(), MSG_NOSIGNAL); }},
    {"sendto", false,
     [](int fd, const others&) { return ::sendto(fd, buffer.data(), buffer.size(), MSG_NOSIGNAL, nullptr, 0); }},
    {"sendmsg", false, [](int fd, const others&) { return send_message(fd); }},
    {"sendmmsg", false,
     [](int fd, const others&) { return batch([&](mmsghdr* all) { return ::sendmmsg(fd, all, 1, MSG_NOSIGNAL); }); }},
    {"sendfile", false,
     [](int fd, const others& from) {
       off_t offset = 0;
       return ::sendfile(fd, from.file, &offset, buffer.size());
     }},
    {"splice to", false,
     [](int fd, const others& from) { return ::splice(from.filled.in(), nullptr, fd, nullptr, 1, 0); }},
};

// Calls that wait for the connection's events.
struct polling {
  const char* name;
  int (*call)(int fd, int milliseconds);
};

inline timespec time_of(int milliseconds) { return {milliseconds / 1000, milliseconds % 1000 * 1'000'000L}; }

// select() and pselect() return how many bits are set: 1 for input and 1 for output.
template <class Call>
int polled_by_select(int fd, Call call) {
  fd_set in, out, other;
  FD_ZERO(&in);
  FD_ZERO(&out);
  FD_ZERO(&other);
  FD_SET(fd, &in);
  const int bits = call(fd + 1, &in, &out, &other);
  CHECK((bits == 1) == (bits >= 0 && FD_ISSET(fd, &in)));
  return bits;
}

inline const polling polls[] = {
    {"poll",
     [](int fd, int milliseconds) {
       pollfd pfd{fd, POLLIN, 0};
       const int ready = ::poll(&pfd, 1, milliseconds);
       CHECK((ready == 1) == (pfd.revents == (POLLIN | POLLERR)));
       return ready;
     }},
    {"ppoll",
     [](int fd, int milliseconds) {
       pollfd pfd{fd, POLLIN, 0};
       const timespec time = time_of(milliseconds);
       const int ready = ::ppoll(&pfd, 1, milliseconds < 0 ? nullptr : &time, nullptr);
       CHECK((ready == 1) == (pfd.revents == (POLLIN | POLLERR)));
       return ready;
     }},
    {"select",
     [](int fd, int milliseconds) {
       return polled_by_select(fd, [=](int end, fd_set* in, fd_set* out, fd_set* other) {
         timeval time{milliseconds / 1000, milliseconds % 1000 * 1000};
         return ::select(end, in, out, other, milliseconds < 0 ? nullptr : &time);
       });
     }},
    {"pselect",
     [](int fd, int milliseconds) {
       return polled_by_select(fd, [=](int end, fd_set* in, fd_set* out, fd_set* other) {
         const timespec time = time_of(milliseconds);
         return ::pselect(end, in, out, other, milliseconds < 0 ? nullptr : &time, nullptr);
       });
     }},
};

inline void expect_refused(int fd, const others& beside) {
  for (const transfer& each : transfers) {
    CAPTURE(std::string(each.name));
    errno = 0;
    CHECK(each.call(fd, beside) == -1);
    CHECK(errno == ECONNABORTED);
  }
  int error = 0;
  socklen_t size = sizeof error;
  CHECK(::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0);
  CHECK(error == ECONNABORTED);
  const sockaddr_in nowhere{};
  CHECK(::connect(fd, reinterpret_cast<const sockaddr*>(&nowhere), sizeof nowhere) == -1);
  CHECK(errno == ECONNABORTED);
}

// In a hooked fiber, in another one, and on a thread.
inline void expect_refused_everywhere(int fd, const others& beside) {
  REQUIRE(hook::is_marked(fd));  // else the calls would wait
  in_fiber([&] {
    expect_refused(fd, beside);
    for (const polling& each : polls) {
      CAPTURE(std::string(each.name));
      CHECK(each.call(fd, -1) == 1);
      CHECK(each.call(fd, 0) == 1);
    }
  });
  loop lp;
  spawn(lp, [&] { expect_refused(fd, beside); });
  lp.run();
  std::thread([&] { expect_refused(fd, beside); }).join();
}

inline void expect_works(const connection_ends& ends) {
  in_fiber([&] {
    write_text(ends.client(), "x");
    CHECK(read_text(ends.server(), 1) == "x");
    write_text(ends.server(), "y");
    CHECK(read_text(ends.client(), 1) == "y");
  });
}

// A wait at the client's end was ended, and the answer has arrived since.
inline void mark(const connection_ends& ends) {
  run_and_end(ending::cancel, [&] { CHECK(::recv(ends.client(), buffer.data(), 1, 0) == -1); });
  ends.answer();
}

// Moves the client's end to this number.
inline int moved_to(connection_ends& ends, int number) {
  const int client = ends.release_client();
  REQUIRE(static_cast<int>(::syscall(SYS_dup3, client, number, O_CLOEXEC)) == number);
  ::syscall(SYS_close, client);
  return number;
}

}  // namespace hooked_tests
