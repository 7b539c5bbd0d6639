// Tasks, fibers and workers that wait at a network in memory: kinds for the suites of io. On loops the clock is moved
// by the network, so a test takes no time.
#pragma once
#include <hocket/io_memory/memory_network.hpp>

#include "suites/net_kinds.hpp"

namespace hocket_test {

struct memory_wires {
  hocket::manual_clock clock{hocket::time_point(std::chrono::hours(1))};
  hocket::memory_network net;

  explicit memory_wires(const hocket::memory_options& options) : net(options) {}
  stream_pair connected(int = 0) {
    auto [first, second] = net.make_pair();
    return {std::move(first), std::move(second)};
  }
  stream_pair piped() { return connected(); }
};

inline hocket::result<hocket::tcp::listener> listen(memory_wires& at, const hocket::socket_address& address,
                                                    const hocket::tcp::listen_options& options = {}) {
  return at.net.listen(address, options);
}
inline auto connect(memory_wires& at, const hocket::socket_address& to) { return at.net.connect(to); }
inline hocket::result<hocket::udp::socket> bind_datagrams(memory_wires& at, const hocket::socket_address& address) {
  return at.net.bind_datagrams(address);
}
inline hocket::result<hocket::udp::socket> connect_datagrams(memory_wires& at, const hocket::socket_address& to) {
  return at.net.connect_datagrams(to);
}

// Everything that a network may do to bytes and wake-ups. Nothing is reset or lost.
inline hocket::memory_options unkind(std::uint64_t seed) {
  return {.seed = seed,
          .max_latency = std::chrono::microseconds(100),
          .buffer_size = 4096,
          .short_reads = 64,
          .short_writes = 64,
          .idle_edges = 64,
          .late_edges = 64};
}

template <std::uint64_t Seed>
struct moved_wires : memory_wires {
  moved_wires() : memory_wires(with_clock()) {}

 private:
  hocket::memory_options with_clock() {
    hocket::memory_options options = Seed == 0 ? hocket::memory_options{} : unkind(Seed);
    options.clock = &clock;
    return options;
  }
};

template <std::uint64_t Seed>
struct memory_loop {
  using wires = moved_wires<Seed>;
  static constexpr bool migratable = false;
  explicit memory_loop(wires& net) : where({.clock = &net.clock}) {}
  void wait_for(hocket::join_handle<>& handle) { where.run_until(handle); }
  hocket::loop where;
};

struct still_wires : memory_wires {
  still_wires() : memory_wires(unkind(3)) {}
};

template <std::size_t Workers, bool Migratable = false>
struct memory_runtime : io_runtime<Workers, Migratable> {
  using wires = still_wires;
  explicit memory_runtime(wires&) {}
};

using memory_tasks = of_tasks<io_world<memory_loop<0>>>;
using memory_fibers = of_fibers<io_world<memory_loop<1>>>;
using memory_unkind_tasks = of_tasks<io_world<memory_loop<2>>>;
using memory_workers_tasks = of_tasks<io_world<memory_runtime<4>>>;
using memory_migrants = of_fibers<io_world<memory_runtime<2, true>>>;

}  // namespace hocket_test
