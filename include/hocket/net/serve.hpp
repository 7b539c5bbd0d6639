// tcp::serve: a server with one listener for each worker, limits, and an orderly shutdown.
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
// The arguments are in the order of spawn: the runtime or loop, the address (or open listeners), options, the handler,
// and the handler's arguments behind the connection. A handler that returns a task runs as a task, any other handler as
// a fiber (include <hocket/fiber/spawn.hpp>).
//
// Handler and arguments. The server stores the handler and its arguments once, and all connections share them as const
// objects: no connection copies them, and on a runtime several workers read them at the same time. Pass std::ref for
// what a handler changes. A handler that takes an argument by value gets a copy of its own. They live until all
// connections have ended, so a lambda coroutine may use its captures.
//
// Listeners. On a runtime each worker has a listener of its own, and the listeners share the port: the system
// distributes the connections, and a connection begins at the worker that accepted it. On a loop, and at the path of a
// unix socket, there is one listener. Another server at the same address gets address_in_use, unless both have set
// listen_options::reuse_port. (With several workers the listeners have SO_REUSEPORT. So a program of the same user that
// sets it before its bind(2) can still join, and takes a part of the connections.) Open listeners are served as they
// are: tcp::serve(lp, net.listen("10.0.0.1:80").value(), echo) serves a network in memory
// (io_memory/memory_network.hpp). A loop that waits for a network in memory cannot wait for signals: end that server by
// graceful_shutdown().
//
// Last words. What a handler has written before it returns arrives, also if it has not read the whole request. If the
// stream is destroyed before a read has found its end, the server shuts down writing, reads and drops bytes until the
// peer closes, and closes then. It waits for at most 30 s and 256 KB, and for 2 s without progress of either side. Such
// a connection lingers: it still counts. close() closes at once, and a peer that still sends is reset; so does a stream
// that is destroyed while its coroutine is killed, after set_reset_on_close(true), or after the server has ended.
//
// Limits. At most `max_connections` connections are served at a time; further connections wait in the system's queue,
// and one at each listener. set_max_connections() changes the limit of a running server. With an `overload_reply`,
// peers over the limit do not wait: they get this text, and the end of the stream. By default all servers of the
// process together may have 80 % of the fds that a process may open (RLIMIT_NOFILE); the first server raises this limit
// to the hard limit, and processes that hocket starts get the old one back. Networks in memory have no default. If no
// fds are left, the server accepts connections and closes them at once, with a reserved fd, so that peers see an end. A
// log message reports this at most once a second. If there is no memory for a connection, it is closed without a
// handler.
//
// Idle connections. A connection is idle while it waits by read_idle(), or by wait_for_message() of a buffered_reader.
// If it waits so alone (in no select, in no group) and without a deadline of the wait, the wait
// returns the end of the stream after `max_idle` (within a 48th of that). If a new peer would leave less than a
// sixteenth of max_connections free, or nothing, the server *evicts* a connection: one that lingers, else the idle
// connection of this listener that has been idle for longest (within a 48th of max_idle), else one of another listener.
// Its wait returns the end of the stream, unless bytes have arrived: then the handler gets them, and the next such wait
// returns the end. If no connection is idle, the peer waits, or gets the overload_reply.
//
// Errors. If a handler returns an error or throws, the server counts the connection as failed, and calls on_error if
// there is one. A handler that ends by cancellation (operation_canceled, as an error or thrown `cancelled`) is counted
// as cancelled. If there is no memory for a connection, on_error gets not_enough_memory.
//
// Shutdown. graceful_shutdown() and run_until() refuse new connections (the system's queue is served as far as the
// limit allows, then the listeners are closed), end idle connections, drain, cancel and kill, each in its time, and
// return a report. The wait of an idle connection, also in a select or with a deadline, returns the end of the stream,
// at once or when the connection begins it. The server cannot recognize other idle reads: the cancel ends their
// connections, and those that linger. The report counts connections that linger like
// others. The destructor of a running server kills. On a runtime it waits for the end of all connections; on a loop it
// runs the loop until then. It is fatal if a coroutine destroys a running server: await graceful_shutdown() before.
//
// Cancellation. If the coroutine that awaits graceful_shutdown() is cancelled, the steps follow without waiting for
// their times.
//
// Thread safety. connections(), counts(): any thread. All other members: one thread at a time.
#pragma once
#include <hocket/base/seam/platform/unique_ptr.hpp>
#include <hocket/coro/spawn.hpp>
#include <hocket/net/detail/server_core.hpp>
#include <hocket/net/tcp.hpp>
#include <initializer_list>
#include <vector>

namespace hocket { inline namespace HOCKET_ABI { namespace tcp {

// A running server.
class server {
 public:
  explicit server(std::unique_ptr<detail::server_core> core) noexcept;
  server(server&&) noexcept;
  server& operator=(server&&) noexcept;
  ~server();

  // The address of the listeners. If port 0 was bound, it has the chosen port.
  const socket_address& local_address() const noexcept;
  std::size_t connections() const noexcept;
  server_counts counts() const noexcept;

  // Changes the limit of this server (serve_options::max_connections; 0 lets no connection begin). Present connections
  // continue, even if they exceed the new limit. A server without a limit of its own stays under the limit of the
  // process, too.
  void set_max_connections(std::size_t limit) noexcept;

  // Shuts the server down within the times of the options. Await it in a coroutine. Throws std::bad_alloc; then it may
  // be called again.
  task<shutdown_report> graceful_shutdown(shutdown_options options = {});

  // Waits until the process receives the signal, or one of the signals, and then shuts down. Call it on a plain thread.
  // On a loop it runs the loop. Throws the exceptions of signal_set. A signal from before the call is received by a set
  // that was made before.
  shutdown_report run_until(int signal, const shutdown_options& options = {}) { return run_until({signal}, options); }
  shutdown_report run_until(std::initializer_list<int> signals, const shutdown_options& options = {});
  shutdown_report run_until(signal_set& signals, const shutdown_options& options = {});

 private:
  std::unique_ptr<detail::server_core> core_;
};

// Starts a server on a runtime or a loop. `target` is an address, one listener or a std::vector of listeners. Each
// listener has an acceptor of its own, and on a runtime a worker of its own, if there are enough workers.
//
// Errors: invalid_argument for a malformed address, or no listener; the errors of tcp::listener::bind(), as
// address_in_use. Throws std::bad_alloc, and what moving the handler and the arguments throws. After an error, and
// after an exception, nothing is left open.
template <class Executor, class Handler, class... Args>
  requires(!std::is_same_v<std::remove_cvref_t<Handler>, serve_options> && (std::is_move_constructible_v<Args> && ...))
result<server> serve(Executor& executor, detail::listen_target target, const serve_options& options, Handler handler,
                     Args... args) {
  static_assert(
      std::is_invocable_v<const Handler&, stream, const Args&...>,
      "hocket: all connections of tcp::serve share one const handler, which is called with a tcp::stream by value, and "
      "one const copy of each further argument: no mutable lambda, and std::ref for what the handler changes");
  auto core =
      std::make_unique<detail::server_for<Handler, Args...>>(executor, options, std::move(handler), std::move(args)...);
  detail::server_core& opened = *core;
  server owner(std::move(core));  // if open() throws, its destructor ends the acceptors
  if (const std::error_code error = opened.open(std::move(target))) return failure(error);
  return owner;
}
template <class Executor, class Handler, class... Args>
  requires(!std::is_same_v<std::remove_cvref_t<Handler>, serve_options> && (std::is_move_constructible_v<Args> && ...))
result<server> serve(Executor& executor, detail::listen_target target, Handler handler, Args... args) {
  return serve(executor, std::move(target), serve_options{}, std::move(handler), std::move(args)...);
}
template <class Executor, class Handler, class... Args>
  requires(!(std::is_move_constructible_v<std::remove_cvref_t<Args>> && ...))
result<server> serve(Executor&, const detail::listen_target&, const Handler&, Args&&...) {
  static_assert((std::is_move_constructible_v<std::remove_cvref_t<Args>> && ...),
                "hocket: tcp::serve copies its arguments, and one of these cannot be copied: pass std::ref(x)");
  return failure(std::make_error_code(std::errc::invalid_argument));
}

}}}  // namespace hocket::tcp
