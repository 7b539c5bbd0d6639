// http::serve: an HTTP/1.1 server with routes, limits on by default, and an orderly shutdown.
//
//   http::response hello(http::request&) { return http::text("hello"); }
//   int main() {
//     runtime rt;
//     http::router routes;
//     routes.get("/hello", hello);
//     auto server = http::serve(rt, "[::]:8080", {}, std::move(routes)).value();
//     server.run_until(SIGTERM, {.drain = 10s});
//   }
//
// The server is a tcp::server (net/serve.hpp) for connections of HTTP. Listeners, limits of connections, errors of
// accept and the steps of a shutdown are described there. For routes and handlers see router.hpp.
//
// Connections. Requests of one connection are served one after the other, and answered in their order. Pipelined
// requests to plain functions are answered by one write. Before a handler that may suspend, all answers
// that are ready are sent.
//
// Coroutines. A request to plain functions that has arrived whole is served without a coroutine, on the worker of its
// connection, which stays the same. If a request has to wait, for its rest or for a handler that is a task or a fiber,
// a coroutine with the options serve_options::connection serves it, and those behind it that have arrived; other
// workers may steal it. spawn() without a target spawns into the scope of the server in both. An idle connection has
// neither a coroutine nor a buffer: it takes 160 bytes, and its descriptor 304.
//
// Malformed requests. The parser is strict (RFC 9112): a form that another server could read in another way is refused
// with 400. The requests before are answered first. Then the connection closes, and no byte behind the malformed
// request is parsed.
//
// Limits (serve_options.hpp). The limits of time count waits for the peer. limits::first_byte ends a connection at most
// a second late, limits::idle at most a 40th of the limit late. The rate of a body counts while the server,
// or a handler that reads, waits for bytes of the peer; the rate of an answer, while bytes wait to be sent. Each
// connection has a reserve for each of them, of limits::rate_grace at the begin. A wait for the peer uses it, and each
// byte restores 1/min_rate seconds. If the reserve is used up, the peer is too slow. A handler that computes or waits
// for something else uses nothing.
//
//   - Bodies. The reserve is at most rate_grace. So a peer is given up after rate_grace of silence, and never if it
//     sends rate_grace * min_rate bytes in every period of rate_grace.
//   - Answers. A byte counts when the peer's system has taken it. The reserve grows up to 6 * rate_grace, a minute by
//     default. So a peer is given up after rate_grace if it takes nothing, and after at most a minute of silence if it
//     has taken 50 KB (5 * rate_grace * min_rate); the server looks once a second. Then the connection is reset (TCP),
//     because the system would hold the bytes that the peer does not take. So it is if a deadline of the handler
//     passes while a write waits.
//
// A system takes bytes in jumps: when its receive buffer is full, it takes none until the program has read a large part
// of it, 64 KB to megabytes. If a program needs longer than the reserve for this part, it is given up, although it
// reads: the server sees no difference. For programs as slow as this make rate_grace longer.
//
// Turns. If a peer sends or takes bytes without a pause, its connection lets others run after some 256 KB.
//
// Bodies that are read whole take at most limits::max_bodies at a time. Further ones wait unread, in FIFO order, and
// their peers are not too slow meanwhile.
//
// Handlers and peers. If the peer of a connection is gone while a handler runs as a task or a fiber, or while a
// function writes a body, the handler is cancelled, and its answer is dropped. A plain function is not interrupted. The
// peer is gone when it has reset the connection, or when a write has failed. TCP tells the end of the
// peer's stream only: until the server writes, a closed socket looks like a socket that still reads. So the end of the
// stream cancels nothing, except with serve_options::cancel_when_half_closed, and except for the function of an
// event_stream(): its clients do not shut down writing alone.
//
// Shutdown. While the server drains, each answer says `Connection: close`. A request of which a byte has arrived is
// answered, then its connection closes. Idle connections end at once.
//
// Errors of handlers become answers (router.hpp). If a connection fails for another reason, for instance without
// memory, on_error is called.
//
// Thread safety. As tcp::server.
#pragma once
#include <hocket/base/seam/platform/unique_ptr.hpp>
#include <hocket/http/router.hpp>
#include <hocket/http/serve_options.hpp>
#include <hocket/net/serve.hpp>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace http {

// Where a server listens. The constructors convert what http::serve() takes: one address or several, one open listener
// or several. A path of a unix socket is an address.
struct serve_target {
  template <class Address>
    requires std::is_convertible_v<const Address&, socket_address>
  serve_target(const Address& address) {
    addresses.push_back(address);
  }
  serve_target(std::initializer_list<std::string_view> several) { addresses.assign(several.begin(), several.end()); }
  serve_target(std::vector<socket_address> several) noexcept : addresses(std::move(several)) {}
  serve_target(tcp::listener listener) { listeners.push_back(std::move(listener)); }
  serve_target(std::vector<tcp::listener> several) noexcept : listeners(std::move(several)) {}

  std::vector<socket_address> addresses;
  std::vector<tcp::listener> listeners;  // which are open already
};

namespace detail {
class server_state;
}  // namespace detail

// A running server.
class server {
 public:
  explicit server(std::unique_ptr<detail::server_state> state) noexcept;
  server(server&&) noexcept;
  server& operator=(server&&) noexcept;
  // Kills the connections of a running server, as tcp::server does.
  ~server();

  // The address of the listeners; of several addresses the first.
  const socket_address& local_address() const noexcept;
  std::vector<socket_address> local_addresses() const;
  // Of all addresses together.
  std::size_t connections() const noexcept;
  tcp::server_counts counts() const noexcept;
  request_counts requests() const noexcept;
  // At each address (tcp::server::set_max_connections()).
  void set_max_connections(std::size_t limit) noexcept;

  // As the functions of tcp::server. The report is the sum over all addresses, which are shut down at the same time.
  task<shutdown_report> graceful_shutdown(shutdown_options options = {});
  shutdown_report run_until(int signal, const shutdown_options& options = {}) { return run_until({signal}, options); }
  shutdown_report run_until(std::initializer_list<int> signals, const shutdown_options& options = {});
  shutdown_report run_until(signal_set& signals, const shutdown_options& options = {});

 private:
  std::unique_ptr<detail::server_state> state_;
};

// Starts a server on a runtime or a loop. The router does not change from then on.
//
// Errors: invalid_argument for a malformed address, no address, or malformed trusted proxies; the errors of
// tcp::serve(). Throws std::bad_alloc. After an error, and after an exception, nothing is left open.
result<server> serve(runtime& executor, serve_target target, const serve_options& options, router routes);
result<server> serve(loop& executor, serve_target target, const serve_options& options, router routes);
inline result<server> serve(runtime& executor, serve_target target, router routes) {
  return serve(executor, std::move(target), serve_options{}, std::move(routes));
}
inline result<server> serve(loop& executor, serve_target target, router routes) {
  return serve(executor, std::move(target), serve_options{}, std::move(routes));
}

}}}  // namespace hocket::http
