// Connected descriptors for tests of io.
#pragma once
#include <hocket/io/stream.hpp>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace hocket_test {

struct stream_pair {
  hocket::stream near, far;
};

inline stream_pair streams_of(int near, int far) {
  return {hocket::stream::adopt(near).value(), hocket::stream::adopt(far).value()};
}

// Two ends of a connection. `room`: of the sender's buffer; 0: the system's.
inline stream_pair connected(int room = 0) {
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
  if (room != 0) REQUIRE(::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room) == 0);
  return streams_of(ends[0], ends[1]);
}

// A pipe: far reads what near writes.
inline stream_pair piped() {
  int ends[2];
  REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
  return streams_of(ends[1], ends[0]);
}

}  // namespace hocket_test
