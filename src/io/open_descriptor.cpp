#include <hocket/base/detail/forks.hpp>
#include <hocket/core/thread/detail/current.hpp>
#include <hocket/core/wait/detail/strand_state.hpp>
#include <hocket/io/detail/descriptor_family.hpp>
#include <hocket/io/detail/descriptor_table.hpp>
#include <hocket/io/detail/io_driver.hpp>
#include <hocket/io/detail/open_descriptor.hpp>

#include "io/place.hpp"

#include <array>
#include <cerrno>
#include <new>
#include <sys/socket.h>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

void open_descriptor::open(backend& of, int fd, descriptor_kind kind, void* data) noexcept {
  backend_ = &of;
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
  ends_when_idle_.store(false, std::memory_order_relaxed);
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

bool open_descriptor::release() noexcept {
  if (is_closed()) return false;
  leave_parent();
  const std::array<direction*, 3> sides{&in, &out, &peer};
  for (std::size_t taken = 0; taken < sides.size(); ++taken) {
    if (sides[taken]->try_hold()) continue;
    while (taken > 0) sides[--taken]->let_go();
    return false;
  }
  released_ = true;
  close();
  for (direction* one : sides) one->let_go();
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
    tell_edge(in);
    tell_edge(peer);
  }
  drop();
}

call_end open_descriptor::carry_out_drain(transfer& operation) const noexcept {
  if (!ends_when_idle()) return call_end::blocks;
  operation.ended = true;
  return call_end::done;
}

// False: it is not in use.
bool open_descriptor::try_use() noexcept {
  // ORDER: relaxed, pairs with nothing: the exchange verifies it.
  std::uint32_t seen = uses_.load(std::memory_order_relaxed);
  while (seen != 0) {
    // ORDER: acquire, pairs with the store in open(): what it belongs to is that of this use.
    if (uses_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire, std::memory_order_relaxed)) return true;
  }
  return false;
}

// Not of a descriptor that has come in its place.
void open_descriptor::expect_short_reads() noexcept {
  descriptor_kind seen = descriptor_kind::stream;
  // ORDER: relaxed, pairs with the load in kind(): see there.
  kind_.compare_exchange_strong(seen, descriptor_kind::socket, std::memory_order_relaxed, std::memory_order_relaxed);
}

void open_descriptor::drop() noexcept {
  // ORDER: acq_rel, pairs with itself: the next user comes after both.
  if (uses_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  // ORDER: relaxed, pairs with nothing: see generation().
  generation_.fetch_add(1, std::memory_order_relaxed);
  descriptor_table::give_back(*this);
}

int open_descriptor::put_on_top(backend& top, backend*& below) noexcept {
  const std::array<direction*, 3> all{&in, &out, &peer};
  std::size_t held = 0;
  while (held < all.size() && all[held]->try_hold()) ++held;
  const bool is_free = held == all.size();
  if (is_free) below = std::exchange(backend_, &top);
  while (held != 0) all[--held]->let_go();
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

// --- who watches it

int open_descriptor::attach_here() noexcept { return is_attached() ? 0 : attach_to_driver(); }

bool open_descriptor::is_attached() noexcept {
  const void* const group = current_group();
  if (!group) return false;
  // ORDER: relaxed, ordered after direction::list() by its acquire: see leave_unused().
  if (group_.load(std::memory_order_relaxed) == group &&
      // ORDER: relaxed, pairs with nothing: another process has other values.
      forks_.load(std::memory_order_relaxed) == forks_so_far()) [[likely]]
    return true;
  locked guard(mutex_);
  return find(group) != nullptr;
}

[[HOCKET_NOINLINE]] int open_descriptor::attach_to_driver() noexcept {
  const result<io_driver*> here = backend_->driver_here();
  if (!here) return here.error().value();
  int error = 0;
  {
    locked guard(mutex_);
    // ORDER: relaxed, pairs with nothing: the last one that is closed takes the mutex after this.
    if (directions_.load(std::memory_order_relaxed) == 0) return EBADF;  // the fd is somebody else's by now
    abandon_waits_of_parent();
    leave_unused();
    error = attach_to(**here, current_group());
  }
  if (error != EPERM) return error;
  take_for_ready();
  return 0;
}

// Under the mutex. EPERM: it was attached, but the system tells nothing of it.
int open_descriptor::attach_to(io_driver& here, const void* group) noexcept {
  if (find(group)) return 0;
  registration* const fresh = first_.at ? new (std::nothrow) registration(*this) : &first_;
  if (!fresh) return ENOMEM;
  const int error = here.attach(*fresh);
  if (error != 0 && error != EPERM) {
    if (fresh != &first_) delete fresh;
    return error;
  }
  fresh->at = &here;
  fresh->group = group;
  fresh->forks = forks_so_far();
  // ORDER: relaxed, pairs with nothing: see is_attached().
  forks_.store(fresh->forks, std::memory_order_relaxed);
  if (fresh != &first_) {
    fresh->next = std::exchange(more_, fresh);
    return error;
  }
  // ORDER: relaxed, pairs with nothing: see is_attached().
  group_.store(group, std::memory_order_relaxed);
  return error;
}

// Under the mutex.
registration* open_descriptor::find(const void* group) noexcept {
  const std::uint32_t forks = forks_so_far();
  if (first_.at && first_.group == group && first_.forks == forks) return &first_;
  for (registration* one = more_; one; one = one->next) {
    if (one->group == group && one->forks == forks) return one;
  }
  return nullptr;
}

// Under the mutex.
void open_descriptor::abandon_waits_of_parent() noexcept {
  const registration* const any = first_.at ? &first_ : more_;
  if (!any || any->forks == forks_so_far()) return;
  in.abandon();
  out.abandon();
  peer.abandon();
  drop_all();
}

// Before a call that ends waits.
void open_descriptor::leave_parent() noexcept {
  // ORDER: relaxed, pairs with nothing: another process has other values.
  if (forks_.load(std::memory_order_relaxed) == forks_so_far()) [[likely]]
    return;
  locked guard(mutex_);
  abandon_waits_of_parent();
}

// Under the mutex, before a group attaches: drops the registrations if nobody waits. See the header.
void open_descriptor::leave_unused() noexcept {
  if (!first_.at && !more_) return;
  // ORDER: relaxed, ordered before the look by the release in direction::in_use(), against is_attached().
  group_.store(nullptr, std::memory_order_relaxed);
  if (!in_use()) return drop_all();
  // ORDER: relaxed, pairs with nothing: see is_attached().
  group_.store(first_.at ? first_.group : nullptr, std::memory_order_relaxed);
}

// Under the mutex. The driver of a parent process is the parent's, and so is what its epoll knows.
void open_descriptor::drop(registration& one) noexcept {
  if (one.forks == forks_so_far()) one.at->detach(one);
  else list<registration>::erase(one);
  one.at = nullptr;
}

// Under the mutex.
void open_descriptor::drop_all() noexcept {
  // ORDER: relaxed, pairs with nothing: see leave_unused().
  group_.store(nullptr, std::memory_order_relaxed);
  if (first_.at) drop(first_);
  while (registration* const one = more_) {
    more_ = one->next;
    drop(*one);
    delete one;
  }
}

// Its calls never block, as those of regular files.
void open_descriptor::take_for_ready() noexcept {
  tell_edge(in);
  tell_edge(out);
}

void open_descriptor::tell_edge(direction& of) noexcept {
  primitive::waiter* const entry = of.edge();
  if (entry && !hand_over(*entry)) of.fail(*entry, ECANCELED);
}

bool open_descriptor::hand_over(primitive::waiter& entry) noexcept {
  locked guard(mutex_);
  registration* const one = find(static_cast<transfer*>(entry.resource)->group);
  if (one) one->at->add_pending(entry);
  return one != nullptr;
}

// --- for drivers

// Waiters of other groups go on at theirs.
void open_descriptor::detach_from(io_driver& gone) noexcept {
  const std::array<direction*, 3> sides{&in, &out, &peer};
  std::array<primitive::waiter*, 3> waiters{};
  {
    locked guard(mutex_);
    drop_of(gone);
    for (std::size_t i = 0; i < sides.size(); ++i) waiters[i] = sides[i]->edge();
  }
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (waiters[i] && !hand_over(*waiters[i])) sides[i]->fail(*waiters[i], ECANCELED);
  }
}

// Under the mutex.
void open_descriptor::drop_of(const io_driver& gone) noexcept {
  if (first_.at == &gone) {
    // ORDER: relaxed, pairs with nothing: its loop ends, and begins no wait.
    group_.store(nullptr, std::memory_order_relaxed);
    drop(first_);
  }
  for (registration** link = &more_; *link;) {
    registration* const one = *link;
    if (one->at != &gone) {
      link = &one->next;
      continue;
    }
    *link = one->next;
    drop(*one);
    delete one;
  }
}

}}}  // namespace hocket::detail
