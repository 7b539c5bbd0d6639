// Boost.Beast's server of the page `net`: the one of net.cpp (an io_context and a listener for each worker, coroutines,
// no locks), whose connections read and write by Beast, as in its example "HTTP server, awaitable". Beast parses each
// request; it has no router, and writes no Date by itself. No deadlines.
#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/deferred.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/message.hpp>
#include <boost/beast/http/read.hpp>
#include <boost/beast/http/string_body.hpp>
#include <boost/beast/http/write.hpp>

#include <memory>
#include <thread>
#include <vector>

#include "net/server.hpp"

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using namespace lab::net;
using asio::ip::tcp;

using executor = asio::io_context::executor_type;
using coroutine = asio::awaitable<void, executor>;
using stream = asio::basic_stream_socket<tcp, executor>;
using listener = asio::basic_socket_acceptor<tcp, executor>;

constexpr auto token = asio::as_tuple(asio::deferred);

http::response<http::string_body> answer(const http::request<http::string_body>& request) {
  const bool found = request.method() == http::verb::get && request.target() == "/";
  http::response<http::string_body> response(found ? http::status::ok : http::status::not_found, request.version());
  response.set(http::field::content_type, "text/plain; charset=utf-8");
  response.keep_alive(request.keep_alive());
  response.body() = found ? "hello\n" : "not found\n";
  response.prepare_payload();
  return response;
}

coroutine serve_connection(stream peer) {
  beast::flat_buffer buffer;
  for (;;) {
    http::request<http::string_body> request;
    const auto [error, read] = co_await http::async_read(peer, buffer, request, token);
    if (error) co_return;
    const auto response = answer(request);
    const auto [failed, written] = co_await http::async_write(peer, response, token);
    if (failed || !response.keep_alive()) co_return;
  }
}

coroutine accept_all(listener door) {
  for (;;) {
    auto [error, peer] = co_await door.async_accept(token);
    if (error == asio::error::no_descriptors) fail("accept");
    if (error) continue;
    peer.set_option(tcp::no_delay(true));
    asio::co_spawn(door.get_executor(), serve_connection(std::move(peer)), asio::detached);
  }
}

// Each thread opens a listener, and all share a port, which is returned.
unsigned listen(asio::io_context& context, unsigned port) {
  const tcp::endpoint at(asio::ip::address_v4::loopback(), static_cast<unsigned short>(port));
  listener door(context.get_executor());
  door.open(at.protocol());
  const int on = 1;
  checked(setsockopt(door.native_handle(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on), "SO_REUSEPORT");
  door.bind(at);
  door.listen(4096);
  port = door.local_endpoint().port();
  asio::co_spawn(context, accept_all(std::move(door)), asio::detached);
  return port;
}

}  // namespace

int main(int argc, char** argv) {
  const lab::net::orders orders = parse(argc, argv);
  std::vector<std::unique_ptr<asio::io_context>> contexts;
  unsigned port = 0;
  for (std::size_t i = 0; i < orders.workers; ++i) {
    contexts.push_back(std::make_unique<asio::io_context>(BOOST_ASIO_CONCURRENCY_HINT_UNSAFE));
    port = listen(*contexts.back(), port);
  }
  ready(port);
  std::vector<std::thread> threads;
  for (auto& context : contexts) threads.emplace_back([&context] { context->run(); });
  for (auto& thread : threads) thread.join();
}
