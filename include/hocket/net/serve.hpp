// tcp::serve: a server that has one listener for each worker, limits, and an end in order.
//
//   task<result<void>> echo(tcp::stream peer) {
//     std::array<char, 512> buffer;
//     while (std::size_t n = co_await or_return(within(30s, peer.read_some(buffer))))
//       co_await or_return(peer.write_all(std::span(buffer.data(), n)));
//     co_return {};
//   }
//   int main() {
//     runtime rt;
//     auto server = tcp::serve(rt, "[::]:7000", echo).value();
//     server.run_until(SIGTERM, {.drain = 10s});
//   }
//
// The arguments come in the order of spawn: where, the address (or open listeners), options, the handler, and what the
// handler is called with behind the connection. All of these are copied for each connection: std::ref shows what is
// shared. A handler that returns a task runs as a task, any other as a fiber (include <hocket/fiber/spawn.hpp>).
//
// Listeners. On a runtime each worker has a listener of its own, with SO_REUSEPORT: the system deals the connections,
// and a connection begins at the worker that accepted it. On a loop there is one.
// Listeners that are given are served as they are: tcp::serve(lp, net.listen("10.0.0.1:80").value(), echo) serves a
// network in memory (io_memory/memory_network.hpp). A loop that waits for such a network cannot wait for signals: end
// that server by shutdown().
//
// Limits. With `max_connections` as many at most are served at a time; further ones wait in the system's queue, and
// one at each listener. If there are no descriptors left, connections are accepted and closed at once, by a descriptor
// that is kept for that, so that peers see an end; a notice tells of it once a second.
//
// Errors. A handler may return a result, or throw: on_error hears of it, else it is counted.
//
// The end. shutdown(), run_until(): refuse (what waits in the system's queue is served, as far as the limit allows,
// then the listeners are closed), end what is idle, drain, cancel, kill, each in its time, and a report. A connection
// is idle if it waits by read_idle(), or by the wait_for_message() of a buffered_reader: it reads the end of the
// stream, now or when it comes to that. The server cannot tell for other reads. Their connections end by the cancel.
// The destructor of a server that runs kills; on a runtime it waits for the end of all connections, and on a loop it
// runs the loop for that.
//
// If the coroutine that awaits shutdown() is cancelled, the steps follow without waiting for their times.
//
// Thread safety. connections(), counts(): any thread. The rest: one thread at a time.
#pragma once
#include <hocket/coro/spawn.hpp>
#include <hocket/net/detail/server_core.hpp>
#include <hocket/net/tcp.hpp>
#include <initializer_list>
#include <memory>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace tcp {

class server {
 public:
  explicit server(std::unique_ptr<detail::server_core> core) noexcept;
  server(server&&) noexcept;
  server& operator=(server&&) noexcept;
  ~server();

  // Of the listeners; the port that was chosen, if it was to be any.
  const socket_address& local_address() const noexcept;
  std::size_t connections() const noexcept;
  server_counts counts() const noexcept;

  // By a coroutine. Ends the server in order, in the times that the options say.
  task<shutdown_report> shutdown(shutdown_options options = {});

  // By a plain thread. Until the process gets the signal, or one of the signals; then shutdown(). On a loop it runs the
  // loop. Throws what signal_set does.
  shutdown_report run_until(int signal, const shutdown_options& options = {}) { return run_until({signal}, options); }
  shutdown_report run_until(std::initializer_list<int> signals, const shutdown_options& options = {});

 private:
  std::unique_ptr<detail::server_core> core_;
};

// `target`: an address, one listener or a std::vector of them. Each listener has an acceptor of its own, and on a
// runtime a worker of its own, if there are enough workers.
//
// Errors: invalid_argument for a malformed address, or no listener; the errors of tcp::listener::bind(), as
// address_in_use.
template <class Where, class Handler, class... Args>
  requires(!std::is_same_v<std::remove_cvref_t<Handler>, serve_options>)
result<server> serve(Where& where, detail::listen_target target, const serve_options& options, Handler handler, Args... args) {
  static_assert(
      std::is_invocable_v<Handler&, stream, Args&...>,
      "hocket: the handler of tcp::serve is called with a tcp::stream by value, and with copies of the further "
      "arguments: pass std::ref for what it takes by reference");
  auto core =
      std::make_unique<detail::server_of<Handler, Args...>>(where, options, std::move(handler), std::move(args)...);
  detail::server_core& opens = *core;
  server made(std::move(core));  // which ends what was begun, if opening throws
  if (const std::error_code error = opens.open(std::move(target))) return failure(error);
  return made;
}
template <class Where, class Handler, class... Args>
  requires(!std::is_same_v<std::remove_cvref_t<Handler>, serve_options>)
result<server> serve(Where& where, detail::listen_target target, Handler handler, Args... args) {
  return serve(where, std::move(target), serve_options{}, std::move(handler), std::move(args)...);
}

}}}  // namespace hocket::tcp
