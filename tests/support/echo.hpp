// A handler of connections that writes back what it reads, for tests of servers.
#pragma once
#include <hocket/coro/or_return.hpp>
#include <hocket/net/tcp.hpp>

#include <array>
#include <span>

namespace hocket_test {

inline hocket::task<hocket::result<void>> echo(hocket::tcp::stream peer) {
  std::array<char, 64> buffer;
  while (const std::size_t n = co_await hocket::or_return(peer.read_some(buffer)))
    co_await hocket::or_return(peer.write_all(std::span(buffer.data(), n)));
  co_return {};
}

}  // namespace hocket_test
