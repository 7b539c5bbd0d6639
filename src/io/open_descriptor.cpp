#include <hocket/io/seam/open_descriptor.hpp>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool open_descriptor::enter_fd() noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange verifies it.
  std::uint32_t seen = directions_.load(std::memory_order_relaxed);
  while (seen != 0 && !is_closed()) {
    // ORDER: relaxed, pairs with nothing: the fd is closed after the count is zero.
    if (directions_.compare_exchange_weak(seen, seen + 1, std::memory_order_relaxed, std::memory_order_relaxed))
      return true;
  }
  return false;
}

// A write that is refused behind a partial write leaves the count of that one. The use keeps other descriptors out of
// this place.
void open_descriptor::save_count(const transfer& failed) noexcept {
  if (!failed.moves_bytes() || failed.error == transfer::partial_write || !try_use()) return;
  if (failed.generation == generation()) (failed.writes() ? peer : in).set_count(failed.done);
  drop();
}

// While it is used, no other descriptor comes in its place.
void open_descriptor::end_when_idle(std::uint64_t family) noexcept {
  // ORDER: relaxed, pairs with nothing: looked at again below.
  if (family_.load(std::memory_order_relaxed) != family || !try_use()) return;
  // ORDER: relaxed, ordered by the acquire in try_use().
  if (family_.load(std::memory_order_relaxed) == family) {
    // ORDER: relaxed, ordered by the edge: see ends_when_idle().
    ends_when_idle_.store(true, std::memory_order_relaxed);
    notify_edge(in);
    notify_edge(peer);
  }
  drop();
}

call_end open_descriptor::carry_out_drain(transfer& operation) const noexcept {
  if (!ends_when_idle()) return call_end::blocks;
  operation.ended = true;
  return call_end::done;
}

// Not of a descriptor that has come in its place.
void open_descriptor::expect_short_reads() noexcept {
  descriptor_kind seen = descriptor_kind::stream;
  // ORDER: relaxed, pairs with the load in kind(): see there.
  kind_.compare_exchange_strong(seen, descriptor_kind::socket, std::memory_order_relaxed, std::memory_order_relaxed);
}

}}}  // namespace hocket::detail
