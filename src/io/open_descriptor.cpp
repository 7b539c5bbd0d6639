#include <hocket/base/fatal.hpp>
#include <hocket/io/seam/open_descriptor.hpp>

#include <array>
#include <cerrno>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

bool open_descriptor::enter_fd() noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange verifies it.
  std::uint32_t expected = directions_.load(std::memory_order_relaxed);
  while (expected != 0 && !is_closed()) {
    // ORDER: relaxed, pairs with nothing: the fd is closed after the count is zero.
    if (directions_.compare_exchange_weak(expected, expected + 1, std::memory_order_relaxed, std::memory_order_relaxed))
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

// While the descriptor is in use, no other descriptor takes its place.
void open_descriptor::end_when_idle(std::uint64_t family) noexcept {
  // ORDER: relaxed, pairs with nothing: a hint, read again below.
  if (family_.load(std::memory_order_relaxed) != family || !try_use()) return;
  // ORDER: relaxed, ordered by the acquire in try_use().
  if (family_.load(std::memory_order_relaxed) == family) {
    // ORDER: relaxed, ordered by the edge: see ends_when_idle().
    idle_end_.store(idle_end::drained, std::memory_order_relaxed);
    notify_edge(in);
    drains.end_all(mutex_, 0);
  }
  drop();
}

void open_descriptor::evict(std::uint32_t generation, std::uint32_t since) noexcept {
  if (!try_use()) return;
  if (this->generation() == generation && idle_since() == since) {
    idle_end none = idle_end::none;
    // ORDER: relaxed, ordered by the edge: see ends_when_idle(). A drain stays a drain.
    idle_end_.compare_exchange_strong(none, idle_end::evicted, std::memory_order_relaxed, std::memory_order_relaxed);
    notify_edge(in);
  }
  drop();
}

// Not of a descriptor that has come in its place.
void open_descriptor::expect_short_reads() noexcept {
  descriptor_kind expected = descriptor_kind::stream;
  // ORDER: relaxed, pairs with the load in kind(): see there.
  kind_.compare_exchange_strong(expected, descriptor_kind::socket, std::memory_order_relaxed,
                                std::memory_order_relaxed);
}

int open_descriptor::put_on_top(backend& top, backend*& below) noexcept {
  const std::array<direction*, 3> all{&in, &out, &peer};
  std::size_t held = 0;
  while (held < all.size() && all[held]->try_hold()) ++held;
  const bool is_free = held == all.size();
  if (is_free) below = std::exchange(backend_, &top);
  while (held != 0) all[--held]->release_hold();
  if (is_free) return 0;
  return is_closed() ? EBADF : EBUSY;
}

// At check level `debug`.
call_end open_descriptor::carry_out_checked(transfer& operation) noexcept {
  const char* const name = backend_->name();
  expects(operation.ended == 0, "a transfer was carried out again after its end", "a backend ends a transfer once",
          name);
  const call_end end = backend_->carry_out(*this, operation);
  expects(operation.ended == 0 || end >= call_end::done,
          "a backend has ended a transfer, and answers that the transfer goes on",
          "answer done or drained for a transfer that has ended", name);
  return end;
}

}}}  // namespace hocket::detail
