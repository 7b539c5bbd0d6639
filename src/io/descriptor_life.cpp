// The life of an open descriptor: its place in the table, its uses, its end.
#include <hocket/core/wait/seam/strand_state.hpp>
#include <hocket/io/seam/descriptor_family.hpp>
#include <hocket/io/seam/descriptor_table.hpp>

#include <array>
#include <cerrno>
#include <sys/socket.h>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

void open_descriptor::open(backend& system, int fd, descriptor_kind kind, void* data) noexcept {
  backend_ = &system;
  fd_ = fd;
  data_ = data;
  // ORDER: relaxed, pairs with nothing: no other thread uses the descriptor yet.
  kind_.store(kind, std::memory_order_relaxed);
  released_ = false;
  peer_name_.clear();
  // ORDER: relaxed, pairs with nothing: no other thread uses the descriptor yet.
  shut_down_.store(0, std::memory_order_relaxed);
  // ORDER: relaxed, pairs with nothing: no other thread uses the descriptor yet.
  closed_.store(false, std::memory_order_relaxed);
  // ORDER: relaxed, pairs with nothing: no other thread uses the descriptor yet.
  directions_.store(3, std::memory_order_relaxed);
  // ORDER: relaxed, as above.
  family_.store(0, std::memory_order_relaxed);
  // ORDER: relaxed, as above.
  idle_end_.store(idle_end::none, std::memory_order_relaxed);
  set_idle_since(0);
  // ORDER: relaxed, as above.
  stream_end_.store(stream_end::open, std::memory_order_relaxed);
  // ORDER: release, pairs with the exchange in try_use(): what was written above is visible.
  uses_.store(2, std::memory_order_release);
  in.reopen();
  out.reopen();
  peer.reopen();
}

void open_descriptor::close() noexcept {
  leave_parent();
  // ORDER: relaxed, pairs with nothing: the owner has a use, too.
  uses_.fetch_add(1, std::memory_order_relaxed);  // a woken coroutine may give the descriptor up
  // ORDER: relaxed, pairs with the load in is_closed(): a look.
  closed_.store(true, std::memory_order_relaxed);
  in.close();
  out.close();
  peer.close();
  drains.end_all(mutex_, ECANCELED);
  drop();
}

void open_descriptor::end() noexcept {
  // If the party that closes the last direction misses the note, it closes the fd at once.
  if (family() != 0 && may_linger())
    record_end(recorded_end() == stream_end::idle ? stream_end::idle_lingers : stream_end::open_lingers);
  close();
  drop();
}

// A kill takes everything: no time is left for last words.
bool open_descriptor::may_linger() const noexcept {
  if (is_closed() || recorded_end() == stream_end::read) return false;
  if (!descriptor_family::is_of_this_process(family())) return false;
  const strand_state* const running = current_context().coroutine();
  return !running || !running->killed();
}

// False: the fd is to be closed now. If the server has ended the stream while it was idle, nothing was unread; then
// nothing is lost if the written bytes have arrived.
bool open_descriptor::begin_lingering() noexcept {
  if (recorded_end() == stream_end::idle_lingers && backend_->unsent(*this) == 0) return false;
  return backend_->shut_down(*this, SHUT_WR) == 0 && descriptor_family::hand_over(*this, family());
}

void open_descriptor::end_lingering() noexcept {
  backend_->close(*this);
  drop();
}

bool open_descriptor::has_drain_waits() noexcept {
  locked guard(mutex_);
  return drains.first() != nullptr;
}

bool open_descriptor::release() noexcept {
  if (is_closed() || has_drain_waits()) return false;
  leave_parent();
  const std::array<direction*, 3> sides{&in, &out, &peer};
  for (std::size_t taken = 0; taken < sides.size(); ++taken) {
    if (sides[taken]->try_hold()) continue;
    while (taken > 0) sides[--taken]->release_hold();
    return false;
  }
  released_ = true;
  close();
  for (direction* side : sides) side->release_hold();
  return true;
}

void open_descriptor::direction_closed() noexcept {
  // ORDER: acq_rel, pairs with itself: the last one closes the fd after all calls.
  if (directions_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  {
    locked guard(mutex_);
    drop_all();
  }
  if (lingers() && begin_lingering()) return;
  if (!released_) backend_->close(*this);
  drop();
}

bool open_descriptor::try_use() noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange verifies it.
  std::uint32_t expected = uses_.load(std::memory_order_relaxed);
  while (expected != 0) {
    // ORDER: acquire, pairs with the store in open(): what it belongs to is that of this use.
    if (uses_.compare_exchange_weak(expected, expected + 1, std::memory_order_acquire, std::memory_order_relaxed))
      return true;
  }
  return false;
}

void open_descriptor::drop() noexcept {
  // ORDER: acq_rel, pairs with itself: the next user comes after both.
  if (uses_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // ORDER: relaxed, pairs with nothing: see generation().
  generation_.fetch_add(1, std::memory_order_relaxed);
  descriptor_table::give_back(*this);
}

}}}  // namespace hocket::detail
