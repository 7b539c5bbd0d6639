// An echo server on Boost.Asio's C++20 coroutines, as its documentation writes one: what it takes to compile. It is not
// run.
#include <boost/asio.hpp>

#include <array>
#include <cstddef>

namespace net = boost::asio;
using net::ip::tcp;

net::awaitable<void> echo(tcp::socket peer) {
  std::array<char, 512> buffer;
  try {
    for (;;) {
      const std::size_t n = co_await peer.async_read_some(net::buffer(buffer), net::use_awaitable);
      co_await net::async_write(peer, net::buffer(buffer, n), net::use_awaitable);
    }
  } catch (const boost::system::system_error&) {  // the peer has closed
  }
}

net::awaitable<void> accept_all(net::io_context& context) {
  tcp::acceptor acceptor(context, {tcp::v6(), 8080});
  for (;;) net::co_spawn(context, echo(co_await acceptor.async_accept(net::use_awaitable)), net::detached);
}

int main() {
  net::io_context context;
  net::co_spawn(context, accept_all(context), net::detached);
  context.run();
}
