// Boost.Asio's servers of the page `net`: C++20 coroutines on an io_context for each thread, as in its example "HTTP
// server 2", and a listener for each; the listeners share a port. Nothing else is shared between threads, so the
// concurrency hint is UNSAFE, which its documentation allows there: no lock is taken. The executor's own type and
// `deferred` are used as in ../asio_awaitable.cpp; errors come as values (as_tuple).
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/buffer.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ip/udp.hpp>
#include <boost/asio/write.hpp>

#include <memory>
#include <thread>
#include <vector>

#include "net/server.hpp"

namespace {

namespace asio = boost::asio;
using namespace lab::net;
using asio::ip::tcp;
using asio::ip::udp;

using executor = asio::io_context::executor_type;
using coroutine = asio::awaitable<void, executor>;
using stream = asio::basic_stream_socket<tcp, executor>;
using listener = asio::basic_socket_acceptor<tcp, executor>;
using datagrams = asio::basic_datagram_socket<udp, executor>;

constexpr auto token = asio::as_tuple(asio::deferred);

coroutine http(stream peer) {
  request_buffer requests;
  for (;;) {
    const std::span<char> room = requests.room();
    const auto [error, read] = co_await peer.async_read_some(asio::buffer(room.data(), room.size()), token);
    if (error || read == 0) co_return;
    const std::string_view answers = requests.answers(read);
    if (answers.empty()) continue;
    const auto [failed, written] = co_await asio::async_write(peer, asio::buffer(answers), token);
    if (failed) co_return;
  }
}

coroutine echo(stream peer) {
  std::array<char, echo_room> bytes;
  for (;;) {
    const auto [error, read] = co_await peer.async_read_some(asio::buffer(bytes), token);
    if (error) co_return;
    const auto [failed, written] = co_await asio::async_write(peer, asio::buffer(bytes.data(), read), token);
    if (failed) co_return;
  }
}

coroutine sink(stream peer) {
  const auto bytes = std::make_unique_for_overwrite<char[]>(sink_room);
  for (;;) {
    const auto [error, read] = co_await peer.async_read_some(asio::buffer(bytes.get(), sink_room), token);
    if (error) co_return;
  }
}

// Asio has no batches: a datagram at a time.
coroutine echo_datagrams(datagrams door) {
  std::array<char, datagram_room> bytes;
  udp::endpoint from;
  for (;;) {
    const auto [error, read] = co_await door.async_receive_from(asio::buffer(bytes), from, token);
    if (error) continue;
    co_await door.async_send_to(asio::buffer(bytes.data(), read), from, token);
  }
}

coroutine accept_all(listener door, mode does) {
  for (;;) {
    auto [error, peer] = co_await door.async_accept(token);
    if (error == asio::error::no_descriptors) fail("accept");
    if (error) continue;
    peer.set_option(tcp::no_delay(true));
    auto* const handler = does == mode::http ? http : does == mode::echo ? echo : sink;
    asio::co_spawn(door.get_executor(), handler(std::move(peer)), asio::detached);
  }
}

// A socket, or a listener. Each thread opens one, and all share a port.
template <class Door>
Door open(asio::io_context& context, unsigned port) {
  const typename Door::endpoint_type at(asio::ip::address_v4::loopback(), static_cast<unsigned short>(port));
  Door door(context.get_executor());
  door.open(at.protocol());
  const int on = 1;
  checked(setsockopt(door.native_handle(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), "SO_REUSEPORT");
  door.bind(at);
  return door;
}

// Returns the port.
unsigned serve(asio::io_context& context, mode does, unsigned port) {
  if (does == mode::udp) {
    auto door = open<datagrams>(context, port);
    port = door.local_endpoint().port();
    asio::co_spawn(context, echo_datagrams(std::move(door)), asio::detached);
    return port;
  }
  auto door = open<listener>(context, port);
  door.listen(4096);
  port = door.local_endpoint().port();
  asio::co_spawn(context, accept_all(std::move(door), does), asio::detached);
  return port;
}

}  // namespace

int main(int argc, char** argv) {
  const orders told = parse(argc, argv);
  std::vector<std::unique_ptr<asio::io_context>> contexts;
  unsigned port = 0;
  for (std::size_t i = 0; i < told.workers; ++i) {
    contexts.push_back(std::make_unique<asio::io_context>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE));
    port = serve(*contexts.back(), told.does, port);
  }
  ready(port);
  std::vector<std::thread> threads;
  for (auto& context : contexts) threads.emplace_back([&context] { context->run(); });
  for (auto& thread : threads) thread.join();
}
