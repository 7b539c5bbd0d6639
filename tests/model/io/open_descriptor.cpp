#include <hocket/io/seam/open_descriptor.hpp>
#include <hocket/io/seam/transfer_operation.hpp>

#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

// A call takes one byte; a whole transfer notes which. The load may be stale, as a call may be that is not ordered
// after the edge.
call_end open_descriptor::carry_out(transfer& operation) noexcept {
  calls_ = calls_ + 1;
  model::require(closed_.load(std::memory_order_relaxed) == 0, "a call was made after the end");
  if (bytes_.load(std::memory_order_relaxed) == 0) return call_end::blocks;
  const std::uint32_t remaining = bytes_.fetch_sub(1, std::memory_order_relaxed) - 1;
  if (operation.whole != 0) static_cast<int*>(operation.data)[operation.done] = taken_;
  taken_ = taken_ + 1;
  operation.ended = ++operation.done == operation.size;
  if (operation.ended == 0) return remaining == 0 ? call_end::blocks : call_end::more;
  return remaining == 0 ? call_end::drained : call_end::done;
}

void open_descriptor::peer_writes() noexcept {
  bytes_.fetch_add(1, std::memory_order_relaxed);
  edges_.fetch_add(1, std::memory_order_release);
  notify_driver();
}

void open_descriptor::tells_of_nothing() noexcept {
  edges_.fetch_add(1, std::memory_order_release);
  notify_driver();
}

void open_descriptor::notify_driver() noexcept {
  news_.fetch_add(1, std::memory_order_release);
  futex_wake_all(news_);
}

bool open_descriptor::hand_over(primitive::waiter& entry) noexcept {
  auto& operation = *static_cast<transfer*>(entry.resource);
  operation.pending = &entry;
  {
    const primitive::locked guard(pending_mutex_);
    operation.next = pending_.load(std::memory_order_relaxed);
    pending_.store(&operation, std::memory_order_relaxed);
  }
  notify_driver();
  return true;
}

void open_descriptor::poll() noexcept {
  transfer* next = nullptr;
  if (pending_.load(std::memory_order_relaxed)) {
    const primitive::locked guard(pending_mutex_);
    next = pending_.load(std::memory_order_relaxed);
    pending_.store(nullptr, std::memory_order_relaxed);
  }
  while (next) {
    transfer& operation = *std::exchange(next, next->next);
    serve_waiter(*operation.pending);
  }
  if (edges_.load(std::memory_order_relaxed) == 0 || edges_.exchange(0, std::memory_order_acquire) == 0) return;
  if (primitive::waiter* const entry = in.edge()) serve_waiter(*entry);
}

void open_descriptor::tells_late() noexcept {
  if (primitive::waiter* const entry = in.edge()) serve_waiter(*entry);
}

// As descriptor_table and open() do it, in that order.
void open_descriptor::is_used_again() noexcept {
  generation_.fetch_add(1, std::memory_order_relaxed);
  closed_.store(0, std::memory_order_relaxed);
  in.reopen();
}

void open_descriptor::serve_waiter(primitive::waiter& entry) noexcept {
  if (primitive::waiter* const later = in.serve(entry)) hand_over(*later);
}

void open_descriptor::direction_closed() noexcept {
  model::require(closed_.exchange(1, std::memory_order_acq_rel) == 0, "closed twice");
}

bool open_descriptor::try_use() noexcept {
  std::uint32_t expected = uses_.load(std::memory_order_relaxed);
  while (expected != 0) {
    if (uses_.compare_exchange_weak(expected, expected + 1, std::memory_order_acquire, std::memory_order_relaxed))
      return true;
  }
  return false;
}

// The last use: the next descriptor takes the place, as open() does it.
void open_descriptor::drop() noexcept {
  if (uses_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  generation_.fetch_add(1, std::memory_order_relaxed);
  ended_.store(0, std::memory_order_relaxed);
  drained_.store(0, std::memory_order_relaxed);
  uses_.store(1, std::memory_order_release);
  is_new_.store(1, std::memory_order_release);
}

void open_descriptor::drain() noexcept {
  const std::uint32_t drained_generation = generation();
  if (!try_use()) return;
  if (generation() == drained_generation) {
    drained_.store(1, std::memory_order_relaxed);
    drains.end_all(mutex_, 0);
  }
  drop();
}

void open_descriptor::close_drains() noexcept {
  ended_.store(1, std::memory_order_relaxed);
  drains.end_all(mutex_, static_cast<int>(std::errc::operation_canceled));
  drop();
}

transfer::transfer(direction& owner, call_kind which, void* bytes, std::size_t count, bool all) noexcept
    : side(&owner), data(bytes), size(count), generation(owner.record().generation()), kind(which), whole(all) {}

failure failure_of_transfer(int error) noexcept { return failure(static_cast<std::errc>(error)); }
failure failure_of_transfer(const transfer& ended) noexcept { return failure_of_transfer(ended.error); }
bool try_empty(transfer&) noexcept { return true; }

}}}  // namespace hocket::detail
