// Two ends of a TCP connection on this machine.
#pragma once
#include <hocket/core/sync_wait.hpp>
#include <hocket/net/tcp.hpp>

namespace hocket_test {

struct tcp_pair {
  hocket::tcp::stream near, far;
};

inline tcp_pair make_tcp_pair() {
  auto door = hocket::tcp::listener::bind("127.0.0.1:0").value();
  auto near = hocket::sync_wait(hocket::tcp::connect(door.local_address())).value();
  return {std::move(near), hocket::sync_wait(door.accept()).value()};
}

}  // namespace hocket_test
