// The drivers that watch an open descriptor: its registrations.
#include <hocket/base/seam/forks.hpp>
#include <hocket/core/thread/seam/current.hpp>
#include <hocket/io/seam/io_driver.hpp>
#include <hocket/io/seam/open_descriptor.hpp>

#include "io/driver_error.hpp"
#include "io/place.hpp"

#include <array>
#include <cerrno>
#include <new>
#include <utility>

namespace hocket { inline namespace HOCKET_ABI { namespace detail {

using primitive::locked;

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
  const result<io_driver*> watcher = backend_->driver_here();
  if (!watcher) return errno_of(watcher.error());
  int error = 0;
  {
    locked guard(mutex_);
    // ORDER: relaxed, pairs with nothing: the last one that is closed takes the mutex after this.
    if (directions_.load(std::memory_order_relaxed) == 0) return EBADF;  // another descriptor has the fd by now
    abandon_waits_of_parent();
    leave_unused();
    error = attach_to(**watcher, current_group());
  }
  if (error != EPERM) return error;
  take_for_ready();
  return 0;
}

// Under the mutex. EPERM: it was attached, but the system tells nothing of it.
int open_descriptor::attach_to(io_driver& watcher, const void* group) noexcept {
  if (find(group)) return 0;
  registration* const fresh = first_.at ? new (std::nothrow) registration(*this) : &first_;
  if (!fresh) return ENOMEM;
  const int error = watcher.attach(*fresh);
  if (error != 0 && error != EPERM) {
    if (fresh != &first_) delete fresh;
    return error;
  }
  fresh->at = &watcher;
  fresh->group = group;
  fresh->forks = forks_so_far();
  // ORDER: relaxed, pairs with nothing: see is_attached().
  forks_.store(fresh->forks, std::memory_order_relaxed);
  if (fresh != &first_) {
    fresh->next = std::exchange(first_.next, fresh);
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
  for (registration* watch = first_.next; watch; watch = watch->next) {
    if (watch->group == group && watch->forks == forks) return watch;
  }
  return nullptr;
}

// Under the mutex.
void open_descriptor::abandon_waits_of_parent() noexcept {
  const registration* const any = first_.at ? &first_ : first_.next;
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
  if (!first_.at && !first_.next) return;
  // ORDER: relaxed, ordered before the look by the release in direction::in_use(), against is_attached().
  group_.store(nullptr, std::memory_order_relaxed);
  if (!in_use()) return drop_all();
  // ORDER: relaxed, pairs with nothing: see is_attached().
  group_.store(first_.at ? first_.group : nullptr, std::memory_order_relaxed);
}

// Under the mutex. The driver of a parent process is the parent's, and so is what its epoll knows.
void open_descriptor::drop(registration& watch) noexcept {
  if (watch.forks == forks_so_far()) watch.at->detach(watch);
  else list<registration>::erase(watch);
  watch.at = nullptr;
}

// Under the mutex.
void open_descriptor::drop_all() noexcept {
  // ORDER: relaxed, pairs with nothing: see leave_unused().
  group_.store(nullptr, std::memory_order_relaxed);
  if (first_.at) drop(first_);
  while (registration* const watch = first_.next) {
    first_.next = watch->next;
    drop(*watch);
    delete watch;
  }
}

// Its calls never block, as those of regular files.
void open_descriptor::take_for_ready() noexcept {
  notify_edge(in);
  notify_edge(out);
}

void open_descriptor::notify_edge(direction& side) noexcept {
  primitive::waiter* const entry = side.edge();
  if (entry && !hand_over(*entry)) side.fail(*entry, ECANCELED);
}

bool open_descriptor::hand_over(primitive::waiter& entry) noexcept {
  locked guard(mutex_);
  registration* const watch = find(static_cast<transfer*>(entry.resource)->group);
  if (watch) watch->at->add_pending(entry);
  return watch != nullptr;
}

// Waiters of other groups go on at theirs.
void open_descriptor::detach_from(io_driver& ending) noexcept {
  const std::array<direction*, 3> sides{&in, &out, &peer};
  std::array<primitive::waiter*, 3> waiters{};
  {
    locked guard(mutex_);
    drop_of(ending);
    for (std::size_t i = 0; i < sides.size(); ++i) waiters[i] = sides[i]->edge();
  }
  for (std::size_t i = 0; i < sides.size(); ++i) {
    if (waiters[i] && !hand_over(*waiters[i])) sides[i]->fail(*waiters[i], ECANCELED);
  }
}

// Under the mutex.
void open_descriptor::drop_of(const io_driver& ending) noexcept {
  if (first_.at == &ending) {
    // ORDER: relaxed, pairs with nothing: its loop ends, and begins no wait.
    group_.store(nullptr, std::memory_order_relaxed);
    drop(first_);
  }
  for (registration** link = &first_.next; *link;) {
    registration* const watch = *link;
    if (watch->at != &ending) {
      link = &watch->next;
      continue;
    }
    *link = watch->next;
    drop(*watch);
    delete watch;
  }
}

}}}  // namespace hocket::detail
