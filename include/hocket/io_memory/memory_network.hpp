// A network in memory, for tests: streams with latency, little room, short reads and resets, all from a seed.
//
//   manual_clock time;
//   loop lp({.time = &time});
//   memory_network net({.seed = 7, .time = &time, .least_latency = 1ms, .most_latency = 40ms, .short_reads = 128});
//   auto [client, server] = net.connect();
//   spawn(lp, serve, std::move(server));
//   auto answer = spawn(lp, ask, std::move(client));
//   lp.run();                                          // in no time: the clock moves to whatever comes next
//
// Operations, errors and cancellation are as on every stream: the test runs the code that runs on sockets, down to the
// word of a direction. Only the system below it is another one.
//
// Replay. On one loop with a manual clock a seed always gives one run. On a runtime, with the machine's clock, a
// network is for stress: which worker is first is not in the seed.
//
// With a clock of its own the network moves that clock, when its loop would sleep: to the next arrival, or the next
// timer. Only loops with that clock may wait for its streams. A loop or thread that waits for a network cannot wait for
// descriptors of the system, too (not_supported).
//
// Thread safety. connect(), reset(): any thread. The network may end before its streams.
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/io/stream.hpp>
#include <memory>

namespace hocket::inline HOCKET_ABI {

namespace detail {
class memory_core;
}  // namespace detail

// What a network does to bytes. Chances are of 256.
struct memory_options {
  std::uint64_t seed = 1;
  manual_clock* time = nullptr;  // null: the machine's
  duration least_latency{};      // of a write, to its arrival; bytes of one stream stay in order
  duration most_latency{};
  std::size_t room = 65536;   // bytes on their way in one direction; then a write waits
  unsigned short_reads = 0;   // a read gives some of what is there
  unsigned short_writes = 0;  // a write takes some of what there is room for
  unsigned idle_edges = 0;    // a write is told to its reader too early
  unsigned resets = 0;        // a write resets its connection
};

// Two ends of one connection.
struct memory_pair {
  stream first, second;
};

// A network in memory.
class memory_network {
 public:
  explicit memory_network(const memory_options& options = {});  // throws std::bad_alloc
  memory_network(const memory_network&) = delete;
  memory_network& operator=(const memory_network&) = delete;
  ~memory_network();

  // Throws std::bad_alloc.
  memory_pair connect();
  // The connection of that stream ends with connection_reset on both sides. What is on its way is lost.
  void reset(stream& one) noexcept;

 private:
  const std::shared_ptr<detail::memory_core> core_;
};

}  // namespace hocket::inline HOCKET_ABI
