// A network in memory, for tests: connections and datagrams with latency, loss, little room, short reads and resets,
// all from a seed.
//
//   manual_clock time;
//   loop lp({.clock = &time});
//   memory_network net({.seed = 7, .clock = &time, .min_latency = 1ms, .max_latency = 40ms, .loss = 13});
//   auto door = net.listen("10.0.0.1:80").value();                    // a tcp::listener
//   auto peer = co_await or_return(net.connect("10.0.0.1:80"));       // a tcp::stream
//   auto socket = net.bind_datagrams("10.0.0.2:53").value();          // a udp::socket
//   lp.run();                                          // in no time: the clock moves to whatever comes next
//
// Operations, errors and cancellation are as on every socket: the test runs the code that runs on the system's sockets,
// down to the word of a direction. Only the system below is another one.
//
// Addresses. Each network has addresses of its own. Any host can be bound and reached; names of hosts and interfaces
// mean nothing. Port 0 is a free one. An address is free again when its last socket is closed.
//
// Connections. Bytes stay in order and are never lost. A connect is refused if nobody listens. If the queue of the
// listener is full, it is tried again as TCP does. make_pair() makes both ends at once, without addresses.
//
// Datagrams of one sender stay in order, unless `reorders` says otherwise. A connected socket hears connection_refused
// if nobody is bound to its peer's address. There is no broadcast.
//
// Options of sockets: set_reset_on_close() works. set_no_delay(), set_keep_alive() and the sizes of buffers make no
// difference. native_handle() is -1. What needs the kernel (descriptors that are passed, send_file(), credentials) fails with
// not_supported.
//
// Replay. On one loop with a manual clock a seed always gives one run. On a runtime, with the machine's clock, a
// network is for stress: which worker is first is not in the seed.
//
// With a clock of its own the network moves that clock, when its loop would sleep: to the next arrival, or the next
// timer. Only loops with that clock may wait for its sockets. A loop or thread that waits for a network cannot wait for
// descriptors of the system, too (not_supported).
//
// Thread safety: any thread. The network may end before its sockets, but not before a connect that is still to begin.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/detail/platform/owns_nothing.hpp>
#include <hocket/net/tcp.hpp>
#include <hocket/net/udp.hpp>
#include <memory>

namespace hocket { inline namespace HOCKET_ABI {

namespace detail {
class memory_core;
}  // namespace detail

// What a network does to bytes and datagrams. Chances are of 256.
struct memory_options {
  std::uint64_t seed = 1;
  manual_clock* clock = nullptr;  // null: the machine's
  duration min_latency{};      // of a write, a datagram, or one way of a connect
  duration max_latency{};
  std::size_t buffer_size = 65536;     // bytes on their way in one direction; then a write waits
  std::size_t datagrams = 256;  // on their way to one socket, or unread; further ones are lost
  unsigned short_reads = 0;     // a read gives some of what is there
  unsigned short_writes = 0;    // a write takes some of what there is room for
  unsigned idle_edges = 0;      // a reader is woken too early, and finds nothing
  unsigned late_edges = 0;      // a reader is woken only a second latency after its bytes are there
  unsigned resets = 0;          // a write resets its connection
  unsigned loss = 0;            // a datagram is lost
  unsigned duplicates = 0;      // a datagram arrives twice
  unsigned reorders = 0;        // a datagram takes two latencies, and others overtake it
};
static_assert(detail::owns_nothing<memory_options>);

// Two ends of one connection.
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

  // Errors: invalid_argument for a malformed address; address_in_use. Throws std::bad_alloc; so with the next ones.
  result<tcp::listener> listen(const socket_address& at, const tcp::listen_options& options = {});
  // As tcp::connect(). Errors: invalid_argument; connection_refused; not_enough_memory.
  auto connect(const socket_address& to, const tcp::connect_options& options = {},
               call_site at = this_call_site()) noexcept {
    return primitive::operation<detail::connect_operation<tcp::stream>>(std::in_place, at, opener(), to, options.local_address,
                                                                        options.no_delay);
  }

  // As udp::socket::bind() and udp::socket::connect().
  result<udp::socket> bind_datagrams(const socket_address& at, const udp::socket_options& options = {});
  result<udp::socket> connect_datagrams(const socket_address& to, const udp::socket_options& options = {});

  // The connection of that stream ends with connection_reset on both sides. What is on its way is lost.
  void reset(stream& one) noexcept;

 private:
  detail::socket_opener& opener() const noexcept;

  const std::shared_ptr<detail::memory_core> core_;
};

}}  // namespace hocket
