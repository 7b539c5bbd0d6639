// The options of a network in memory (memory_network.hpp).
//
//   memory_network net({.seed = 7, .min_latency = 1ms, .max_latency = 40ms, .loss = 13});
#pragma once
#include <hocket/base/clock.hpp>
#include <hocket/base/seam/platform/owns_nothing.hpp>
#include <cstddef>
#include <cstdint>

namespace hocket { inline namespace HOCKET_ABI {

// Options for memory_network. Chances, from `short_reads` on, are of 256.
struct memory_options {
  std::uint64_t seed = 1;
  manual_clock* clock = nullptr;  // null: the machine's clock
  duration min_latency{};         // of a write, a datagram, or one way of a connect
  duration max_latency{};
  std::size_t buffer_size = 65536;  // bytes in flight or unread in one direction; then a write waits
  std::size_t datagrams = 256;      // in flight to one socket, or unread; further datagrams are lost
  unsigned short_reads = 0;         // a read returns a part of the bytes that have arrived
  unsigned short_writes = 0;        // a write takes fewer bytes than fit
  unsigned idle_edges = 0;          // a reader wakes too early, and finds nothing
  unsigned late_edges = 0;          // a reader wakes a second latency after its bytes have arrived
  unsigned resets = 0;              // a write resets its connection
  unsigned loss = 0;                // a datagram is lost
  unsigned duplicates = 0;          // a datagram arrives twice
  unsigned reorders = 0;            // a datagram takes two latencies, and others overtake it
};
static_assert(detail::owns_nothing<memory_options>);

}}  // namespace hocket
