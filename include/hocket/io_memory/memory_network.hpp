// A network in memory, for tests: connections and datagrams with latency, loss, small buffers, short reads and resets,
// all from a seed.
//
//   manual_clock clock;
//   loop lp({.clock = &clock});
//   memory_network net({.seed = 7, .clock = &clock, .min_latency = 1ms, .max_latency = 40ms, .loss = 13});
//   auto listener = net.listen("10.0.0.1:80").value();                // a tcp::listener
//   auto peer = co_await or_return(net.connect("10.0.0.1:80"));       // a tcp::stream
//   auto socket = net.bind_datagrams("10.0.0.2:53").value();          // a udp::socket
//   lp.run();                                          // takes no time: the clock moves to the next event
//
// Operations, errors and cancellation are as on every socket: the test runs the code of the system's sockets, down to
// the state word of a direction. Only the system below is replaced.
//
// Addresses. Each network has addresses of its own. Any host can be bound and reached; names of hosts and interfaces
// have no meaning. Port 0 is a free port. An address is free again when its last socket is closed.
//
// Connections. Bytes stay in order and are never lost. A connect without a listener is refused. If the queue of the
// listener is full, the connect tries again as TCP does. make_pair() makes both ends at once, without addresses.
//
// Datagrams of one sender stay in order, unless `reorders` is set. If no socket is bound to the peer's address, a
// connected socket gets connection_refused. There is no broadcast.
//
// Limits. set_reset_on_close() works. set_no_delay(), set_keep_alive() and the sizes of buffers have no effect.
// native_handle() is -1. Operations that need the kernel (passed fds, send_file(), credentials) fail with
// not_supported.
//
// Replay. On one loop with a manual clock a seed always gives one run. On a runtime, with the machine's clock, a
// network is for stress: the seed does not determine the order of workers.
//
// Clock. A network with a clock of its own moves that clock when its loop would sleep: to the next arrival, or the next
// timer. Only loops with that clock may wait for its sockets. A loop or thread that waits for a network cannot also
// wait for descriptors of the system (not_supported).
//
// Thread safety: any thread. The network may be destroyed before its sockets, but not before a connect that has not
// begun.
#pragma once
#include <hocket/io_memory/detail/memory_options.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>
#include <memory>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
class memory_core;
}  // namespace detail

// The two ends of a connection.
struct memory_pair {
  tcp::stream first, second;
};

// A network in memory.
class memory_network {
 public:
  explicit memory_network(const memory_options& options = {});  // throws std::bad_alloc
  memory_network(const memory_network&) = delete;
  memory_network& operator=(const memory_network&) = delete;
  ~memory_network();

  // Throws std::bad_alloc.
  memory_pair make_pair();

  // Errors: invalid_argument for a malformed address; address_in_use. Throws std::bad_alloc.
  result<tcp::listener> listen(const socket_address& address, const tcp::listen_options& options = {});
  // As tcp::connect(). Errors: invalid_argument; connection_refused; not_enough_memory.
  auto connect(const socket_address& address, const tcp::connect_options& options = {},
               call_site site = this_call_site()) noexcept {
    return primitive::operation<detail::connect_operation<tcp::stream>>(std::in_place, site, opener(), address,
                                                                        options.local_address, options.no_delay);
  }

  // As udp::socket::bind() and udp::socket::connect(). Throw std::bad_alloc.
  result<udp::socket> bind_datagrams(const socket_address& address, const udp::socket_options& options = {});
  result<udp::socket> connect_datagrams(const socket_address& address, const udp::connect_options& options = {});

  // Ends the stream's connection with connection_reset on both sides. Bytes in flight are lost.
  void reset(stream& end) noexcept;

 private:
  detail::socket_opener& opener() const noexcept;

  const std::shared_ptr<detail::memory_core> core_;
};

}}  // namespace hocket
